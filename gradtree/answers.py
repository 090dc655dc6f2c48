"""What estimators answer: what those of classes have in common, and those of numbers."""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_consistent_length

from gradtree.estimator import TreeEstimator, check_tree
from gradtree.inputs.arrays import (
    TrainingRows,
    class_indices,
    read_labels,
    read_training_rows,
    read_weights,
)
from gradtree.inputs.targets import (
    TrainingNumbers,
    check_targets,
    read_numbers,
    read_training_numbers,
)
from gradtree.settings.losses import NumberLoss
from gradtree.training.finishing import Grown, with_values
from gradtree.training.numbers import GrownNumbers, NumberRows
from gradtree.trees.regression_tree import RegressionTree
from gradtree.trees.simplify import class_sums
from gradtree.trees.traversal import leaves_reached
from gradtree.trees.tree import Tree
from gradtree.typing import Array, Floats, Names, Places
from gradtree.units.encoding import Shares, class_shares, number_shares


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
        classes, feature_names : sequences, optional
            Labels, ascending, ``0, 1, …`` without them; names of the columns, else the tree's own.
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


class Regression(RegressorMixin, TreeEstimator):
    """Reads numbers, predicts them, and lets people correct what leaves say."""

    _scoring: ClassVar[str] = "r2"
    _read = read_training_numbers
    # What leaves are fitted by.
    _loss: NumberLoss

    def predict(self, X: Any) -> Floats:
        """The number of each row; of several targets, an array of shape (n_rows, n_targets)."""
        leaves = self.apply(X)
        found = self.tree_.value[leaves]
        return found[:, 0] if found.shape[1] == 1 else found

    def relabel(self, leaf: int, value: ArrayLike) -> Self:
        """Let a leaf of ``tree_`` predict another number, or several for several targets."""
        tree = self._checked(leaf, is_leaf=True).tree_
        numbers = read_numbers(np.reshape(np.asarray(value), (1, -1)), "value")
        check_targets(numbers, tree.value.shape[1], "value")
        told = np.array(tree.value)
        told[leaf] = numbers[0]
        return self._edit(replace(self._kept, tree=replace(tree, value=told)))

    def refit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Let other rows decide what the leaves of ``tree_`` say; its splits stay.

        A leaf that none of these rows reaches says what its parent says.
        """
        leaf = self.apply(X)
        targets = read_numbers(y, "y")
        check_consistent_length(leaf, targets)
        check_targets(targets, self.tree_.value.shape[1], "y")
        weight = read_weights(sample_weight, len(leaf))
        weight = np.ones(len(leaf)) if weight is None else weight
        rows = NumberRows(np.empty((len(leaf), 0)), targets, weight, self._loss)
        return self._edit(rows.with_values(self.tree_, leaf, self._finish.smoothing))

    @classmethod
    def from_tree(cls, tree: Tree, feature_names: Names = None, **params: Any) -> Self:
        """A fitted estimator that predicts by a :class:`RegressionTree` of any origin.

        As :meth:`GradTreeClassifier.from_tree`, without classes.
        """
        check_tree(tree)
        if not isinstance(tree, RegressionTree):
            raise ValueError("this tree predicts classes; use a classifier, not a regressor")
        model = cls(**params)
        model._loss = model._loss_of(np.zeros((1, tree.n_targets)), np.ones(1))
        return model._made_of(tree, feature_names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _loss_of(self, y: Floats, weight: Floats) -> NumberLoss:
        return NumberLoss(shift=np.zeros(y.shape[1]), scale=np.ones(y.shape[1]))

    def _note(self, data: TrainingNumbers) -> None:
        weight = np.ones(len(data.y)) if data.weight is None else data.weight
        self._loss = replace(self._loss_of(data.targets, weight), targets=data.targets[:0])

    def _shares(self, data: TrainingNumbers, rows: Places, weight: Floats) -> Shares:
        return number_shares(data.targets[rows], weight)

    def _take(self, tree: Tree) -> Self:
        assert isinstance(tree, RegressionTree)
        rows, variance = tree.spread()
        whole = np.where(variance[0] > 0, variance[0], 1.0)
        cost = rows / rows[0] * (variance / whole).mean(axis=1)
        return self._edit(GrownNumbers(tree, rows[:, np.newaxis], cost))
