"""Trees one above another, as in the paper's first figure, from what is stored of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from experiments.figures import style

LEAF = -1
LEVEL_HEIGHT, NODE_WIDTH = 0.95, 1.45


@dataclass(frozen=True)
class DrawnTree:
    """A stored tree with its title; ``entry`` as :mod:`experiments.report.trees` keeps it."""

    title: str
    entry: Mapping[str, Any]


@dataclass(frozen=True)
class Side:
    """One branch of a split, already in words."""

    brief: str


@dataclass(frozen=True)
class StoredSplit:
    """Both sides of a split; its ``border`` was put into words when it was stored."""

    column: str
    left: Side
    right: Side
    border: None = None


@dataclass(frozen=True)
class StoredUnits:
    """The stored words of every inner node, in the order in which they are asked for."""

    entry: Mapping[str, Any]

    def splits(self, features: Any, thresholds: Any) -> Sequence[Any]:
        words = [self.entry["splits"][str(node)] for node in _inner(self.entry)]
        return [StoredSplit(column, Side(left), Side(right)) for column, left, right in words]


def _inner(entry: Mapping[str, Any]) -> list[int]:
    return [node for node, child in enumerate(entry["tree"]["children_left"]) if child != LEAF]


def trees_one_above_another(drawn: Sequence[DrawnTree], *, max_depth: int = 3) -> Figure:
    """One row per tree, down to ``max_depth`` splits; what lies below is marked by dots."""
    from gradtree.trees.tree import Tree
    from gradtree.views.plot import plot_tree

    with style.look():
        if not drawn:
            return style.empty(style.canvas(style.PAGE_WIDTH, 2), "No tree has been stored yet.")
        trees = [Tree.from_dict(one.entry["tree"]) for one in drawn]
        levels = [min(tree.depth, max_depth) + 1 for tree in trees]
        width = max(min(tree.n_leaves, 2**max_depth) for tree in trees)
        figure = style.canvas(
            NODE_WIDTH * max(width, 3), sum(LEVEL_HEIGHT * level + 0.3 for level in levels)
        )
        rows = figure.subplots(len(drawn), 1, height_ratios=levels, squeeze=False)[:, 0]
        for axes, one, tree in zip(rows, drawn, trees, strict=True):
            plot_tree(
                tree,
                class_names=one.entry["class_names"],
                units=StoredUnits(one.entry),
                max_depth=max_depth,
                ax=axes,
            )
            axes.set_title(one.title)
        return figure
