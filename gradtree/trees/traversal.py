"""Compiled walks over the flat arrays of a tree.

The kernels are compiled for the few signatures below, once per machine (the
result is cached on disk), take row-major, column-major and strided matrices
as they are, and release the interpreter lock.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float32, float64, int32, types, void
from numpy.typing import NDArray

from gradtree.compiling import kept_njit
from gradtree.trees.tree import LEAF

# Rows of other types (integers, booleans, objects) are converted in pieces of this many.
CHUNK = 65_536

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


def leaves_reached(
    X: NDArray[Any],
    children_left: NDArray[np.int32],
    children_right: NDArray[np.int32],
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
) -> NDArray[np.intp]:
    """Index of the leaf that each row of a two-dimensional array ends in."""
    leaf = np.empty(len(X), dtype=np.intp)
    arrays = (children_left, children_right, feature, threshold)
    if X.dtype in (np.float32, np.float64) and X.dtype.isnative and X.flags.aligned:
        _route(X, *arrays, leaf)
        return leaf
    for start in range(0, len(X), CHUNK):
        piece = slice(start, start + CHUNK)
        _route(X[piece].astype(np.float32), *arrays, leaf[piece])
    return leaf
