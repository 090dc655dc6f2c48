"""A fitted tree made smaller or corrected by hand, without another training."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import get_scorer
from sklearn.utils.validation import check_is_fitted

from gradtree.columns.coding import Column
from gradtree.columns.frames import printed_names
from gradtree.inputs.arrays import read_weighted_labels
from gradtree.inputs.parameters import finish_config, settled
from gradtree.predicting import TreePredictor
from gradtree.settings.config import FinishConfig
from gradtree.training.finishing import Grown, with_values
from gradtree.trees.simplify import PruningPath, class_sums, rebuilt
from gradtree.trees.tree import LEAF, Tree

MODEL_FORMAT = "gradtree.Model/1"


class EditableTree(TreePredictor):
    """A classifier whose ``tree_`` can be changed after ``fit``. All changes are made in place."""

    class_weight_: NDArray[np.float64] | None
    n_features_in_: int
    # Attributes of a model that no training made.
    _untrained: ClassVar[dict[str, Any]] = {}
    # What can be pruned, what is left of it, and how.
    _grown: Grown
    _kept: Grown
    _finish: FinishConfig

    @property
    def path_(self) -> PruningPath:
        """Prices of leaves at which the fitted tree shrinks; see ``ccp_alpha``."""
        check_is_fitted(self)
        return self._grown.path(self._finish)

    def prune(
        self,
        *,
        max_leaf_nodes: int | None = None,
        ccp_alpha: float | None = None,
        X: Any = None,
        y: ArrayLike | None = None,
        scoring: Any = "f1_macro",
    ) -> Self:
        """Cut the tree that was trained to another size, smaller or larger than it is now.

        Parameters
        ----------
        max_leaf_nodes : int, optional
            Join the cheapest pairs of leaves until there are no more than this.
        ccp_alpha : float, optional
            Another price of a leaf; see ``path_``. None keeps the estimator's own, or, with
            ``max_leaf_nodes`` alone, asks none.
        X, y : optional
            Rows that the tree has not seen. Instead of a price, the size that scores best on them
            is taken, the smallest of equals.
        scoring : str or callable, default="f1_macro"
            The score for that, as in scikit-learn.
        """
        check_is_fitted(self)
        price = ccp_alpha
        if price is None:
            price = self._finish.ccp_alpha if max_leaf_nodes is None else 0.0
        finish = replace(self._finish, ccp_alpha=price, max_leaf_nodes=max_leaf_nodes)
        if X is not None:
            finish = replace(finish, ccp_alpha=self._best_price(X, y, get_scorer(scoring), finish))
        return self._keep(self._grown.cut(finish))

    def collapse(self, node: int) -> Self:
        """Make a node of ``tree_`` a leaf; it predicts what most of its rows' weight says."""
        tree = self._checked(node).tree_
        is_leaf = tree.children_left == LEAF
        if is_leaf[node]:
            raise ValueError(f"node {node} is a leaf already")
        is_leaf[node] = True
        return self._edit(self._kept.some(*rebuilt(tree, is_leaf)))

    def relabel(self, leaf: int, label: Any) -> Self:
        """Let a leaf of ``tree_`` predict another class; its probabilities stay."""
        tree = self._checked(leaf).tree_
        if tree.children_left[leaf] != LEAF:
            raise ValueError(f"node {leaf} is no leaf; see apply, or the rules' leaf")
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
        codes, weight = read_weighted_labels(y, sample_weight, self.classes_, len(leaf))
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
        feature_names: Sequence[Any] | None = None,
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
        model = cls(**params)
        labels = np.arange(tree.n_classes) if classes is None else np.asarray(classes)
        if len(labels) != tree.n_classes:
            raise ValueError(f"{len(labels)} classes for a tree with {tree.n_classes}")
        given = feature_names is not None
        names = printed_names(list(feature_names or range(tree.n_features)))
        if given or tree.columns is not None:
            own = [column.name for column in tree.columns or ()]
            model.feature_names_in_ = np.array(names if given else own, dtype=object)
        model.columns_ = tree.columns or tuple(Column(name) for name in names)
        model.classes_, model.class_weight_, model.n_features_in_ = labels, None, tree.n_features
        model.__dict__.update(cls._untrained)
        model._finish = model._finish_config()
        return model._take(tree)

    def to_json(self) -> str:
        """The tree with the labels of its classes, as JSON; :meth:`from_json` reads it."""
        check_is_fitted(self)
        labels = [label.item() if hasattr(label, "item") else label for label in self.classes_]
        content: dict[str, Any] = {"format": MODEL_FORMAT, "classes": labels}
        content["tree"] = self.tree_.to_dict()
        names = getattr(self, "feature_names_in_", None)
        content["feature_names"] = None if names is None else [str(name) for name in names]
        return json.dumps(content, allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """An estimator that predicts as the one that :meth:`to_json` was called on."""
        content = json.loads(text)
        if not isinstance(content, dict) or content.get("format") != MODEL_FORMAT:
            raise ValueError(
                f"not a model: expected JSON of format {MODEL_FORMAT!r}, as to_json of an "
                "estimator writes it; a tree alone is read by Tree.from_json"
            )
        tree = Tree.from_dict(content["tree"])
        return cls.from_tree(tree, content["classes"], content["feature_names"])

    def _best_price(self, X: Any, y: Any, scorer: Any, finish: FinishConfig) -> float:
        """The price whose tree scores best, the highest of equals."""
        prices = self._grown.path(finish).ccp_alphas
        kept, scores = self._kept, []
        try:
            for price in prices:
                self._keep(self._grown.cut(replace(finish, ccp_alpha=float(price))))
                scores.append(scorer(self, X, y))
        finally:
            self._keep(kept)
        return float(prices[len(prices) - 1 - int(np.argmax(scores[::-1]))])

    def _finish_config(self) -> FinishConfig:
        return finish_config(settled(self.get_params(deep=False)))

    def _checked(self, node: int) -> Self:
        check_is_fitted(self)
        if not 0 <= node < self.tree_.node_count:
            raise ValueError(f"there is no node {node}; nodes go from 0 to the tree's node_count")
        return self

    def _keep(self, grown: Grown) -> Self:
        self._kept, self.tree_ = grown, grown.tree
        return self

    def _take(self, tree: Tree) -> Self:
        """From now on, predict by a tree of any origin."""
        rows = tree.n_node_samples
        weight = tree.value * (np.ones(tree.node_count) if rows is None else rows)[:, np.newaxis]
        return self._edit(Grown(tree, weight))

    def _edit(self, grown: Grown) -> Self:
        """From now on, this is the tree to prune."""
        self._grown = grown
        return self._keep(grown)
