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

    def rules(self, **options: Any) -> "list[Rule]":
        """One readable rule per leaf; see :func:`gradtree.decision_rules`."""
        tree, named = self._shown(options)
        return gradtree.decision_rules(tree, **named)

    def export_text(self, **options: Any) -> str:
        """The tree as indented text; see :func:`gradtree.export_text`."""
        tree, named = self._shown(options)
        return gradtree.export_text(tree, **named)

    def export_graphviz(self, **options: Any) -> str:
        """The tree in the DOT language; see :func:`gradtree.export_graphviz`."""
        tree, named = self._shown(options)
        return gradtree.export_graphviz(tree, **named)

    def export_sql(self, **options: Any) -> str:
        """The tree as an expression of SQL; see :func:`gradtree.export_sql`."""
        tree, named = self._shown(options, code=True)
        return gradtree.export_sql(tree, **named)

    def export_python(self, **options: Any) -> str:
        """The tree as a function of Python; see :func:`gradtree.export_python`."""
        tree, named = self._shown(options, code=True)
        return gradtree.export_python(tree, **named)

    def export_svg(self, **options: Any) -> str:
        """The drawing of :meth:`plot` as SVG."""
        tree, named = self._shown(options)
        return gradtree.export_svg(tree, **named)

    def plot(self, **options: Any) -> Any:
        """Draw the tree with matplotlib; see :func:`gradtree.plot_tree`."""
        tree, named = self._shown(options)
        return gradtree.plot_tree(tree, **named)
