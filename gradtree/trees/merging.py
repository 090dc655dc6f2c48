"""Splits that do not change what is predicted, taken out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gradtree.trees.tree import LEAF, Tree


def merged_siblings(tree: Tree) -> Tree:
    """The tree without splits whose two sides, leaves both, predict the same class.

    From the bottom up, until none is left. ``predict`` stays the same; the probabilities of a
    merged leaf are those of its node, the mean over the rows.
    """
    best = tree.value.argmax(axis=1)
    leaf = tree.children_left == LEAF
    for node in range(tree.node_count - 1, -1, -1):
        left, right = tree.children_left[node], tree.children_right[node]
        if left != LEAF and leaf[left] and leaf[right] and best[left] == best[right]:
            leaf[node], best[node] = True, best[left]
    return with_leaves(tree, leaf)


def with_leaves(tree: Tree, leaf: NDArray[np.bool_]) -> Tree:
    """The tree that ends at some nodes already."""
    reached = np.zeros(tree.node_count, dtype=bool)
    reached[0] = True
    for node in np.flatnonzero(~leaf):
        if reached[node]:
            reached[[tree.children_left[node], tree.children_right[node]]] = True
    kept = np.flatnonzero(reached)
    if len(kept) == tree.node_count:
        return tree
    place = np.full(tree.node_count, LEAF)
    place[kept] = np.arange(len(kept))
    ends = leaf[kept]
    return replace(
        tree,
        children_left=np.where(ends, LEAF, place[tree.children_left[kept]]),
        children_right=np.where(ends, LEAF, place[tree.children_right[kept]]),
        feature=np.where(ends, LEAF, tree.feature[kept]),
        threshold=np.where(ends, np.nan, tree.threshold[kept]),
        value=tree.value[kept],
        n_node_samples=None if tree.n_node_samples is None else tree.n_node_samples[kept],
        missing_left=None if tree.missing_left is None else tree.missing_left[kept] & ~ends,
        members=None if tree.members is None else tree.members[kept] & ~ends[:, np.newaxis],
    )
