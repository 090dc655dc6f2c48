"""From the trained dense tree to the tree that people see and predict with.

A dense tree of depth d has 2^d leaves, most of which no training row reaches.
Pruning works from the bottom up, as in the authors' code: a node with one
empty child is replaced by the other child, a node with two empty children
becomes a leaf with the mean of their leaf logits.

Rows are counted with ``x <= threshold`` to the left on the matrix as given,
whereas training sends only ``x < threshold`` to the left and sees ``float32``.
Both are what the authors' code does; they differ for rows that lie exactly on
a threshold. The pruned tree keeps the splits of training: ``x < t`` becomes
``x <= s`` with the next smaller ``float32`` number ``s``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from gradtree.trees.dense import DenseTree
from gradtree.trees.traversal import CHUNK, fill_upwards
from gradtree.trees.tree import LEAF, Tree


def pruned_tree(dense: DenseTree, X: NDArray[Any], rows: NDArray[np.intp] | None = None) -> Tree:
    """The dense tree without the nodes that no row of ``X`` reaches.

    Parameters
    ----------
    dense : DenseTree
    X : ndarray of shape (n_rows, n_features)
        The training rows.
    rows : ndarray of int, optional
        Positions of the rows of ``X`` that count; all of them without it.

    Returns
    -------
    Tree
        Nodes in depth-first order. ``node_count`` is the size that the paper
        reports; ``n_node_samples`` are the counts that pruning went by.
    """
    feature, threshold = dense.split_features.astype(np.int32), dense.split_thresholds
    counts = count_rows(feature, threshold, X, rows)
    logits = _heap_logits(dense)
    is_leaf = np.arange(len(counts)) >= len(feature)
    replacement = np.arange(len(counts))
    _prune(counts, logits, is_leaf, replacement)
    kept, left, right = _number(is_leaf, replacement)
    inner = left != LEAF
    heap = kept[inner]
    return _assembled(
        left,
        right,
        _scattered(inner, feature[heap], LEAF),
        _scattered(inner, float32_below(threshold[heap]), np.nan),
        logits[kept],
        dense.n_features,
        counts[kept],
    )


def count_rows(
    feature: NDArray[np.int32],
    threshold: NDArray[Any],
    X: NDArray[Any],
    rows: NDArray[np.intp] | None = None,
) -> NDArray[np.int64]:
    """Rows that pass through every node of the heap, with ``x <= threshold`` to the left."""
    counts = np.zeros(2 * len(feature) + 1, dtype=np.int64)
    exact = threshold.astype(np.float64)
    places = np.arange(len(X)) if rows is None else rows
    if X.dtype in (np.float32, np.float64):
        _count(feature, exact, X, places, counts)
        return counts
    for start in range(0, len(places), CHUNK):
        piece = X[places[start : start + CHUNK]].astype(np.float64)
        _count(feature, exact, piece, np.arange(len(piece)), counts)
    return counts


def float32_below(threshold: NDArray[Any]) -> NDArray[np.float64]:
    """The largest finite ``float32`` numbers below some thresholds."""
    with np.errstate(over="ignore"):
        rounded = threshold.astype(np.float32)
        below = np.where(rounded < threshold, rounded, np.nextafter(rounded, np.float32(-np.inf)))
    limit = np.finfo(np.float32).max
    return np.clip(below.astype(np.float64), -limit, limit)


def probabilities(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Class probabilities; a single logit per row is that of the second of two classes."""
    if logits.shape[1] == 1:
        return np.hstack([expit(-logits), expit(logits)])
    return np.asarray(softmax(logits, axis=1))


def _heap_logits(dense: DenseTree) -> NDArray[np.float64]:
    """Leaf logits, one row per place of the heap; zero at inner nodes."""
    leaves = np.asarray(dense.leaves, dtype=np.float64)
    table = leaves.reshape(len(leaves), -1)
    return np.concatenate([np.zeros((len(leaves) - 1, table.shape[1])), table])


def _scattered(where: NDArray[np.bool_], values: NDArray[Any], elsewhere: float) -> NDArray[Any]:
    full = np.full(len(where), elsewhere, dtype=values.dtype)
    full[where] = values
    return full


def _assembled(
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    logits: NDArray[np.float64],
    n_features: int,
    counts: NDArray[np.int64],
) -> Tree:
    value = probabilities(logits)
    fill_upwards(left, right, counts.astype(np.float64), value)
    return Tree(left, right, feature, threshold, value, n_features, counts)


def _count(
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    X: NDArray[Any],
    places: NDArray[np.intp],
    counts: NDArray[np.int64],
) -> None:
    node = np.zeros(len(places), dtype=np.intp)
    for _ in range(len(feature).bit_length()):
        counts += np.bincount(node, minlength=len(counts))
        left = X[places, feature[node]] <= threshold[node]
        node = 2 * node + 2 - left
    counts += np.bincount(node, minlength=len(counts))


def _prune(
    counts: NDArray[np.int64],
    logits: NDArray[np.float64],
    is_leaf: NDArray[np.bool_],
    replacement: NDArray[np.intp],
) -> None:
    """Mark, in place, what stands at every place of the heap after pruning."""
    end = len(counts) // 2
    while end > 0:
        nodes = np.arange(end // 2, end)
        left, right = 2 * nodes + 1, 2 * nodes + 2
        no_left, no_right = counts[left] == 0, counts[right] == 0
        empty = no_left & no_right
        is_leaf[nodes[empty]] = True
        logits[nodes[empty]] = (logits[left[empty]] + logits[right[empty]]) / 2.0
        only_right, only_left = no_left & ~no_right, no_right & ~no_left
        replacement[nodes[only_right]] = replacement[right[only_right]]
        replacement[nodes[only_left]] = replacement[left[only_left]]
        end //= 2


def _number(
    is_leaf: NDArray[np.bool_], replacement: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.int32], NDArray[np.int32]]:
    """Heap indices and children of the nodes that remain, depth first."""
    kept: list[int] = []
    left: list[int] = []
    right: list[int] = []
    waiting = [(int(replacement[0]), LEAF)]
    while waiting:
        node, parent = waiting.pop()
        if parent != LEAF:
            # The left child comes right after its parent, so a later one is the right child.
            (left if left[parent] == LEAF else right)[parent] = len(kept)
        if not is_leaf[node]:
            waiting.append((int(replacement[2 * node + 2]), len(kept)))
            waiting.append((int(replacement[2 * node + 1]), len(kept)))
        kept.append(node)
        left.append(LEAF)
        right.append(LEAF)
    return np.array(kept), np.array(left, dtype=np.int32), np.array(right, dtype=np.int32)
