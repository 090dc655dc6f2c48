"""A fitted tree made smaller or corrected by hand, without another training."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import get_scorer
from sklearn.utils.validation import check_is_fitted

from gradtree.columns.coding import Column
from gradtree.columns.frames import printed_names
from gradtree.predicting import TreePredictor
from gradtree.settings.config import FinishConfig
from gradtree.training.finishing import Grown
from gradtree.trees.simplify import PruningPath, rebuilt
from gradtree.trees.tree import LEAF, Tree

MODEL_FORMAT = "gradtree.Model/1"


class EditableTree(TreePredictor):
    """An estimator whose ``tree_`` can be changed after ``fit``. All changes are made in place."""

    n_features_in_: int
    # What sizes are compared by, unless another score is named.
    _scoring: ClassVar[str]
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
        scoring: Any = None,
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
        scoring : str or callable, optional
            The score for that, as in scikit-learn; "f1_macro" or "r2" without it.
        """
        check_is_fitted(self)
        price = ccp_alpha
        if price is None:
            price = self._finish.ccp_alpha if max_leaf_nodes is None else 0.0
        finish = replace(self._finish, ccp_alpha=price, max_leaf_nodes=max_leaf_nodes)
        if X is not None:
            scorer = get_scorer(self._scoring if scoring is None else scoring)
            finish = replace(finish, ccp_alpha=self._best_price(X, y, scorer, finish))
        return self._keep(self._grown.cut(finish))

    def collapse(self, node: int) -> Self:
        """Make a node of ``tree_`` a leaf; it predicts what its rows say."""
        tree = self._checked(node).tree_
        is_leaf = tree.children_left == LEAF
        if is_leaf[node]:
            raise ValueError(f"node {node} is a leaf already")
        is_leaf[node] = True
        return self._edit(self._kept.some(*rebuilt(tree, is_leaf)))

    def _made_of(self, tree: Tree, feature_names: Sequence[Any] | None) -> Self:
        """Predict by a tree of any origin, as if fitted."""
        given = feature_names is not None
        names = printed_names(list(feature_names or range(tree.n_features)))
        if given or tree.columns is not None:
            own = [column.name for column in tree.columns or ()]
            self.feature_names_in_ = np.array(names if given else own, dtype=object)
        self.columns_ = tree.columns or tuple(Column(name) for name in names)
        self.n_features_in_ = tree.n_features
        self.__dict__.update(self._untrained)
        self._finish = self._finish_config()
        return self._take(tree)

    def to_json(self) -> str:
        """The tree with the labels of its classes, as JSON; :meth:`from_json` reads it."""
        check_is_fitted(self)
        given = getattr(self, "classes_", ())
        labels = [label.item() if hasattr(label, "item") else label for label in given]
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
        labels = {"classes": content["classes"]} if content["classes"] else {}
        return cls.from_tree(tree, feature_names=content["feature_names"], **labels)

    @classmethod
    def from_tree(cls, tree: Tree, **options: Any) -> Self:
        """A fitted estimator that predicts by a tree of any origin."""
        raise NotImplementedError

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
        return FinishConfig(refit_leaves=True, smoothing=0.0, probabilities="shares")

    def _checked(self, node: int, is_leaf: bool = False) -> Self:
        check_is_fitted(self)
        if not 0 <= node < self.tree_.node_count:
            raise ValueError(f"there is no node {node}; nodes go from 0 to the tree's node_count")
        if is_leaf and self.tree_.children_left[node] != LEAF:
            raise ValueError(f"node {node} is no leaf; see apply, or the rules' leaf")
        return self

    def _become(self, learned: Self) -> Self:
        """Take over what a copy has learned: a fit that fails leaves a model as it was."""
        self.__dict__ = learned.__dict__
        return self

    def _note(self, data: Any) -> None:
        """Keep what is to be known of labels or targets."""
        raise NotImplementedError

    def _keep(self, grown: Grown) -> Self:
        self._kept, self.tree_ = grown, grown.tree
        return self

    def _take(self, tree: Tree) -> Self:
        """From now on, predict by a tree of any origin."""
        raise NotImplementedError

    def _edit(self, grown: Grown) -> Self:
        """From now on, this is the tree to prune."""
        self._grown = grown
        return self._keep(grown)
