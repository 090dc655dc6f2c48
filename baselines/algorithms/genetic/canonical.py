"""From the winner of a search to the canonical tree: final classes and shares of its leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.genetic.nodes import LEAF, Nodes
from gradtree.trees.tree import Tree


def to_tree(
    nodes: Nodes,
    thresholds: NDArray[np.float32],
    X: NDArray[np.float32],
    y: NDArray[np.intp],
    n_classes: int,
) -> Tree:
    """The canonical tree of node records; see :func:`canonical`."""
    leaf = nodes["left"] == LEAF
    cuts = thresholds[np.where(leaf, 0, nodes["feature"]), nodes["cut"]]
    return canonical(nodes["left"], nodes["right"], nodes["feature"], cuts, X, y, n_classes)


def canonical(
    left: NDArray[Any],
    right: NDArray[Any],
    feature: NDArray[Any],
    threshold: NDArray[Any],
    X: NDArray[np.float32],
    y: NDArray[np.intp],
    n_classes: int,
) -> Tree:
    """The canonical tree, whose leaves predict the majority of their training rows.

    Of equally frequent classes a leaf keeps the one the search gave it, and a
    leaf without rows keeps its class, too. That class is put first among equals
    by the smallest possible increment of its share.

    Parameters
    ----------
    left, right : children in any numbering with root 0.
    feature : column of an inner node, class index of a leaf.
    threshold : of inner nodes.
    X, y : the training rows and their class indices.
    """
    order = _depth_first(left, right)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    leaf = left[order] == LEAF
    tree = Tree(
        children_left=np.where(leaf, LEAF, place[left[order]]),
        children_right=np.where(leaf, LEAF, place[right[order]]),
        feature=np.where(leaf, LEAF, feature[order]),
        threshold=np.where(leaf, np.nan, threshold[order]),
        value=np.full((len(order), n_classes), 1 / n_classes),
        n_features=X.shape[1],
    )
    counts = _class_counts(tree, X, y)
    value = _shares(counts, np.where(leaf, feature[order], counts.argmax(axis=1)))
    samples = counts.sum(axis=1).astype(np.int64)
    return Tree(
        tree.children_left,
        tree.children_right,
        tree.feature,
        tree.threshold,
        value,
        tree.n_features,
        samples,
    )


def _depth_first(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.int64]:
    order, pending = [], [0]
    while pending:
        node = pending.pop()
        order.append(node)
        if left[node] != LEAF:
            pending += [right[node], left[node]]
    return np.array(order)


def _class_counts(tree: Tree, X: NDArray[np.float32], y: NDArray[np.intp]) -> NDArray[np.float64]:
    """Training rows of each class in every node, shape (n_nodes, n_classes)."""
    counts = np.zeros(tree.value.shape)
    np.add.at(counts, (tree.apply(X), y), 1)
    for node in reversed(np.flatnonzero(tree.children_left != LEAF)):
        counts[node] = counts[tree.children_left[node]] + counts[tree.children_right[node]]
    return counts


def _shares(counts: NDArray[np.float64], favoured: NDArray[np.int64]) -> NDArray[np.float64]:
    """Class shares per node, uniform without rows, in which the favoured class wins ties."""
    counts = np.where(counts.sum(axis=1, keepdims=True) > 0, counts, 1.0)
    shares = counts / counts.sum(axis=1, keepdims=True)
    everyone, most = np.arange(len(shares)), shares.argmax(axis=1)
    behind = (shares[everyone, favoured] == shares[everyone, most]) & (favoured != most)
    tied = everyone[behind], favoured[behind]
    shares[tied] = np.nextafter(shares[tied], 1)
    return shares
