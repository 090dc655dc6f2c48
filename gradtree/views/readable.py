"""What a fitted model with a tree can say about itself."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gradtree.trees.tree import LEAF, Tree
from gradtree.views.code import export_python, export_sql
from gradtree.views.rules import Rule


class ReadableTree:
    """Mixin for estimators with ``tree_`` and, of classes, ``classes_``: rules, text, drawings.

    Names of features and classes are filled in.
    """

    tree_: Tree

    def _class_names(self) -> Sequence[Any] | None:
        labels = getattr(self, "classes_", None)
        return None if labels is None else list(labels)

    def _named(self, options: dict[str, Any]) -> dict[str, Any]:
        check_is_fitted(self)
        names = None if self.tree_.columns else getattr(self, "feature_names_in_", None)
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
        tree, weights = self.tree_, getattr(self, "class_weight_", None)
        if tree.decision is None:
            return ""
        most = tree.value if tree.class_counts is None else tree.class_counts
        chosen = most[np.arange(tree.node_count), tree.labels]
        if (chosen == most.max(axis=1))[tree.children_left == LEAF].all():
            return ""
        if weights is None:
            return "Leaves predict what costs least by the loss, not the class of most rows."
        told = ", ".join(
            f"{name} x{weight:.2g}" for name, weight in zip(class_names, weights, strict=True)
        )
        return f"Leaves predict the class of most weight, not of most rows: {told}."

    def export_graphviz(self, **options: Any) -> str:
        """The tree in the DOT language; see :func:`gradtree.export_graphviz`."""
        named = self._named(options)
        return self.tree_.export_graphviz(**named)

    def export_sql(self, **options: Any) -> str:
        """The tree as an expression of SQL; see :func:`gradtree.export_sql`."""
        named = self._coded(options)
        return export_sql(self.tree_, **named)

    def export_python(self, **options: Any) -> str:
        """The tree as a function of Python; see :func:`gradtree.export_python`."""
        named = self._coded(options)
        return export_python(self.tree_, **named)

    def _coded(self, options: dict[str, Any]) -> dict[str, Any]:
        """Names as in a table: classes by their labels."""
        return self._named({"class_names": ReadableTree._class_names(self)} | options)

    def export_svg(self, **options: Any) -> str:
        """The drawing of :meth:`plot` as SVG."""
        from gradtree.views.plot import export_svg

        named = self._named(options)
        return export_svg(self.tree_, **named)

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
    def feature_importances_(self) -> NDArray[np.float64]:
        """Share of every column in the decrease of Gini impurity; see :class:`gradtree.Tree`."""
        check_is_fitted(self)
        return self.tree_.feature_importances
