"""From the winner of the search to the canonical tree: final classes and shares of leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.genetic.nodes import LEAF, ROOT, Nodes, list_subtree, workspace
from gradtree.tree import Tree


def harvest(
    nodes: Nodes,
    thresholds: NDArray[np.float32],
    X: NDArray[np.float32],
    y: NDArray[np.intp],
    n_classes: int,
) -> Tree:
    """The canonical tree, whose leaves predict the majority of their training rows.

    Of equally frequent classes a leaf keeps the one the search gave it, and a
    leaf without rows keeps its class, too. That class is put first among equals
    by the smallest possible increment of its share.
    """
    left, right, feature, threshold, leaf_class = _arrays(nodes, thresholds)
    blank = np.full((len(nodes), n_classes), 1 / n_classes)
    bare = Tree(left, right, feature, threshold, blank, X.shape[1])
    counts = np.zeros((len(nodes), n_classes))
    np.add.at(counts, (bare.apply(X), y), 1)
    for node in reversed(np.flatnonzero(left != LEAF)):  # children come after their parents
        counts[node] = counts[left[node]] + counts[right[node]]
    shares = _shares(counts, np.where(left == LEAF, leaf_class, counts.argmax(axis=1)))
    samples = counts.sum(axis=1).astype(np.int64)
    return Tree(left, right, feature, threshold, shares, X.shape[1], samples)


def _arrays(nodes: Nodes, thresholds: NDArray[np.float32]) -> tuple[NDArray[Any], ...]:
    """Children, features, thresholds and classes in depth-first order."""
    work = workspace(len(nodes))
    order = work.free[: list_subtree(nodes, ROOT, work)]
    place = np.empty(len(nodes), dtype=np.int64)
    place[order] = np.arange(len(nodes))
    sorted_nodes = nodes[order]
    leaf = sorted_nodes["left"] == LEAF
    feature = sorted_nodes["feature"]
    cuts = thresholds[np.where(leaf, 0, feature), sorted_nodes["cut"]]
    return (
        np.where(leaf, LEAF, place[sorted_nodes["left"]]),
        np.where(leaf, LEAF, place[sorted_nodes["right"]]),
        np.where(leaf, LEAF, feature),
        np.where(leaf, np.nan, cuts),
        feature,
    )


def _shares(counts: NDArray[np.float64], favoured: NDArray[np.int64]) -> NDArray[np.float64]:
    """Class shares per node, uniform without rows, in which the favoured class wins ties."""
    counts = np.where(counts.sum(axis=1, keepdims=True) > 0, counts, 1.0)
    shares = counts / counts.sum(axis=1, keepdims=True)
    everyone = np.arange(len(shares))
    favoured = np.where(
        shares[everyone, favoured] == shares.max(axis=1), favoured, shares.argmax(axis=1)
    )
    late = shares.argmax(axis=1) != favoured
    tied = everyone[late], favoured[late]
    shares[tied] = np.nextafter(shares[tied], 1)
    return shares
