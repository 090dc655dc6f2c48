"""A trained tree made plainer, and grown where gradients missed what pays.

Thresholds are re-fitted, and splits raised away that do not pay.

Nodes are looked at from the bottom up, with the trees below them as they are. Every row that
reaches a node would have one loss on the left and another on the right, by the class shares of the
leaves there. The best place for the node's threshold follows from these. If it is best to send all
rows to one side, a node gives way to its child, and so does one that saves less than the leaves of
its other side cost. Then the leaves are refitted, and all is done once more.

Gradients find splits that only pay together, and miss some that pay alone, more of them the more
classes there are. So nodes may take other features, found in bins of all columns, and leaves grow.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from gradtree.settings.losses import CustomLoss
from gradtree.trees.costs import leaf_losses
from gradtree.trees.simplify import class_sums, rebuilt
from gradtree.trees.traversal import node_depths
from gradtree.trees.tree import LEAF, Tree
from gradtree.typing import Array, Codes, Floats, Places

MAX_BINS = 256
# So many rows tell where the edges of bins lie.
ENOUGH_ROWS = 10_000
LINKS = ("children_left", "children_right", "feature", "threshold")
PASSES = 3
# A threshold moves, and a split stays, only for this part of the loss of a tree without splits.
WORTH = 1e-9
SMOOTHING = 1.0

LossesAt = Callable[[Places, Places], Floats]


@dataclass(frozen=True, eq=False)
class ClassLosses:
    """What rows of classes lose at leaves: log loss, or a loss of the user's."""

    y: Codes
    weight: Floats
    own: CustomLoss | None = None

    def unit(self, tree: Tree) -> float:
        """The loss of all rows in a tree without splits."""
        total = np.bincount(self.y, self.weight, tree.n_classes)[np.newaxis].astype(np.float64)
        alone = leaf_losses(total, SMOOTHING, self.own)[0]
        return abs(float(total[0][total[0] > 0] @ alone[total[0] > 0]))

    def at(self, tree: Tree, leaf: Places) -> LossesAt:
        """The loss of rows at leaves, in pairs, if the leaves suit the rows that reach them."""
        sums = class_sums(tree, leaf, self.y, self.weight)
        loss = leaf_losses(sums, SMOOTHING, self.own)
        return lambda leaves, rows: self.weight[rows] * loss[leaves, self.y[rows]]


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


def polished(tree: Tree, X: Array, losses: Any, price: float, bins: Bins | None = None) -> Tree:
    """The tree, over a matrix of numbers, after some passes.

    ``losses`` has the methods of ``ClassLosses``, as ``training.numbers.NumberRows`` has too.
    A leaf has a price, in parts of the loss of a tree without splits. Features stay without bins.
    """
    unit = losses.unit(tree)
    for _ in range(PASSES):
        before = tree
        tree = _one_pass(tree, X, losses, price * unit, WORTH * unit, bins)
        if tree == before:
            break
    return tree


def _one_pass(
    tree: Tree, X: Array, losses: Any, price: float, worth: float, bins: Bins | None
) -> Tree:
    leaf = tree.apply(X)
    loss_at = losses.at(tree, leaf)
    feature, threshold = tree.feature.copy(), tree.threshold.copy()
    instead = np.arange(tree.node_count)
    prices = np.full(tree.node_count, price)
    reach = rows_by_node(tree, leaf)
    for node in np.flatnonzero(tree.children_left != LEAF)[::-1].tolist():
        here = reach[node]
        children = [int(tree.children_left[node]), int(tree.children_right[node])]
        left, right = (
            loss_at(_leaf_below(tree, feature, threshold, instead, child, X, here), here)
            for child in children
        )
        now = threshold[node]
        threshold[node], split = _best_threshold(X[here, feature[node]], left, right, now, worth)
        if bins is not None:
            other, edge = bins.best_split(here, left - right)
            place, loss = _best_threshold(X[here, other], left, right, edge, worth)
            if loss < split - worth:
                feature[node], threshold[node], split = other, place, loss
        alone = [left.sum() + prices[children[0]], right.sum() + prices[children[1]]]
        prices[node] = prices[children].sum()
        if min(alone) <= split + prices[node] + worth:
            instead[node] = children[int(np.argmin(alone))]
            prices[node] = prices[instead[node]]
    return rebuilt(replace(tree, feature=feature, threshold=threshold), instead=instead)[0]


def rows_by_node(tree: Tree, leaf: Places) -> list[Places]:
    """The rows that pass each node, by the leaves that they reach."""
    reach: list[Any] = [None] * tree.node_count
    order = np.argsort(leaf, kind="stable")
    starts = np.searchsorted(leaf[order], np.arange(tree.node_count + 1))
    for node in range(tree.node_count - 1, -1, -1):
        if tree.children_left[node] == LEAF:
            reach[node] = order[starts[node] : starts[node + 1]]
        else:
            below = tree.children_left[node], tree.children_right[node]
            reach[node] = np.concatenate([reach[child] for child in below])
    return reach


def _leaf_below(
    tree: Tree, feature: Array, threshold: Array, instead: Places, at: int, X: Array, rows: Places
) -> Places:
    """The leaf that rows reach from a node, with splits and nodes as changed so far."""
    leaf = np.empty(len(rows), dtype=np.intp)
    waiting = [(at, np.arange(len(rows)))]
    while waiting:
        node, places = waiting.pop()
        while instead[node] != node:
            node = int(instead[node])
        if tree.children_left[node] == LEAF:
            leaf[places] = node
            continue
        goes = X[rows[places], feature[node]] <= threshold[node]
        waiting.append((int(tree.children_left[node]), places[goes]))
        waiting.append((int(tree.children_right[node]), places[~goes]))
    return leaf


def _best_threshold(
    values: Array, left: Floats, right: Floats, now: float, worth: float
) -> tuple[float, float]:
    """Where to part the rows, and their loss then; as now, if nothing is better by ``worth``."""
    goes = values <= now
    present = float(left[goes].sum() + right[~goes].sum())
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    ends = np.flatnonzero(ordered[1:] > ordered[:-1])
    if not len(ends):
        return now, present
    losses = right.sum() + np.cumsum((left - right)[order])[ends]
    best = int(losses.argmin())
    if losses[best] > present - worth:
        # Equal: the middle of the gap that the threshold lies in.
        place = int(np.searchsorted(ordered, now, side="right"))
        if 0 < place < len(ordered):
            return _middle(ordered[place - 1], ordered[place]), present
        return now, present
    end = ends[best]
    return _middle(ordered[end], ordered[end + 1]), float(losses[best])


def _middle(low: Any, high: Any) -> float:
    """The ``float32`` number in the middle of two, below the larger."""
    middle = np.float32(np.float64(low) / 2 + np.float64(high) / 2)
    return float(middle) if low <= middle < high else float(low)


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
