"""What a fitted model with a tree can say about itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gradtree.trees.tree import LEAF, Tree
from gradtree.views.code import export_python, export_sql
from gradtree.views.export import export_graphviz, export_text
from gradtree.views.plot import export_svg, plot_tree
from gradtree.views.rules import Rule, decision_rules


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

    def _shown(self, view: Callable[..., Any], options: dict[str, Any]) -> Any:
        check_is_fitted(self)
        names = None if self.tree_.columns else self._feature_names()
        named = {"feature_names": names, "class_names": self._class_names()} | options
        return view(self.tree_, **named)

    def rules(self, **options: Any) -> list[Rule]:
        """One readable rule per leaf; see :func:`gradtree.views.rules.decision_rules`."""
        return self._shown(decision_rules, options)

    def export_text(self, **options: Any) -> str:
        """The tree as indented text; see :func:`gradtree.export_text`.

        A last line says how classes were weighed, if some leaf therefore predicts another class
        than most of its rows have.
        """
        text = self._shown(export_text, options)
        note = self._decision_note(options.get("class_names", self._class_names()))
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
        return self._shown(export_graphviz, options)

    def export_sql(self, **options: Any) -> str:
        """The tree as an expression of SQL; see :func:`gradtree.export_sql`."""
        check_is_fitted(self)
        return self._shown(export_sql, {"class_names": list(self.classes_)} | options)

    def export_python(self, **options: Any) -> str:
        """The tree as a function of Python; see :func:`gradtree.export_python`."""
        check_is_fitted(self)
        return self._shown(export_python, {"class_names": list(self.classes_)} | options)

    def export_svg(self, **options: Any) -> str:
        """The drawing of :meth:`plot` as SVG."""
        return self._shown(export_svg, options)

    def plot(self, **options: Any) -> Any:
        """Draw the tree with matplotlib; see :func:`gradtree.plot_tree`."""
        return self._shown(plot_tree, options)

    def to_sklearn(self, *, probabilities: bool = False) -> Any:
        """A fitted scikit-learn tree, or a pipeline that ends in one, with the same predictions.

        For the tools made for those; see :func:`gradtree.trees.bridge.to_sklearn`, also for
        ``probabilities``.
        """
        check_is_fitted(self)
        return self.tree_.to_sklearn(
            classes=self.classes_,
            feature_names=self._feature_names(),
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
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of every column in the decrease of Gini impurity; see :class:`gradtree.Tree`."""
        check_is_fitted(self)
        return self.tree_.feature_importances
