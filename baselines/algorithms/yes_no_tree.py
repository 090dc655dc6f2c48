"""Trees over yes/no columns, and the same decisions as thresholds on numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.binarise import Binariser
from gradtree.trees.traversal import fill_upwards
from gradtree.trees.tree import LEAF, Tree


@dataclass(frozen=True, eq=False)
class Leaf:
    """Predicts ``label``; ``shares`` are the class shares among its training rows."""

    label: int
    shares: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class Branch:
    """Rows with a yes in ``column`` go on to ``yes``, the others to ``no``."""

    column: int
    yes: Node
    no: Node


Node = Leaf | Branch
Box = dict[int, tuple[float, float]]
"""The interval of each feature that a path has left over."""


def size(node: Node) -> int:
    """Inner nodes plus leaves."""
    return 1 if isinstance(node, Leaf) else 1 + size(node.yes) + size(node.no)


def relabelled(node: Node, names: NDArray[np.intp]) -> Node:
    """The same tree with the class numbers that its labels stand for."""
    if isinstance(node, Branch):
        return Branch(node.column, relabelled(node.yes, names), relabelled(node.no, names))
    return Leaf(int(names[node.label]))


def with_shares(
    node: Node, columns: NDArray[np.bool_], labels: NDArray[np.intp], n_classes: int
) -> Node:
    """The same tree with the class shares of the given training rows in its leaves.

    The largest share is always that of the class that the leaf predicts: where
    classes tie, it gets the next larger number, and where it is not among the
    most frequent classes, or there are no rows, it gets all.
    """
    if isinstance(node, Branch):
        yes = columns[:, node.column]
        return Branch(
            node.column,
            with_shares(node.yes, columns[yes], labels[yes], n_classes),
            with_shares(node.no, columns[~yes], labels[~yes], n_classes),
        )
    shares = np.bincount(labels, minlength=n_classes) / max(len(labels), 1)
    if len(labels) == 0 or shares[node.label] < shares.max():
        shares = np.eye(n_classes)[node.label]
    elif shares.argmax() != node.label:
        shares[node.label] = np.nextafter(shares.max(), 1.0)
    return Leaf(node.label, shares)


def on_features(node: Node, binariser: Binariser, X: NDArray[np.float64]) -> Tree:
    """The canonical tree of thresholds that decides as ``node`` does, with the rows of X counted.

    The leaves of ``node`` have shares. An interval that is open to one side takes one threshold.
    One that is closed takes two, with the subtree of the rows outside once below and once above
    it; thresholds that the path already decides are left out.
    """
    # Both children, feature, threshold and shares of each node.
    grown: list[list[Any]] = []

    def split(feature: int, cut: float, box: Box, below: Node, above: Node) -> int:
        """A threshold node; ``above`` may be the node being grown, in a smaller box."""
        low, high = box.get(feature, (-np.inf, np.inf))
        index = len(grown)
        grown.append([LEAF, LEAF, feature, cut, None])
        grown[index][0] = grow(below, {**box, feature: (low, cut)})
        grown[index][1] = grow(above, {**box, feature: (cut, high)})
        return index

    def grow(node: Node, box: Box) -> int:
        """Append the subtree, depth first, and return the index of its root."""
        if isinstance(node, Leaf):
            grown.append([LEAF, LEAF, LEAF, np.nan, node.shares])
            return len(grown) - 1
        feature = int(binariser.feature[node.column])
        low, high = binariser.low[node.column], binariser.high[node.column]
        below, above = box.get(feature, (-np.inf, np.inf))
        if high <= below or low >= above or low >= high:
            return grow(node.no, box)
        if low > below:
            return split(feature, low, box, below=node.no, above=node)
        if high < above:
            return split(feature, high, box, below=node.yes, above=node.no)
        return grow(node.yes, box)

    grow(node, {})
    left, right, tested, threshold, shares = zip(*grown, strict=True)
    none = np.zeros_like(next(each for each in shares if each is not None))
    value = np.array([none if each is None else each for each in shares])
    arrays = np.array(left), np.array(right), np.array(tested), np.array(threshold)
    bare = Tree(*arrays, value, X.shape[1])
    rows = np.bincount(bare.apply(X), minlength=bare.node_count).astype(np.float64)
    fill_upwards(bare.children_left, bare.children_right, rows, value)
    return replace(bare, value=value, n_node_samples=rows.astype(np.int64))
