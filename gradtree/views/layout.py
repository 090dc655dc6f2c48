"""Where the nodes of a drawn tree go: tidy, narrow, parents centred over their children."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gradtree.trees.traversal import node_depths
from gradtree.trees.tree import LEAF, Tree


def visible_nodes(tree: Tree, max_depth: int | None = None) -> NDArray[np.intp]:
    """Nodes down to a depth, parents first."""
    depths = node_depths(tree.children_left, tree.children_right)
    return np.flatnonzero(depths <= (depths.max() if max_depth is None else max_depth))


def tidy_positions(tree: Tree, max_depth: int | None = None) -> dict[int, tuple[float, int]]:
    """Column and depth of every visible node.

    Subtrees are pushed together until somewhere two neighbours on the same
    level are one column apart (the idea of Reingold and Tilford). The leftmost
    node is in column 0.
    """
    depths = node_depths(tree.children_left, tree.children_right)
    nodes = visible_nodes(tree, max_depth)
    shown = set(nodes.tolist())
    # Leftmost and rightmost column on each level below a node, seen from the node.
    outlines: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    reach: dict[int, float] = {}
    for node in nodes[::-1].tolist():
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left == LEAF or left not in shown:
            outlines[node] = np.zeros(1), np.zeros(1)
            continue
        reach[node] = _half_distance(outlines[left], outlines[right])
        outlines[node] = _joined(outlines.pop(left), outlines.pop(right), reach[node])
    positions = {0: (-float(outlines[0][0].min()), 0)}
    for node in nodes.tolist():
        if node in reach:
            column = positions[node][0]
            for child, step in (
                (int(tree.children_left[node]), -reach[node]),
                (int(tree.children_right[node]), reach[node]),
            ):
                positions[child] = (column + step, int(depths[child]))
    return positions


Outline = tuple[NDArray[np.float64], NDArray[np.float64]]


def _half_distance(left: Outline, right: Outline) -> float:
    """Half of what must lie between two siblings so that their subtrees do not meet."""
    shared = min(len(left[0]), len(right[0]))
    overlap = np.max(left[1][:shared] - right[0][:shared])
    return float(overlap + 1.0) / 2.0


def _joined(left: Outline, right: Outline, reach: float) -> Outline:
    low, high = np.full((2, 1 + max(len(left[0]), len(right[0]))), 0.0)
    low[1:], high[1:] = np.inf, -np.inf
    for outline, step in ((left, -reach), (right, reach)):
        below = slice(1, 1 + len(outline[0]))
        low[below] = np.minimum(low[below], outline[0] + step)
        high[below] = np.maximum(high[below], outline[1] + step)
    return low, high
