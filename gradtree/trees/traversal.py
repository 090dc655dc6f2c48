"""Walks over the flat arrays of a tree.

The kernel is compiled once per machine (the result is cached on disk), takes row-major,
column-major and strided matrices as they are, and releases the interpreter lock.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradtree.typing import Array, Flags, Floats, Places

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from gradtree.trees.tree import Tree

LEAF = -1

# Rows of other types (integers, booleans, objects) are converted in pieces of this many.
CHUNK = 65_536

# What an empty leaf weighs, so that shares of rows stay defined below empty nodes.
EMPTY_WEIGHT = 1e-9


def _walk(
    X: Array,
    children_left: NDArray[np.int32],
    children_right: NDArray[np.int32],
    feature: NDArray[np.int32],
    threshold: Floats,
    missing_left: Flags,
    members: Flags,
    rounded: bool,
    leaf: Places,
) -> None:
    for row in range(X.shape[0]):
        node = 0
        while children_left[node] != LEAF:
            x = X[row, feature[node]]
            if rounded:
                x = np.float32(x)
            if x <= threshold[node]:
                left = True
            elif x > threshold[node]:
                left = False
            elif x != x:
                left = missing_left[node]
            else:
                left = members[node, np.intp(x)]
            node = children_left[node] if left else children_right[node]
        leaf[row] = node


@cache
def _compiled_walk(dtype: np.dtype) -> Any:
    """The walk for rows of one type, compiled when such rows are first seen."""
    from numba import float64, from_dtype, int32, types, void

    from gradtree.compiling import kept_njit

    rows = types.Array(from_dtype(dtype), 2, "A", readonly=True, aligned=True)
    whole, real, sides = (
        types.Array(kind, 1, "C", readonly=True) for kind in (int32, float64, types.bool_)
    )
    members = types.Array(types.bool_, 2, "C", readonly=True)
    leaf = types.Array(types.intp, 1, "C")
    arrays = (rows, whole, whole, whole, real, sides, members, types.bool_, leaf)
    return kept_njit(void(*arrays), nogil=True)(_walk)


def node_depths(children_left: Array, children_right: Array) -> NDArray[np.int32]:
    """Splits above each node; children come after their parents."""
    depths = np.zeros(len(children_left), dtype=np.int32)
    for node in np.flatnonzero(children_left != LEAF).tolist():
        depths[[children_left[node], children_right[node]]] = depths[node] + 1
    return depths


def fill_upwards(
    children_left: Array, children_right: Array, weight: Floats, value: Floats
) -> None:
    """Give inner nodes the summed weight and the weighted mean value of their leaves, in place.

    Leaves that weigh nothing count alike where all leaves below a node do.
    """
    for node in np.flatnonzero(children_left != LEAF)[::-1].tolist():
        left, right = children_left[node], children_right[node]
        weight[node] = weight[left] + weight[right]
        share = weight[left] / weight[node] if weight[node] > 0.0 else 0.5
        value[node] = share * value[left] + (1.0 - share) * value[right]


def leaves_reached(tree: Tree, X: Array) -> Places:
    """Index of the leaf that each row of a coded matrix ends in."""
    # A plain matrix is compared as scikit-learn's trees do, in single precision.
    rounded, threshold = tree.columns is None, tree.threshold
    plain = X.dtype in (np.float32, np.float64) and X.dtype.isnative and X.flags.aligned
    step = max(len(X), 1) if plain else CHUNK
    members = np.zeros((1, 1), dtype=bool) if tree.members is None else tree.members
    leaf, sides = np.empty(len(X), dtype=np.intp), missing_goes_left(tree)
    with np.errstate(over="ignore"):
        if not rounded and X.dtype.kind == "f":
            threshold = threshold.astype(X.dtype).astype(np.float64)
        for start in range(0, len(X), step):
            piece = slice(start, start + step)
            rows = X[piece] if plain else X[piece].astype(np.float32 if rounded else np.float64)
            walk = _compiled_walk(rows.dtype)
            links = tree.children_left, tree.children_right, tree.feature
            walk(rows, *links, threshold, sides, members, rounded, leaf[piece])
    return leaf


def missing_goes_left(tree: Tree) -> Flags:
    """The side of missing values at every node: the heavier one where nothing else is known."""
    if tree.missing_left is not None:
        return tree.missing_left
    if tree.n_node_samples is None:
        return np.zeros(tree.node_count, dtype=bool)
    rows = tree.n_node_samples
    inner = tree.children_left != LEAF
    return inner & (rows[tree.children_left] >= rows[tree.children_right])


def passed_nodes(tree: Tree, leaf: Places) -> csr_matrix:
    """A sparse indicator of the nodes on the way to the leaf of each row."""
    from scipy.sparse import csr_matrix

    ways: list[list[int]] = [[0]] * tree.node_count
    for node in range(tree.node_count):
        for child in (tree.children_left[node], tree.children_right[node]):
            if child != LEAF:
                ways[child] = [*ways[node], int(child)]
    lengths = np.array([len(way) for way in ways])
    ends = np.concatenate([[0], np.cumsum(lengths[leaf])])
    passed = np.array([node for end in leaf for node in ways[end]], dtype=np.intp)
    return csr_matrix(
        (np.ones(len(passed), dtype=np.int64), passed, ends), shape=(len(leaf), tree.node_count)
    )


def weights_and_values(tree: Tree) -> tuple[Floats, Floats]:
    """Rows and class probabilities per node, also where the tree has none itself."""
    rows = np.ones(tree.node_count) if tree.n_node_samples is None else tree.n_node_samples
    weight = np.maximum(rows, EMPTY_WEIGHT, dtype=np.float64)
    mean = tree.value.copy()
    fill_upwards(tree.children_left, tree.children_right, weight, mean)
    given = np.isclose(tree.value.sum(axis=1, keepdims=True), 1.0)
    return weight, np.where(given, tree.value, mean)
