"""A smaller tree from a grown one: leaves refitted, merged and pruned by the rows that reach them.

Cost-complexity pruning is that of Breiman and others (1984) as in scikit-learn: a leaf has a cost
(see ``gradtree.trees.costs``) and a price. Weights of rows, and with them those of classes, count
in costs and values; ``min_samples_leaf`` counts rows.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import xlogy
from scipy.stats import chi2

from gradtree.trees.costs import gini_costs
from gradtree.trees.traversal import fill_upwards
from gradtree.trees.tree import ARRAY_TYPES, LEAF, Tree
from gradtree.typing import Array, Codes, Flags, Floats, Places

SAME_PRICE = 1e-12
# Leaves are alike if chance alone would part their shares as much in one of so many cases.
ALIKE = 0.05


@dataclass(frozen=True, eq=False)
class Labelled:
    """Rows with class indices and weights."""

    X: Array
    y: Codes
    weight: Floats

    @property
    def scaled_weight(self) -> Floats:
        """Weights with a mean of one, so that a row is a row."""
        return self.weight / self.weight.mean()


@dataclass(frozen=True, eq=False)
class PruningPath:
    """The prices at which leaves become too dear, and the impurity of what is left. Both ascend."""

    ccp_alphas: Floats  # (n_steps,); the first is 0, of the tree before pruning
    impurities: Floats


def without_small_leaves(tree: Tree, X: Array, least: int) -> Tree:
    """The tree without leaves of fewer than ``least`` rows, which go to the sibling instead."""
    while tree.node_count > 1:
        rows = np.bincount(tree.apply(X), minlength=tree.node_count)
        small = (tree.children_left == LEAF) & (rows < least)
        if not small.any():
            break
        instead = np.arange(tree.node_count)
        inner = np.flatnonzero(tree.children_left != LEAF)
        left, right = tree.children_left[inner], tree.children_right[inner]
        larger = np.where(rows[left] >= rows[right], left, right)
        one_side = np.where(small[left], np.where(small[right], larger, right), left)
        instead[inner] = np.where(small[left] | small[right], one_side, inner)
        tree = rebuilt(tree, instead=instead)[0]
    return tree


def counted(tree: Tree, rows: Labelled) -> tuple[Tree, Floats]:
    """The tree with its rows counted anew, and the weight of every class at every node."""
    leaf = tree.apply(rows.X)
    weight = class_sums(tree, leaf, rows.y, rows.scaled_weight)
    counts = class_sums(tree, leaf, rows.y).astype(np.int64)
    return replace(tree, n_node_samples=counts.sum(axis=1), class_counts=counts), weight


def class_sums(tree: Tree, leaf: Places, y: Codes, weight: Any = None) -> Floats:
    """Weight of every class at every node, of rows that reach these leaves; all 1 without it."""
    shape = tree.node_count, tree.n_classes
    flat = np.bincount(leaf * tree.n_classes + y, weight, shape[0] * shape[1])
    sums = flat.reshape(shape).astype(np.float64)
    for node in range(tree.node_count - 1, -1, -1):
        if tree.children_left[node] != LEAF:
            children = [tree.children_left[node], tree.children_right[node]]
            sums[node] = sums[children].sum(axis=0)
    return sums


def refitted(tree: Tree, weight: Floats, smoothing: float) -> Tree:
    """The tree whose values are class shares, drawn towards those of the parent.

    ``smoothing`` is the number of rows of the parent's shares that join those of a node.
    """
    value = np.empty_like(weight)
    value[0] = weight[0] / weight[0].sum()
    for node in np.flatnonzero(tree.children_left != LEAF):
        for child in (tree.children_left[node], tree.children_right[node]):
            total = weight[child].sum() + smoothing
            value[child] = value[node]
            if total > 0:
                value[child] = (weight[child] + smoothing * value[node]) / total
    return replace(tree, value=value)


def averaged_upwards(tree: Tree, weight: Floats) -> Tree:
    """The tree whose inner nodes have the mean value of their leaves, by the weight of each."""
    value = tree.value.copy()
    fill_upwards(tree.children_left, tree.children_right, weight, value)
    return replace(tree, value=value)


def merged(tree: Tree, alike: bool = False) -> tuple[Tree, Places]:
    """The tree without splits between leaves of one class, and where its nodes come from.

    With ``alike``, splits stay that part rows of different shares of classes.
    """
    is_leaf = tree.children_left == LEAF
    label = tree.labels
    for node in range(tree.node_count - 1, -1, -1):
        left, right = tree.children_left[node], tree.children_right[node]
        if left != LEAF and is_leaf[left] and is_leaf[right]:
            is_leaf[node] = label[left] == label[right] == label[node] and not (
                alike and chance_of_split(tree, node) < ALIKE
            )
    return rebuilt(tree, is_leaf)


def chance_of_split(tree: Tree, node: int) -> float:
    """The chance that a split without meaning parts the classes as much: likelihood-ratio test."""
    assert tree.class_counts is not None
    table = tree.class_counts[[tree.children_left[node], tree.children_right[node]]]
    table = table[:, table.any(axis=0)].astype(np.float64)
    if table.shape[1] < 2 or not table.sum(axis=1).all():
        return 1.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(chi2.sf(2 * xlogy(table, table / expected).sum(), table.shape[1] - 1))


def pruned(
    tree: Tree, weight: Floats, ccp_alpha: float, max_leaf_nodes: int | None, cost: Any = None
) -> tuple[Tree, Places]:
    """The tree after minimal cost-complexity pruning, and where its nodes come from.

    Links whose price is at most ``ccp_alpha`` are cut (with 0 none), then the cheapest pairs of
    leaves joined until there are no more than ``max_leaf_nodes``. Nodes cost, as leaves, ``cost``,
    or without it the Gini impurity of their classes' weights.
    """
    links = WeakestLinks(tree, gini_costs(weight) if cost is None else cost)
    while ccp_alpha > 0 and not links.is_leaf[0]:
        node, price = links.weakest()
        if price > ccp_alpha:
            break
        links.cut(node)
    while max_leaf_nodes is not None and links.leaves[0] > max_leaf_nodes:
        links.cut(links.weakest(pairs_only=True)[0])
    return rebuilt(tree, links.is_leaf)


def pruning_path(tree: Tree, weight: Floats, cost: Floats | None = None) -> PruningPath:
    """How the tree shrinks to its root as leaves become dearer; see :func:`pruned`."""
    links = WeakestLinks(tree, gini_costs(weight) if cost is None else cost)
    steps = [(0.0, links.branch[0])]
    while not links.is_leaf[0]:
        node, price = links.weakest()
        links.cut(node)
        before, impurity = steps[-1][0], max(links.branch[0], steps[-1][1])
        # Links of one price are cut together; rounding can make the next even cheaper.
        if price <= before + SAME_PRICE:
            steps[-1] = (before, impurity)
        else:
            steps.append((price, impurity))
    alphas, impurities = np.array(steps).T
    return PruningPath(alphas, impurities)


class WeakestLinks:
    """The inner nodes of a tree, with the cost and the leaves of the branch below each."""

    def __init__(self, tree: Tree, cost: Floats) -> None:
        self._left, self._right = tree.children_left.tolist(), tree.children_right.tolist()
        self._parent = [0] * tree.node_count
        self._cost, self.branch, self.leaves = cost.tolist(), cost.tolist(), [1] * len(cost)
        self.is_leaf = tree.children_left == LEAF
        # What the branch of an inner node saves per leaf.
        self._saved = np.full(len(cost), np.inf)
        for node in np.flatnonzero(~self.is_leaf)[::-1].tolist():
            self._parent[self._left[node]] = self._parent[self._right[node]] = node
            self._sum_up(node)

    def _sum_up(self, node: int) -> None:
        left, right = self._left[node], self._right[node]
        self.branch[node] = self.branch[left] + self.branch[right]
        self.leaves[node] = self.leaves[left] + self.leaves[right]
        saved = self._cost[node] - self.branch[node]
        self._saved[node] = saved / (self.leaves[node] - 1)

    def weakest(self, pairs_only: bool = False) -> tuple[int, float]:
        """The node whose branch (with ``pairs_only``, a pair of leaves) saves least per leaf."""
        saved = self._saved
        if pairs_only:
            saved = np.where(np.array(self.leaves) == 2, saved, np.inf)
        node = int(saved.argmin())
        return node, max(float(saved[node]), 0.0)

    def cut(self, node: int) -> list[int]:
        """Make a leaf of a node; it and the inner nodes below it, which are gone."""
        gone, waiting = [], [node]
        while waiting:
            below = waiting.pop()
            if not self.is_leaf[below]:
                gone.append(below)
                waiting += [self._left[below], self._right[below]]
        self.is_leaf[gone], self._saved[gone] = True, np.inf
        self.branch[node], self.leaves[node] = self._cost[node], 1
        while node:
            node = self._parent[node]
            self._sum_up(node)
        return gone


def rebuilt(
    tree: Tree, is_leaf: Flags | None = None, instead: Places | None = None
) -> tuple[Tree, Places]:
    """The tree cut at some nodes, or with nodes that give way to others below them.

    Its nodes are numbered depth first; where they come from is told too.
    """
    ends = tree.children_left == LEAF if is_leaf is None else is_leaf
    left, right = tree.children_left.tolist(), tree.children_right.tolist()
    origin: list[int] = []
    children: list[list[int]] = []
    waiting = [(0, LEAF, 0)]
    while waiting:
        node, parent, side = waiting.pop()
        while instead is not None and instead[node] != node:
            node = int(instead[node])
        place = len(origin)
        if parent != LEAF:
            children[parent][side] = place
        if not ends[node]:
            waiting += [(right[node], place, 1), (left[node], place, 0)]
        origin.append(node)
        children.append([LEAF, LEAF])
    arrays = {name: getattr(tree, name) for name in ARRAY_TYPES}
    parts = {name: array[origin] for name, array in arrays.items() if array is not None}
    parts["children_left"], parts["children_right"] = np.array(children, dtype=np.int32).T
    leaf = parts["children_left"] == LEAF
    parts["feature"] = np.where(leaf, LEAF, parts["feature"])
    parts["threshold"] = np.where(leaf, np.nan, parts["threshold"])
    return replace(tree, **parts), np.array(origin, dtype=np.intp)
