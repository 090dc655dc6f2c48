"""Trees for tests: small ones with known answers and random ones of any shape."""

from __future__ import annotations

import numpy as np

from gradtree.trees.dense import DenseTree
from gradtree.trees.tree import LEAF, Tree


def stump(threshold: float = 0.5, left: float = 0.9, right: float = 0.2) -> Tree:
    """One split on the second of two columns; the given probabilities are those of class 0."""
    return Tree(
        children_left=[1, LEAF, LEAF],
        children_right=[2, LEAF, LEAF],
        feature=[1, LEAF, LEAF],
        threshold=[threshold, np.nan, np.nan],
        value=[[0.5, 0.5], [left, 1 - left], [right, 1 - right]],
        n_features=2,
        n_node_samples=[10, 4, 6],
    )


def random_tree(
    seed: int, n_leaves: int = 20, n_features: int = 5, n_classes: int = 3, counts: bool = True
) -> Tree:
    """Leaves are split one after the other at random places of a grid of float32 numbers."""
    rng = np.random.default_rng(seed)
    left, right, feature, threshold = [LEAF], [LEAF], [LEAF], [np.nan]
    leaves = [0]
    while len(leaves) < n_leaves:
        node = leaves.pop(rng.integers(len(leaves)))
        left[node], right[node] = len(left), len(left) + 1
        feature[node] = int(rng.integers(n_features))
        threshold[node] = float(np.float32(rng.integers(-8, 9) / 4))
        for column, filler in ((left, LEAF), (right, LEAF), (feature, LEAF), (threshold, np.nan)):
            column.extend([filler, filler])
        leaves += [left[node], right[node]]
    value = rng.dirichlet(np.ones(n_classes), size=len(left))
    return Tree(
        left,
        right,
        feature,
        threshold,
        value,
        n_features,
        rng.integers(1, 50, size=len(left)) if counts else None,
    )


def random_dense(
    seed: int, depth: int, n_features: int, n_classes: int, dtype: str = "float32"
) -> DenseTree:
    """Trained parameters in the shape that pruning reads; thresholds lie on a grid (ties)."""
    rng = np.random.default_rng(seed)
    shape = (2**depth - 1, n_features)
    return DenseTree(
        thresholds=(rng.integers(-8, 9, size=shape) / 4).astype(dtype),
        logits=rng.normal(size=shape).astype(dtype),
        leaves=rng.normal(size=2**depth if n_classes == 2 else (2**depth, n_classes)).astype(dtype),
    )
