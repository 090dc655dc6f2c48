"""Where the nodes of a drawn tree go: tidy, narrow, parents centred over their children."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gradtree.trees.traversal import node_depths
from gradtree.trees.tree import Tree


def tidy_positions(tree: Tree, max_depth: int | None = None) -> dict[int, tuple[float, int]]:
    """Column and depth of every visible node.

    Subtrees are pushed together until somewhere two neighbours on the same
    level are one column apart (the idea of Reingold and Tilford). The leftmost
    node is in column 0.
    """
    depths = node_depths(tree.children_left, tree.children_right)
    nodes = np.flatnonzero(depths <= (depths.max() if max_depth is None else max_depth))
    # Leftmost and rightmost column on each level below a node, seen from the node.
    outlines: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    reach: dict[int, float] = {}
    for node in nodes[::-1].tolist():
        left = outlines.pop(int(tree.children_left[node]), None)
        right = outlines.pop(int(tree.children_right[node]), None)
        if left is None or right is None:
            outlines[node] = np.zeros(1), np.zeros(1)
            continue
        shared = min(len(left[0]), len(right[0]))
        reach[node] = float(np.max(left[1][:shared] - right[0][:shared]) + 1.0) / 2.0
        low, high = np.full((2, 1 + max(len(left[0]), len(right[0]))), 0.0)
        low[1:], high[1:] = np.inf, -np.inf
        for outline, step in ((left, -reach[node]), (right, reach[node])):
            below = slice(1, 1 + len(outline[0]))
            low[below] = np.minimum(low[below], outline[0] + step)
            high[below] = np.maximum(high[below], outline[1] + step)
        outlines[node] = low, high
    positions = {0: (-float(outlines[0][0].min()), 0)}
    for node in sorted(reach):
        for children, step in ((tree.children_left, -1), (tree.children_right, 1)):
            child = int(children[node])
            positions[child] = (positions[node][0] + step * reach[node], int(depths[child]))
    return positions
