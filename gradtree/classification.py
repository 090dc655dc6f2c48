"""What estimators of classes have in common."""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_consistent_length

from gradtree.estimator import TreeEstimator, check_tree
from gradtree.inputs.arrays import (
    TrainingRows,
    class_indices,
    read_labels,
    read_training_rows,
    read_weights,
)
from gradtree.training.finishing import Grown, with_values
from gradtree.trees.regression_tree import RegressionTree
from gradtree.trees.simplify import class_sums
from gradtree.trees.traversal import leaves_reached
from gradtree.trees.tree import Tree
from gradtree.typing import Array, Floats, Names, Places
from gradtree.units.encoding import Shares, class_shares


class Classification(ClassifierMixin, TreeEstimator):
    """Reads labels, predicts them, and lets people correct what leaves say."""

    classes_: Array
    class_weight_: Floats | None
    _scoring: ClassVar[str] = "f1_macro"
    _read = read_training_rows

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities, in the order of ``classes_``; shape (n_rows, n_classes).

        The shares of classes among the training rows of a leaf. Weights of classes, or a loss of
        one's own, have no part in them (unless ``probabilities="weighted"``): they decide
        :meth:`predict` alone, as a tuned threshold does in scikit-learn.
        """
        leaves = self.apply(X)
        return self.tree_.value[leaves]

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the class probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """The class of each row.

        The most probable one, after classes were weighed by ``class_weight``; with a loss of one's
        own, the one that costs the leaf least. The first one on ties.
        """
        leaves = self.apply(X)
        return np.asarray(self.classes_[self.tree_.labels[leaves]])

    def relabel(self, leaf: int, label: Any) -> Self:
        """Let a leaf of ``tree_`` predict another class; its probabilities stay."""
        tree = self._checked(leaf, is_leaf=True).tree_
        known = self.classes_.tolist()
        if label not in known:
            raise ValueError(f"{label!r} is no class of this tree; its classes are {known}")
        decision = np.array(tree.value if tree.decision is None else tree.decision)
        decision[leaf] = np.eye(tree.n_classes)[known.index(label)]
        return self._edit(replace(self._kept, tree=replace(tree, decision=decision)))

    def refit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Let other rows decide what the leaves of ``tree_`` say; its splits stay.

        Classes weigh what they weighed in ``fit``. A leaf that none of these rows reaches says what
        its parent says.
        """
        leaf = self.apply(X)
        labels = read_labels(y, "y")
        check_consistent_length(leaf, labels)
        codes = class_indices(labels, self.classes_, "y")
        weight = read_weights(sample_weight, len(leaf))
        by_class = np.ones(len(self.classes_)) if self.class_weight_ is None else self.class_weight_
        plain = class_sums(self.tree_, leaf, codes, weight)
        counts = class_sums(self.tree_, leaf, codes).astype(np.int64)
        tree = replace(self.tree_, class_counts=counts, n_node_samples=counts.sum(axis=1))
        return self._edit(with_values(tree, plain * by_class, plain, self._finish))

    @classmethod
    def from_tree(
        cls,
        tree: Tree,
        classes: ArrayLike | None = None,
        feature_names: Names = None,
        **params: Any,
    ) -> Self:
        """A fitted estimator that predicts by a tree of any origin.

        Parameters
        ----------
        tree : Tree
            Such as one that was stored, changed by hand or made by ``Tree.from_sklearn``.
        classes : array-like of shape (n_classes,), optional
            Labels, ascending; ``0, 1, …`` without them.
        feature_names : sequence of str, optional
            Names of the columns; those of the tree without them.
        **params
            Parameters of the estimator.
        """
        check_tree(tree)
        if isinstance(tree, RegressionTree):
            raise ValueError("this tree predicts numbers; use a regressor, not a classifier")
        model = cls(**params)
        labels = np.arange(tree.n_classes) if classes is None else np.asarray(classes)
        if len(labels) != tree.n_classes:
            raise ValueError(f"{len(labels)} classes for a tree with {tree.n_classes}")
        model.classes_, model.class_weight_ = labels, None
        return model._made_of(tree, feature_names)

    def _note(self, data: TrainingRows) -> None:
        self.classes_, self.class_weight_ = data.classes, data.class_weight

    def _shares(self, data: TrainingRows, rows: Places, weight: Floats) -> Shares:
        return class_shares(data.y[rows], weight, len(data.classes))

    def _over_table(self, grown: Grown, coded: Array, y: Array) -> Grown:
        grown = super()._over_table(grown, coded, y)
        leaf = leaves_reached(grown.tree, coded)
        counts = class_sums(grown.tree, leaf, y).astype(np.int64)
        return replace(grown, tree=replace(grown.tree, class_counts=counts))

    def _take(self, tree: Tree) -> Self:
        """From now on, predict by a tree of any origin."""
        rows = tree.n_node_samples
        weight = tree.value * (np.ones(tree.node_count) if rows is None else rows)[:, np.newaxis]
        return self._edit(Grown(tree, weight))
