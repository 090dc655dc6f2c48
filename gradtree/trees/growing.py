"""Splits found greedily: below the leaves of a tree, and anew at its nodes.

Gradients find splits that only pay together, and miss some that pay alone, more of them the more
classes there are.
"""

from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from gradtree.trees.simplify import rebuilt
from gradtree.trees.traversal import LEAF, node_depths
from gradtree.trees.tree import Tree
from gradtree.typing import Array, Codes, Floats, Places

MAX_BINS = 256
# So many rows tell where the edges of bins lie.
ENOUGH_ROWS = 10_000
LINKS = ("children_left", "children_right", "feature", "threshold")


class Bins:
    """Columns cut into a few hundred bins, in which splits are looked for."""

    def __init__(self, X: Array) -> None:
        some = X[:: max(len(X) // ENOUGH_ROWS, 1)]
        self._edges = [_edges(column) for column in some.T]
        self._codes = [
            np.searchsorted(edges, column).astype(np.uint8)
            for edges, column in zip(self._edges, X.T, strict=True)
        ]

    def best_split(self, rows: Places, loss: Floats) -> tuple[int, float]:
        """The feature and threshold for which the rows that go left have the least loss in all."""
        best, least = (0, np.inf), np.inf
        for feature, edges in enumerate(self._edges):
            sums = np.bincount(self._codes[feature][rows], loss, len(edges) + 1).cumsum()[:-1]
            if len(edges) and sums.min() < least:
                best, least = (feature, float(edges[sums.argmin()])), sums.min()
        return best


def _edges(column: Array) -> Array:
    """Where bins end: at each value but the largest, or at quantiles of many values."""
    values = np.unique(column)
    if len(values) > MAX_BINS:
        values = np.unique(np.quantile(column, np.linspace(0, 1, MAX_BINS), method="nearest"))
    return values[:-1]


def grown_below(
    tree: Tree, X: Array, y: Codes, weight: Floats, price: float, depth: int, least: int
) -> Tree:
    """The tree whose leaves are split by CART, as far as log loss falls by ``price`` per leaf.

    Nodes lie no deeper than ``depth``, and leaves have ``least`` rows or more.
    """
    leaf, depths = tree.apply(X), node_depths(tree.children_left, tree.children_right)
    links: dict[str, Any] = {name: [getattr(tree, name).copy()] for name in LINKS}
    count = tree.node_count
    for place in np.flatnonzero((tree.children_left == LEAF) & (depths < depth)).tolist():
        rows = np.flatnonzero(leaf == place)
        if not len(rows):
            continue
        cart = DecisionTreeClassifier(
            criterion="entropy",  # in bits
            max_depth=depth - int(depths[place]),
            min_samples_leaf=least,
            ccp_alpha=price / np.log(2) / weight[rows].sum(),
            random_state=0,
        )
        below = Tree.from_sklearn(cart.fit(X[rows], y[rows], weight[rows]))
        # Its root takes the place of the leaf, its other nodes come after all others.
        for name, parts in links.items():
            own = getattr(below, name)
            if name.startswith("children"):
                own = np.where(own == LEAF, LEAF, own + count - 1)
            parts[0][place] = own[0]
            parts.append(own[1:])
        count += below.node_count - 1
    left, right, feature, threshold = (np.concatenate(parts) for parts in links.values())
    value = np.full((count, tree.n_classes), 1 / tree.n_classes)
    return rebuilt(Tree(left, right, feature, threshold, value, tree.n_features))[0]
