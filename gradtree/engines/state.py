"""What a run of the compiled engine carries: parameters with their moments, and work space.

Everything is a named tuple of arrays, which is what a compiled function can take.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradtree.compiling import Floats, Integers, Numbers
from gradtree.engines.vectors import BLOCK
from gradtree.trees.dense import DenseTree


class Group(NamedTuple):
    """One parameter matrix under Adam, flattened and padded to whole blocks.

    ``table`` is the matrix itself, a view of ``value``; ``slope_table`` one of ``slope``.
    ``active`` lists the first ``n_active[0]`` blocks that an update may change; ``clock`` holds the
    step at which an inactive block was last brought up to date, 0 if it never had a gradient.
    """

    value: Floats
    slope: Floats
    mean: Floats
    square: Floats
    table: Floats
    slope_table: Floats
    active: Integers
    n_active: Integers
    is_active: NDArray[np.bool_]
    clock: Integers


class TreeArrays(NamedTuple):
    """A tree in training and, per node, the split that its parameters amount to."""

    thresholds: Floats  # (N, n_features)
    logits: Floats  # (N, n_features)
    leaves: Floats  # (M, outputs)
    feature: Numbers  # (N,)
    threshold: Floats  # (N,)


class Model(NamedTuple):
    """A tree whose tables are those of three parameter groups.

    A node is ``settled`` if its largest logit leads by so much that entmax gives it all the weight:
    the gradients of its logits are zero. ``checked`` is the last step at which that was looked at.
    ``node_of`` is the node in whose thresholds and logits a block begins.
    """

    tree: TreeArrays
    thresholds: Group
    logits: Group
    leaves: Group
    settled: NDArray[np.bool_]
    checked: Integers
    node_of: Integers  # (blocks,)


class Visits(NamedTuple):
    """The nodes that rows of a batch pass, and what they sum up there."""

    total_pull: Floats  # (N,), sum of the derivatives by a node's score over its rows
    visited: Numbers  # (N,), the nodes
    entry: Numbers  # (N,), flat positions of their thresholds
    is_visited: NDArray[np.bool_]  # (N,)
    sums: Floats  # (N, width), sum of a node's rows, each times its derivative
    weights: Floats  # (8, n_features), of the selector's Jacobian at some of the nodes
    totals: Floats  # (8,), their sums


class Batch(NamedTuple):
    """Work space for one batch: ``B`` rows, ``d`` levels, ``k`` outputs, ``N`` nodes."""

    X: Floats  # (B, width of a packed row)
    y: Integers  # (B,)
    weight: Floats  # (B,)
    output: Floats  # (B, k)
    loss: Floats  # (B,)
    slope: Floats  # (B, k), derivative of the batch loss by the output
    node: Numbers  # (d, B), the path of each row
    score: Floats  # (d, B), threshold minus feature at each node of the path
    steepness: Floats  # (B,), slope of the split function at the nodes of a level
    leaf: Numbers  # (B,), leaf reached
    other: Numbers  # (d, B), leaf reached if that one decision were flipped
    pull: Floats  # (d, B), derivative of the batch loss by the score
    visits: Visits


def new_group(table: Floats, dtype: Any) -> Group:
    """A parameter matrix with moments of zero."""
    matrix = np.asarray(table, dtype=dtype).reshape(len(table), -1)
    n_blocks = -(-matrix.size // BLOCK)
    value, slope, mean, square = np.zeros((4, n_blocks * BLOCK), dtype=dtype)
    value[: matrix.size] = matrix.ravel()
    return Group(
        value,
        slope,
        mean,
        square,
        value[: matrix.size].reshape(matrix.shape),
        slope[: matrix.size].reshape(matrix.shape),
        np.zeros(n_blocks, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(n_blocks, dtype=np.bool_),
        np.zeros(n_blocks, dtype=np.int64),
    )


def new_tree(start: DenseTree, dtype: Any) -> TreeArrays:
    return TreeArrays(
        start.thresholds.astype(dtype),
        start.logits.astype(dtype),
        start.leaves.astype(dtype).reshape(len(start.leaves), -1),
        start.split_features.astype(np.uint32),
        start.split_thresholds.astype(dtype),
    )


def new_model(start: DenseTree, dtype: Any) -> Model:
    parts = (start.thresholds, start.logits, start.leaves)
    thresholds, logits, leaves = (new_group(part, dtype) for part in parts)
    tree = new_tree(start, dtype)._replace(
        thresholds=thresholds.table, logits=logits.table, leaves=leaves.table
    )
    n_nodes, n_features = start.logits.shape
    begins = np.arange(len(logits.clock)) * BLOCK
    return Model(
        tree,
        thresholds,
        logits,
        leaves,
        np.zeros(n_nodes, dtype=np.bool_),
        np.zeros(n_nodes, dtype=np.int64),
        begins // n_features,
    )


def leaf_values(table: Floats) -> Floats:
    """A copy of a table of leaves, without its second dimension if there are two classes."""
    return table[:, 0].copy() if table.shape[1] == 1 else table.copy()


def dense_tree(tree: TreeArrays) -> DenseTree:
    return DenseTree(tree.thresholds.copy(), tree.logits.copy(), leaf_values(tree.leaves))


def new_batch(model: Model, size: int, width: int) -> Batch:
    """Work space for batches of up to ``size`` packed rows of this width."""
    dtype = model.tree.threshold.dtype
    n_nodes, n_features = model.tree.logits.shape
    n_leaves, n_outputs = model.tree.leaves.shape
    depth = n_leaves.bit_length() - 1

    def reals(*shape: int) -> Floats:
        return np.zeros(shape, dtype=dtype)

    def numbers(*shape: int) -> Numbers:
        return np.zeros(shape, dtype=np.uint32)

    return Batch(
        X=reals(size, width),
        y=np.zeros(size, dtype=np.int64),
        weight=reals(size),
        output=reals(size, n_outputs),
        loss=reals(size),
        slope=reals(size, n_outputs),
        node=numbers(depth, size),
        score=reals(depth, size),
        steepness=reals(size),
        leaf=numbers(size),
        other=numbers(depth, size),
        pull=reals(depth, size),
        visits=Visits(
            total_pull=reals(n_nodes),
            visited=numbers(n_nodes),
            entry=numbers(n_nodes),
            is_visited=np.zeros(n_nodes, dtype=np.bool_),
            sums=reals(n_nodes, width),
            weights=reals(8, n_features),
            totals=reals(8),
        ),
    )
