"""What a fitted model with a tree can say about itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gradtree.trees.tree import LEAF, Tree
from gradtree.views.code import export_python, export_sql
from gradtree.views.rules import Rule


class ReadableTree:
    """Mixin for estimators with ``tree_`` and ``classes_``: rules, text, drawings.

    Names of features and classes are filled in.
    """

    tree_: Tree
    classes_: Any

    def _class_names(self) -> Sequence[Any]:
        return list(self.classes_)

    def _feature_names(self) -> Any:
        """Names of the columns of the tree, where there are any."""
        return getattr(self, "feature_names_in_", None)

    def _named(self, options: dict[str, Any]) -> dict[str, Any]:
        check_is_fitted(self)
        names = None if self.tree_.columns else self._feature_names()
        return {"feature_names": names, "class_names": self._class_names()} | options

    def rules(self, **options: Any) -> list[Rule]:
        """One readable rule per leaf; see :func:`gradtree.views.rules.decision_rules`."""
        named = self._named(options)
        return self.tree_.rules(**named)

    def export_text(self, **options: Any) -> str:
        """The tree as indented text; see :func:`gradtree.export_text`.

        A last line says how classes were weighed, if some leaf therefore predicts another class
        than most of its rows have.
        """
        named = self._named(options)
        text = self.tree_.export_text(**named)
        note = self._decision_note(named["class_names"])
        return f"{text}\n{note}" if note else text

    def _decision_note(self, class_names: Sequence[Any]) -> str:
        tree, weights = self.tree_, self._class_weights()
        most = tree.value if tree.class_counts is None else tree.class_counts
        leaves = tree.children_left == LEAF
        chosen = most[np.arange(tree.node_count), tree.labels]
        if tree.decision is None or (chosen == most.max(axis=1))[leaves].all():
            return ""
        if weights is None:
            return "Leaves predict what costs least by the loss, not the class of most rows."
        told = ", ".join(
            f"{name} x{weight:.2g}" for name, weight in zip(class_names, weights, strict=True)
        )
        return f"Leaves predict the class of most weight, not of most rows: {told}."

    def _class_weights(self) -> Any:
        return getattr(self, "class_weight_", None)

    def export_graphviz(self, **options: Any) -> str:
        """The tree in the DOT language; see :func:`gradtree.export_graphviz`."""
        named = self._named(options)
        return self.tree_.export_graphviz(**named)

    def export_sql(self, **options: Any) -> str:
        """The tree as an expression of SQL; see :func:`gradtree.export_sql`."""
        return export_sql(self.tree_, **self._coded(options))

    def export_python(self, **options: Any) -> str:
        """The tree as a function of Python; see :func:`gradtree.export_python`."""
        return export_python(self.tree_, **self._coded(options))

    def _coded(self, options: dict[str, Any]) -> dict[str, Any]:
        named = self._named(options)
        return named | {"class_names": options.get("class_names", list(self.classes_))}

    def export_svg(self, **options: Any) -> str:
        """The drawing of :meth:`plot` as SVG."""
        from gradtree.views.plot import export_svg

        return export_svg(self.tree_, **self._named(options))

    def plot(self, **options: Any) -> Any:
        """Draw the tree with matplotlib; see :func:`gradtree.plot_tree`."""
        named = self._named(options)
        return self.tree_.plot(**named)

    def to_sklearn(self, *, probabilities: bool = False) -> Any:
        """A fitted scikit-learn tree, or a pipeline that ends in one, with the same predictions.

        For the tools made for those; see :func:`gradtree.trees.bridge.to_sklearn`, also for
        ``probabilities``.
        """
        check_is_fitted(self)
        labels = {"classes": self.classes_, "feature_names": self._feature_names()}
        return self.tree_.to_sklearn(**labels, probabilities=probabilities)

    def get_depth(self) -> int:
        """Splits on the longest way from the root to a leaf."""
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of every column in the decrease of Gini impurity; see :class:`gradtree.Tree`."""
        check_is_fitted(self)
        return self.tree_.feature_importances
