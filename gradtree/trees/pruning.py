"""From the trained dense tree to the tree that people see and predict with.

A dense tree of depth d has 2^d leaves, most of which no training row reaches. Pruning works from
the bottom up, as in the authors' code: a node with one empty child is replaced by the other child,
a node with two empty children becomes a leaf with the mean of their leaf logits.

Rows are counted with ``x <= threshold`` to the left on the matrix as given, whereas training sends
only ``x < threshold`` to the left and sees ``float32``, both as in the authors' code. The pruned
tree keeps the splits of training: ``x < t`` becomes ``x <= s`` with the next smaller ``float32``.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from gradtree.trees.dense import DenseTree
from gradtree.trees.simplify import averaged_upwards, rebuilt
from gradtree.trees.traversal import CHUNK
from gradtree.trees.tree import LEAF, Tree
from gradtree.typing import Array, Codes, Floats, Places


def pruned_tree(dense: DenseTree, X: Array, rows: Places | None = None) -> tuple[Tree, Places]:
    """The dense tree without the nodes that no row of ``X``, or none of some rows, reaches.

    Nodes are in depth-first order; where they stood in the heap is told too. ``node_count`` is the
    size that the paper reports; ``n_node_samples`` are the counts that pruning went by.
    """
    n_inner, n_leaves = len(dense.logits), len(dense.leaves)
    counts = count_rows(dense.split_features.astype(np.int32), dense.split_thresholds, X, rows)
    leaves = np.asarray(dense.leaves, dtype=np.float64).reshape(n_leaves, -1)
    logits = np.concatenate([np.zeros((n_inner, leaves.shape[1])), leaves])
    place = np.arange(len(counts))
    is_leaf, instead = place >= n_inner, place.copy()
    end = n_inner
    while end > 0:
        nodes = np.arange(end // 2, end)
        left, right = 2 * nodes + 1, 2 * nodes + 2
        empty = (counts[left] == 0) & (counts[right] == 0)
        is_leaf[nodes] = empty
        logits[nodes[empty]] = (logits[left[empty]] + logits[right[empty]]) / 2.0
        one_side = np.where(counts[left] == 0, right, left)
        instead[nodes] = np.where((counts[left] == 0) ^ (counts[right] == 0), one_side, nodes)
        end //= 2
    whole = Tree(
        np.where(place < n_inner, 2 * place + 1, LEAF),
        np.where(place < n_inner, 2 * place + 2, LEAF),
        np.append(dense.split_features, np.full(n_leaves, LEAF)),
        np.append(float32_below(dense.split_thresholds), np.full(n_leaves, np.nan)),
        probabilities(logits),
        dense.n_features,
        counts,
    )
    tree, origin = rebuilt(whole, is_leaf, instead)
    assert tree.n_node_samples is not None
    return averaged_upwards(tree, tree.n_node_samples.astype(np.float64)), origin


def count_rows(
    feature: NDArray[np.int32], threshold: Array, X: Array, rows: Places | None = None
) -> Codes:
    """Rows that pass through every node of the heap, with ``x <= threshold`` to the left."""
    counts = np.zeros(2 * len(feature) + 1, dtype=np.int64)
    exact = threshold.astype(np.float64)
    places = np.arange(len(X)) if rows is None else rows
    for start in range(0, len(places), CHUNK):
        piece = places[start : start + CHUNK]
        node = np.zeros(len(piece), dtype=np.intp)
        for _ in range(len(feature).bit_length()):
            counts += np.bincount(node, minlength=len(counts))
            node = 2 * node + 2 - (X[piece, feature[node]].astype(np.float64) <= exact[node])
        counts += np.bincount(node, minlength=len(counts))
    return counts


def float32_below(threshold: Array) -> Floats:
    """The largest finite ``float32`` numbers below some thresholds."""
    with np.errstate(over="ignore"):
        rounded = threshold.astype(np.float32)
        below = np.where(rounded < threshold, rounded, np.nextafter(rounded, np.float32(-np.inf)))
    limit = np.finfo(np.float32).max
    return np.clip(below.astype(np.float64), -limit, limit)


def probabilities(logits: Floats) -> Floats:
    """Class probabilities; a single logit per row is that of the second of two classes."""
    if logits.shape[1] == 1:
        return np.hstack([expit(-logits), expit(logits)])
    return np.asarray(softmax(logits, axis=1))
