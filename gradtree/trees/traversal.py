"""Walks over the flat arrays of a tree.

Plain numbers take the compiled way. Its kernels are compiled for the few
signatures below, once per machine (the result is cached on disk), take
row-major, column-major and strided matrices as they are, and release the
interpreter lock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import float32, float64, int32, types, void
from numpy.typing import NDArray

from gradtree.compiling import kept_njit
from gradtree.trees.tree import LEAF, Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# Rows of other types (integers, booleans, objects) are converted in pieces of this many.
CHUNK = 65_536

# What an empty leaf weighs, so that shares of rows stay defined below empty nodes.
EMPTY_WEIGHT = 1e-9

_frozen_ints = types.Array(int32, 1, "C", readonly=True)
_frozen_floats = types.Array(float64, 1, "C", readonly=True)
_leaves = types.Array(types.intp, 1, "C")


def _rows(scalar: Any) -> types.Array:
    return types.Array(scalar, 2, "A", readonly=True, aligned=True)


@kept_njit(
    *(
        void(_rows(scalar), _frozen_ints, _frozen_ints, _frozen_ints, _frozen_floats, _leaves)
        for scalar in (float32, float64)
    ),
    nogil=True,
)
def _route(
    X: NDArray[Any],
    children_left: NDArray[np.int32],
    children_right: NDArray[np.int32],
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    leaf: NDArray[np.intp],
) -> None:
    for row in range(X.shape[0]):
        node = 0
        while children_left[node] != LEAF:
            if np.float32(X[row, feature[node]]) <= threshold[node]:
                node = children_left[node]
            else:
                node = children_right[node]
        leaf[row] = node


@kept_njit(int32[:](_frozen_ints, _frozen_ints), nogil=True)
def node_depths(
    children_left: NDArray[np.int32], children_right: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Number of splits above each node; children must come after their parents."""
    depths = np.zeros(len(children_left), dtype=np.int32)
    for node in range(len(children_left)):
        if children_left[node] != LEAF:
            depths[children_left[node]] = depths[node] + 1
            depths[children_right[node]] = depths[node] + 1
    return depths


@kept_njit(void(_frozen_ints, _frozen_ints, float64[::1], float64[:, ::1]), nogil=True)
def fill_upwards(
    children_left: NDArray[np.int32],
    children_right: NDArray[np.int32],
    weight: NDArray[np.float64],
    value: NDArray[np.float64],
) -> None:
    """Give inner nodes the summed weight and the weighted mean value of their leaves, in place.

    Leaves that weigh nothing count alike where all leaves below a node do.
    """
    for node in range(len(children_left) - 1, -1, -1):
        left, right = children_left[node], children_right[node]
        if left == LEAF:
            continue
        weight[node] = weight[left] + weight[right]
        share = weight[left] / weight[node] if weight[node] > 0.0 else 0.5
        for column in range(value.shape[1]):
            value[node, column] = share * value[left, column] + (1.0 - share) * value[right, column]


def leaves_reached(tree: Tree, X: NDArray[Any]) -> NDArray[np.intp]:
    """Index of the leaf that each row of a coded matrix ends in."""
    leaf = np.empty(len(X), dtype=np.intp)
    if tree.columns is not None:
        return _walked(tree, X, leaf)
    arrays = (tree.children_left, tree.children_right, tree.feature, tree.threshold)
    step = len(X) if X.dtype in (np.float32, np.float64) else CHUNK
    for start in range(0, len(X), max(step, 1)):
        piece = slice(start, start + step)
        rows = X[piece]
        if rows.dtype not in (np.float32, np.float64) or not rows.dtype.isnative:
            rows = rows.astype(np.float32)
        with np.errstate(invalid="ignore", over="ignore"):
            gaps = np.isnan(rows.sum(dtype=np.float64))
        if gaps:
            with np.errstate(over="ignore"):
                _walked(tree, rows.astype(np.float32), leaf[piece])
        else:
            _route(rows if rows.flags.aligned else rows.copy(), *arrays, leaf[piece])
    return leaf


def missing_goes_left(tree: Tree) -> NDArray[np.bool_]:
    """The side of missing values at every node: the heavier one where nothing else is known."""
    if tree.missing_left is not None:
        return tree.missing_left
    if tree.n_node_samples is None:
        return np.zeros(tree.node_count, dtype=bool)
    rows = tree.n_node_samples
    inner = tree.children_left != LEAF
    return inner & (rows[tree.children_left] >= rows[tree.children_right])


def goes_left(tree: Tree, node: int, values: NDArray[Any], missing: bool) -> NDArray[np.bool_]:
    """Which coded values of its column a node sends to the left."""
    gaps = np.isnan(values)
    if np.isnan(tree.threshold[node]):
        assert tree.members is not None
        left = tree.members[node][np.where(gaps, 0, values).astype(np.intp)]
    elif tree.columns is None:
        left = values.astype(np.float64) <= tree.threshold[node]
    else:
        with np.errstate(over="ignore"):
            left = values <= values.dtype.type(tree.threshold[node])
    left[gaps] = missing
    return left


def _walked(tree: Tree, X: NDArray[Any], leaf: NDArray[np.intp]) -> NDArray[np.intp]:
    """All rows down the tree, node by node."""
    missing = missing_goes_left(tree)
    waiting = {0: np.arange(len(X))}
    for node in range(tree.node_count):
        rows = waiting.pop(node)
        if tree.children_left[node] == LEAF:
            leaf[rows] = node
            continue
        left = goes_left(tree, node, X[rows, tree.feature[node]], bool(missing[node]))
        waiting[int(tree.children_left[node])] = rows[left]
        waiting[int(tree.children_right[node])] = rows[~left]
    return leaf


def passed_nodes(tree: Tree, leaf: NDArray[np.intp]) -> csr_matrix:
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


def weights_and_values(tree: Tree) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows and class probabilities per node, also where the tree has none itself."""
    rows = np.ones(tree.node_count) if tree.n_node_samples is None else tree.n_node_samples
    weight = np.maximum(rows, EMPTY_WEIGHT, dtype=np.float64)
    mean = tree.value.copy()
    fill_upwards(tree.children_left, tree.children_right, weight, mean)
    given = np.isclose(tree.value.sum(axis=1, keepdims=True), 1.0)
    return weight, np.where(given, tree.value, mean)
