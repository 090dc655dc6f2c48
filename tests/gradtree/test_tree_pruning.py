"""Pruning against the procedure as the authors' code has it, spelled out node by node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax
from tree_samples import full_tree, grid_rows, random_dense

from gradtree.trees.dense import DenseTree
from gradtree.trees.pruning import float32_below, pruned_tree
from gradtree.trees.tree import LEAF

SHAPES = st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 4))


@dataclass
class Node:
    feature: int = -1
    threshold: float = 0.0
    left: Node | None = None
    right: Node | None = None
    logits: np.ndarray | None = None
    rows: int = 0


def grown(dense: DenseTree, index: int = 0) -> Node:
    n_inner = len(dense.logits)
    if index >= n_inner:
        return Node(logits=np.atleast_1d(dense.leaves[index - n_inner]).astype(float))
    feature = int(np.argmax(dense.logits[index]))
    threshold = float(dense.thresholds[index, feature])
    below = grown(dense, 2 * index + 1), grown(dense, 2 * index + 2)
    return Node(feature, threshold, *below)


def count(node: Node, X: np.ndarray) -> None:
    node.rows = len(X)
    if node.left and node.right:
        left = X[:, node.feature] <= node.threshold
        count(node.left, X[left])
        count(node.right, X[~left])


def pruned_once(node: Node) -> tuple[Node, bool]:
    """One change, the deepest first."""
    if not (node.left and node.right):
        return node, False
    node.left, changed = pruned_once(node.left)
    if changed:
        return node, True
    node.right, changed = pruned_once(node.right)
    if changed:
        return node, True
    if node.left.rows == 0 and node.right.rows == 0:
        return Node(logits=(node.left.logits + node.right.logits) / 2), True
    if node.left.rows == 0:
        return node.right, True
    if node.right.rows == 0:
        return node.left, True
    return node, False


def pruned_by_the_book(dense: DenseTree, X: np.ndarray) -> Node:
    root, changed = grown(dense), True
    while changed:
        count(root, X)
        root, changed = pruned_once(root)
    count(root, X)
    return root


def depth_first(node: Node) -> list[Node]:
    if not (node.left and node.right):
        return [node]
    return [node, *depth_first(node.left), *depth_first(node.right)]


@given(SHAPES, st.sampled_from([2, 3, 5]), st.integers(0, 30))
def test_pruning_as_in_the_authors_code(shape, n_classes, n_rows):
    seed, depth, n_features = shape
    dense = random_dense(seed, depth, n_features, n_classes)
    X = grid_rows(seed, n_rows, n_features)
    expected = depth_first(pruned_by_the_book(dense, X))
    tree = pruned_tree(dense, X)
    assert tree.node_count == len(expected)
    assert tree.n_node_samples.tolist() == [node.rows for node in expected]
    assert tree.feature.tolist() == [node.feature for node in expected]
    for node, value in zip(expected, tree.value, strict=True):
        if node.logits is not None:
            both = np.array([expit(-node.logits), expit(node.logits)]).ravel()
            wanted = both if n_classes == 2 else softmax(node.logits)
            np.testing.assert_allclose(value, wanted, rtol=1e-12)


@given(SHAPES, st.sampled_from([2, 3]))
def test_pruning_keeps_the_predictions_of_training(shape, n_classes):
    seed, depth, n_features = shape
    dense = random_dense(seed, depth, n_features, n_classes)
    # Off the grid: no row lies on a threshold, where counting and training differ.
    X = grid_rows(seed, 50, n_features) + 1 / 16
    small, large = pruned_tree(dense, X), full_tree(dense, X)
    np.testing.assert_array_equal(small.predict_proba(X), large.predict_proba(X))
    assert large.node_count == 2 ** (depth + 1) - 1
    reached = np.bincount(small.apply(X), minlength=small.node_count)
    leaf = small.children_left == LEAF
    np.testing.assert_array_equal(reached[leaf], small.n_node_samples[leaf])


def test_training_sends_rows_on_the_threshold_right_but_counting_left():
    dense = DenseTree(
        thresholds=np.array([[0.5]], dtype=np.float32),
        logits=np.zeros((1, 1), dtype=np.float32),
        leaves=np.array([-2.0, 2.0], dtype=np.float32),
    )
    tree = full_tree(dense, np.array([[0.5]]))
    assert tree.n_node_samples.tolist() == [1, 1, 0]
    assert tree.apply([[0.5], [np.nextafter(np.float32(0.5), np.float32(0))]]).tolist() == [2, 1]
    assert pruned_tree(dense, np.array([[0.5]])).predict_proba([[0.5]])[0, 1] == expit(-2.0)


def test_the_first_of_equal_logits_is_tested():
    dense = random_dense(0, 1, 3, 2)
    dense.logits[:] = [[1.0, 2.0, 2.0]]
    assert full_tree(dense, np.zeros((1, 3))).feature[0] == 1


def test_a_leaf_logit_of_zero_predicts_the_first_class():
    dense = random_dense(0, 1, 1, 2)
    dense.leaves[:] = 0.0
    assert full_tree(dense, np.zeros((1, 1))).predict([[-9.0], [9.0]]).tolist() == [0, 0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_strict_splits_keep_their_meaning_next_to_the_threshold(dtype):
    rng = np.random.default_rng(4)
    t = np.concatenate([rng.normal(size=200), [0.0, -0.0, 1.0, 1e-40, 1e30]]).astype(dtype)
    s = float32_below(t)
    near = t.astype(np.float32)
    for x in (near, np.nextafter(near, np.float32(9)), np.nextafter(near, np.float32(-9))):
        np.testing.assert_array_equal(x <= s, x < t)


def test_thresholds_beyond_all_numbers_stay_finite():
    t = np.array([np.inf, -np.inf, 1e300, -1e300])
    s = float32_below(t)
    assert np.isfinite(s).all()
    np.testing.assert_array_equal(s >= 0.0, t > 0.0)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, object])
def test_rows_of_any_type_are_counted_alike(dtype):
    dense = random_dense(1, 4, 3, 2)
    X = np.random.default_rng(2).integers(-3, 4, size=(60, 3))
    assert pruned_tree(dense, X.astype(dtype)) == pruned_tree(dense, X.astype(float))


def test_inner_nodes_show_the_mean_of_their_rows():
    dense, X = random_dense(3, 4, 3, 3), grid_rows(5, 40, 3)
    tree = pruned_tree(dense, X)
    leaf = tree.children_left == LEAF
    rows = tree.n_node_samples[leaf]
    np.testing.assert_allclose(tree.value[0], rows @ tree.value[leaf] / rows.sum(), rtol=1e-12)
