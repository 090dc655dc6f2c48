"""What all estimators share: columns of any table, a tree over them, and changes to it by hand."""

import json
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gradtree.columns.coding import Column
from gradtree.columns.frames import printed_names
from gradtree.inputs.arrays import (
    TrainingRows,
    categorical_mask,
    coded_rows,
    learned_columns,
    read_rows,
)
from gradtree.settings.config import FinishConfig
from gradtree.training.finishing import Grown
from gradtree.trees.readable import Readable
from gradtree.trees.simplify import PruningPath, rebuilt
from gradtree.trees.traversal import leaves_reached, passed_nodes
from gradtree.trees.tree import LEAF, Tree
from gradtree.typing import Array, Floats, Names, Places
from gradtree.units.encoding import EncodedColumn, encoded_matrix, learn_encoding, table_tree

MODEL_FORMAT = "gradtree.Model/1"


class TreeEstimator(Readable, BaseEstimator):
    """An estimator that walks its rows down ``tree_``, a tree over the columns as they came.

    What it predicts is up to ``Classification`` and ``Regression``, and how its tree is grown to
    ``TreeLearner``, ``Cart`` and ``SmallTree``. Changes after ``fit`` are made in place.
    """

    scale: str | None
    categorical_features: Any
    random_state: Any
    tree_: Tree
    columns_: tuple[Column, ...]
    n_features_in_: int
    # What sizes are compared by, unless another score is named.
    _scoring: ClassVar[str]
    # Attributes of a model that no training made.
    _untrained: ClassVar[dict[str, Any]] = {}
    # What can be pruned, what is left of it, and how.
    _grown: Grown
    _kept: Grown
    _finish: FinishConfig
    # How columns become those of the training matrix; None if they are.
    _encoding: tuple[EncodedColumn, ...] | None

    # What subclasses say: learn from rows; read rows (X, y, weights, classes, their weights); keep
    # what is to be known of labels or targets; what categories of rows are ordered by; predict by
    # a tree of any origin.
    _learn: Callable[..., None]
    _read: Callable[..., Any]
    _note: Callable[[Any], None]
    _shares: Callable[..., Any]
    _take: Callable[[Tree], Any]
    from_tree: Callable[..., Any]

    def apply(self, X: Any) -> Places:
        """Index of the leaf of ``tree_`` that each row reaches."""
        check_is_fitted(self)
        by_column = any(column.kind != "number" or column.from_text for column in self.columns_)
        rows = read_rows(self, X, reset=False, by_column=by_column)
        return leaves_reached(self.tree_, coded_rows(rows, self.columns_))

    def decision_path(self, X: Any) -> Any:
        """Which nodes of ``tree_`` each row passes: a sparse indicator (n_rows, n_nodes)."""
        leaves = self.apply(X)
        return passed_nodes(self.tree_, leaves)

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

    def _class_names(self) -> Names:
        return getattr(self, "classes_", None)

    def _shown(self, options: dict[str, Any], code: bool = False) -> tuple[Any, dict[str, Any]]:
        check_is_fitted(self)
        names = None if self.tree_.columns else getattr(self, "feature_names_in_", None)
        classes = getattr(self, "classes_", None) if code else self._class_names()
        return self.tree_, {"feature_names": names, "class_names": classes} | options

    def export_text(self, **options: Any) -> str:
        """The tree as indented text; see :func:`gradtree.export_text`.

        If some leaf predicts another class than most of its rows have, a last line says why: how
        classes were weighed, for example.
        """
        text = super().export_text(**options)
        note = self._decision_note(options.get("class_names", self._class_names()))
        return f"{text}\n{note}" if note else text

    def _decision_note(self, class_names: Any) -> str:
        tree, weights = self.tree_, getattr(self, "class_weight_", None)
        if tree.decision is None:
            return ""
        most = tree.value if tree.class_counts is None else tree.class_counts
        chosen = most[np.arange(tree.node_count), tree.labels]
        other = (chosen < most.max(axis=1)) & (tree.children_left == LEAF)
        if not other.any():
            return ""
        if self._finish.loss is not None:
            return "Leaves predict what costs least by the loss, not the class of most rows."
        if weights is None:
            return "Some leaves predict another class than most of their rows have."
        by_hand = other & (tree.decision.max(axis=1) == 1.0)
        notes = []
        if (other & ~by_hand).any():
            told = ", ".join(
                f"{name} x{weight:.2g}" for name, weight in zip(class_names, weights, strict=True)
            )
            notes.append(f"Leaves predict the class of most weight, not of most rows: {told}.")
        if by_hand.any():
            notes.append("Some leaves were relabelled by hand.")
        return "\n".join(notes)

    def to_sklearn(self, *, probabilities: bool = False) -> Any:
        """A fitted scikit-learn tree, or a pipeline that ends in one, with the same predictions.

        For the tools made for those; see :func:`gradtree.trees.bridge.to_sklearn`, also for
        ``probabilities``.
        """
        check_is_fitted(self)
        return self.tree_.to_sklearn(
            classes=getattr(self, "classes_", None),
            feature_names=getattr(self, "feature_names_in_", None),
            probabilities=probabilities,
        )

    def get_depth(self) -> int:
        """Splits on the longest way from the root to a leaf."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> Floats:
        """Share of every column in the decrease of Gini impurity; see :class:`gradtree.Tree`."""
        check_is_fitted(self)
        return self.tree_.feature_importances

    def collapse(self, node: int) -> Self:
        """Make a node of ``tree_`` a leaf; it predicts what its rows say."""
        tree = self._checked(node).tree_
        is_leaf = tree.children_left == LEAF
        if is_leaf[node]:
            raise ValueError(f"node {node} is a leaf already")
        is_leaf[node] = True
        return self._edit(self._kept.some(*rebuilt(tree, is_leaf)))

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _fitted(self, *rows: Any) -> Self:
        """Learn in a copy and take that over: a fit that fails leaves a model as it was."""
        learned = copy(self)
        learned._learn(*rows)
        self.__dict__ = learned.__dict__
        return self

    def _seed(self) -> int:
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _learn_columns(self, data: TrainingRows, trained: Places) -> None:
        """Learn what the columns hold and how they become those of the training matrix."""
        names = getattr(self, "feature_names_in_", None)
        mask = categorical_mask(self.categorical_features, data.rows, names)
        self.columns_ = learned_columns(data.rows, trained, mask, names)
        self._learn_encoding(data, coded_rows(data.rows, self.columns_), trained)

    def _learn_encoding(self, data: TrainingRows, coded: Array, trained: Places) -> None:
        numbers = all(column.kind == "number" for column in self.columns_)
        if self.scale is None and numbers and not np.isnan(coded).any():
            self._encoding = None
            return
        weight = np.ones(len(data.y)) if data.weight is None else data.weight
        weight = weight[trained] / weight[trained].mean()
        shares = self._shares(data, trained, weight)
        self._encoding = learn_encoding(coded, trained, shares, self.columns_, self.scale)

    def _matrix(self, coded: Array) -> Array:
        return coded if self._encoding is None else encoded_matrix(coded, self._encoding)

    def _over_table(self, grown: Grown, coded: Array, y: Array) -> Grown:
        """A tree over the training matrix as one over the columns, its rows counted."""
        if self._encoding is None:
            return grown
        return grown.some(*table_tree(grown.tree, self._encoding, self.columns_, coded))

    def _made_of(self, tree: Tree, feature_names: Names) -> Self:
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
        self._take(tree)
        return self

    def _finish_config(self) -> FinishConfig:
        return FinishConfig(refit_leaves=True, smoothing=0.0, probabilities="shares")

    def _checked(self, node: int, is_leaf: bool = False) -> Self:
        check_is_fitted(self)
        if not 0 <= node < self.tree_.node_count:
            raise ValueError(f"there is no node {node}; nodes go from 0 to the tree's node_count")
        if is_leaf and self.tree_.children_left[node] != LEAF:
            raise ValueError(f"node {node} is no leaf; see apply, or the rules' leaf")
        return self

    def _keep(self, grown: Grown) -> Self:
        self._kept, self.tree_ = grown, grown.tree
        return self

    def _edit(self, grown: Grown) -> Self:
        """From now on, this is the tree to prune."""
        self._grown = grown
        return self._keep(grown)


def check_tree(tree: Any) -> None:
    """Refuse what is no :class:`Tree`, such as one of scikit-learn's."""
    if not isinstance(tree, Tree):
        raise TypeError(
            f"a Tree is expected, not a {type(tree).__name__}; Tree.from_sklearn makes one of a "
            "fitted tree of scikit-learn's"
        )
