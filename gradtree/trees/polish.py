"""A trained tree made plainer: thresholds re-fitted, and splits raised away that do not pay.

Nodes are looked at from the bottom up, with the trees below them as they are. Every row that
reaches a node would have one loss on the left and another on the right, by the class shares of the
leaves there. The best place for the node's threshold follows from these. If it is best to send all
rows to one side, a node gives way to its child, and so does one that saves less than the leaves of
its other side cost. Then the leaves are refitted, and all is done once more. Given bins of all
columns, a node may take another feature too.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from gradtree.settings.losses import CustomLoss
from gradtree.trees.costs import leaf_losses
from gradtree.trees.growing import Bins
from gradtree.trees.simplify import class_sums, rebuilt
from gradtree.trees.tree import LEAF, Tree
from gradtree.typing import Array, Codes, Floats, Places

PASSES = 3
# A threshold moves, and a split stays, only for this part of the loss of a tree without splits.
WORTH = 1e-9
SMOOTHING = 1.0

LossesAt = Callable[[Places, Places], Floats]


class RowLosses(Protocol):
    """What rows lose at the leaves of a tree."""

    def unit(self, tree: Tree) -> float:
        """The loss of all rows in a tree without splits."""
        ...

    def at(self, tree: Tree, leaf: Places) -> LossesAt:
        """The loss of rows at leaves, in pairs, if the leaves suit the rows that reach them."""
        ...


@dataclass(frozen=True, eq=False)
class ClassLosses:
    """Log loss of rows of classes, or a loss of the user's."""

    y: Codes
    weight: Floats
    own: CustomLoss | None = None

    def unit(self, tree: Tree) -> float:
        total = np.bincount(self.y, self.weight, tree.n_classes)[np.newaxis].astype(np.float64)
        alone = leaf_losses(total, SMOOTHING, self.own)[0]
        return abs(float(total[0][total[0] > 0] @ alone[total[0] > 0]))

    def at(self, tree: Tree, leaf: Places) -> LossesAt:
        sums = class_sums(tree, leaf, self.y, self.weight)
        loss = leaf_losses(sums, SMOOTHING, self.own)
        return lambda leaves, rows: self.weight[rows] * loss[leaves, self.y[rows]]


def polished(
    tree: Tree, X: Array, losses: RowLosses, price: float, bins: Bins | None = None
) -> Tree:
    """The tree, over a matrix of numbers, after some passes.

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
    tree: Tree, X: Array, losses: RowLosses, price: float, worth: float, bins: Bins | None
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
