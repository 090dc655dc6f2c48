"""What a fitted model with a tree can say about itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gradtree.trees.tree import Tree
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
        """The tree as indented text; see :func:`gradtree.export_text`."""
        named = self._named(options)
        return self.tree_.export_text(**named)

    def export_graphviz(self, **options: Any) -> str:
        """The tree in the DOT language; see :func:`gradtree.export_graphviz`."""
        named = self._named(options)
        return self.tree_.export_graphviz(**named)

    def plot(self, **options: Any) -> Any:
        """Draw the tree with matplotlib; see :func:`gradtree.plot_tree`."""
        named = self._named(options)
        return self.tree_.plot(**named)

    def to_sklearn(self) -> Any:
        """A fitted scikit-learn tree, or with categories a pipeline, with the same predictions.

        For the tools made for those; see :func:`gradtree.trees.bridge.to_sklearn`.
        """
        check_is_fitted(self)
        names = self._feature_names()
        return self.tree_.to_sklearn(classes=self.classes_, feature_names=names)

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
