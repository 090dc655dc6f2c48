"""Algorithm 1 of the paper and its losses: dense, differentiated by TensorFlow, as written.

Shapes: ``B`` samples, ``n`` features, ``N = 2**d - 1`` nodes, ``M = 2**d`` leaves.
"""

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf


class Parameters(NamedTuple):
    """T, I and L of the paper."""

    thresholds: Any  # (N, n)
    logits: Any  # (N, n)
    leaves: Any  # (M,) or (M, c)


def straight_through(hard: Any, soft: Any) -> Any:
    """The value of ``hard`` with the gradient of ``soft``."""
    return soft + tf.stop_gradient(hard - soft)


@tf.custom_gradient
def entmax15(logits: Any) -> Any:
    """Entmax 1.5 of every row, by sorting (Peters, Niculae & Martins, 2019, algorithm 2)."""
    x = (logits - tf.reduce_max(logits, axis=1, keepdims=True)) / 2
    ordered = tf.sort(x, axis=1, direction="DESCENDING")
    size = tf.cast(tf.range(1, tf.shape(x)[1] + 1), x.dtype)
    mean = tf.cumsum(ordered, axis=1) / size
    variance = tf.cumsum(ordered**2, axis=1) / size - mean**2
    candidates = mean - tf.sqrt(tf.nn.relu(1 / size - variance))
    support = tf.reduce_sum(tf.cast(candidates <= ordered, tf.int32), axis=1, keepdims=True)
    tau = tf.gather(candidates, support - 1, axis=1, batch_dims=1)
    root = tf.nn.relu(x - tau)

    def gradient(upstream: Any) -> Any:
        mean = tf.reduce_sum(root * upstream, axis=1, keepdims=True)
        return root * (upstream - mean / tf.reduce_sum(root, axis=1, keepdims=True))

    return root**2, gradient


def one_hot_largest(scores: Any) -> Any:
    """One-hot rows at the largest entry, the first one on ties."""
    return tf.one_hot(tf.argmax(scores, axis=1), tf.shape(scores)[1], dtype=scores.dtype)


def path_table(depth: int) -> tuple[Any, Any]:
    """For every leaf and level: the node on the way, and 1 if the way goes on to the right."""
    leaf = np.arange(2**depth)[:, None]
    level = np.arange(depth)[None, :]
    node = 2**level - 1 + (leaf >> (depth - level))
    right = (leaf >> (depth - 1 - level)) & 1
    return node, right


def forward(X: Any, parameters: Parameters, choice: Any, soft_split: Any = tf.sigmoid) -> Any:
    """Output logits of a batch.

    ``choice`` (N, n) says which feature each node tests, ``soft_split`` what a decision looks like
    to the gradient, as a function of the score.
    """
    thresholds, _, leaves = parameters
    node, right = path_table(int(np.log2(leaves.shape[0])))
    bit = tf.constant(right, dtype=X.dtype)
    score = tf.reduce_sum(choice * thresholds, axis=1) - tf.matmul(X, choice, transpose_b=True)
    soft = soft_split(score)  # (B, N)
    split = tf.gather(straight_through(tf.round(soft), soft), node, axis=1)  # (B, M, d)
    reached = tf.reduce_prod((1 - bit) * split + bit * (1 - split), axis=2)  # (B, M)
    if leaves.shape.rank == 1:
        return tf.linalg.matvec(reached, leaves)
    return tf.matmul(reached, leaves)
