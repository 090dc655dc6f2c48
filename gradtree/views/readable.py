"""What a fitted model with a tree can say about itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from gradtree.trees.tree import Tree
from gradtree.views.rules import Rule, Units

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier


class ReadableTree:
    """Mixin for estimators with ``tree_`` and ``classes_``: rules, text, drawings.

    Names of features and classes are filled in. ``units`` (see
    :func:`gradtree.original_units`) writes splits in the units of raw columns.
    """

    tree_: Tree
    classes_: Any

    def _units(self) -> Units | None:
        """Units to use where none are given."""
        return None

    def _class_names(self) -> Sequence[Any]:
        return list(self.classes_)

    def _labels(self, units: Units | None) -> dict[str, Any]:
        check_is_fitted(self)
        names: Sequence[str] | None = getattr(self, "feature_names_in_", None)
        chosen = self._units() if units is None else units
        names = None if chosen is not None else names
        return {"feature_names": names, "class_names": self._class_names(), "units": chosen}

    def rules(self, units: Units | None = None, **options: Any) -> list[Rule]:
        """One readable rule per leaf; see :func:`gradtree.views.rules.decision_rules`."""
        labels = self._labels(units)
        return self.tree_.rules(**labels, **options)

    def export_text(self, units: Units | None = None, **options: Any) -> str:
        """The tree as indented text; see :func:`gradtree.export_text`."""
        labels = self._labels(units)
        return self.tree_.export_text(**labels, **options)

    def export_graphviz(self, units: Units | None = None, **options: Any) -> str:
        """The tree in the DOT language; see :func:`gradtree.export_graphviz`."""
        labels = self._labels(units)
        return self.tree_.export_graphviz(**labels, **options)

    def plot(self, units: Units | None = None, **options: Any) -> Any:
        """Draw the tree with matplotlib; see :func:`gradtree.plot_tree`."""
        labels = self._labels(units)
        return self.tree_.plot(**labels, **options)

    def to_sklearn(self) -> DecisionTreeClassifier:
        """A fitted scikit-learn tree with the same predictions, for the tools made for those."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return self.tree_.to_sklearn(classes=self.classes_, feature_names=names)
