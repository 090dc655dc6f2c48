"""What trees, and estimators with a tree, can say about themselves."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import gradtree

if TYPE_CHECKING:
    from gradtree import Rule


class Readable:
    """Mixin of trees and estimators: rules, text, drawings and code."""

    # The tree, and options with names of features and classes filled in; for code, with labels.
    _shown: Callable[..., tuple[Any, dict[str, Any]]]

    def _view(self, view: Callable[..., Any], options: dict[str, Any], code: bool = False) -> Any:
        tree, named = self._shown(options, code)
        return view(tree, **named)

    def rules(self, **options: Any) -> "list[Rule]":
        """One readable rule per leaf; see :func:`gradtree.decision_rules`."""
        return self._view(gradtree.decision_rules, options)

    def export_text(self, **options: Any) -> str:
        """The tree as indented text; see :func:`gradtree.export_text`."""
        return self._view(gradtree.export_text, options)

    def export_graphviz(self, **options: Any) -> str:
        """The tree in the DOT language; see :func:`gradtree.export_graphviz`."""
        return self._view(gradtree.export_graphviz, options)

    def export_sql(self, **options: Any) -> str:
        """The tree as an expression of SQL; see :func:`gradtree.export_sql`."""
        return self._view(gradtree.export_sql, options, code=True)

    def export_python(self, **options: Any) -> str:
        """The tree as a function of Python; see :func:`gradtree.export_python`."""
        return self._view(gradtree.export_python, options, code=True)

    def export_svg(self, **options: Any) -> str:
        """The drawing of :meth:`plot` as SVG."""
        return self._view(gradtree.export_svg, options)

    def plot(self, **options: Any) -> Any:
        """Draw the tree with matplotlib; see :func:`gradtree.plot_tree`."""
        return self._view(gradtree.plot_tree, options)
