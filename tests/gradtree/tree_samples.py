"""Trees for tests: small ones with known answers and random ones of any shape."""

import numpy as np

from gradtree.trees.dense import DenseTree
from gradtree.trees.pruning import count_rows, float32_below, probabilities
from gradtree.trees.traversal import fill_upwards
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


def single_leaf() -> Tree:
    return Tree([LEAF], [LEAF], [LEAF], [np.nan], [[0.25, 0.75]], 2, [1])


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


def grid_rows(seed: int, n_rows: int = 200, n_features: int = 5) -> np.ndarray:
    """Numbers on the grid of the random trees' thresholds, so that many rows hit one exactly."""
    return np.random.default_rng(seed).integers(-9, 10, size=(n_rows, n_features)) / 4


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


def full_tree(dense: DenseTree, X: np.ndarray) -> Tree:
    """The dense tree as it is, all 2^(d+1) - 1 nodes of it, in heap order."""
    n_inner = len(dense.leaves) - 1
    counts = count_rows(dense.split_features.astype(np.int32), dense.split_thresholds, X)
    index = np.arange(2 * n_inner + 1)
    inner = index < n_inner
    logits = np.asarray(dense.leaves, dtype=np.float64).reshape(n_inner + 1, -1)
    value = np.zeros((len(index), dense.n_classes))
    value[n_inner:] = probabilities(logits)
    left, right = (np.where(inner, 2 * index + side, LEAF).astype(np.int32) for side in (1, 2))
    fill_upwards(left, right, counts.astype(np.float64), value)
    feature, threshold = np.full(len(index), LEAF), np.full(len(index), np.nan)
    feature[:n_inner] = dense.split_features
    threshold[:n_inner] = float32_below(dense.split_thresholds)
    return Tree(left, right, feature, threshold, value, dense.n_features, counts)
