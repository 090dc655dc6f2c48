"""Where rows go: the compiled walk against a plain one, for every kind of matrix."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_samples import grid_rows, random_tree, stump

from gradtree.columns.coding import Column
from gradtree.trees.tree import LEAF, Tree


def walk(tree: Tree, row: np.ndarray) -> int:
    node = 0
    while tree.children_left[node] != LEAF:
        left = np.float32(row[tree.feature[node]]) <= tree.threshold[node]
        node = int((tree.children_left if left else tree.children_right)[node])
    return node


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_rows_reach_the_leaf_of_a_plain_walk(seed, n_leaves):
    tree, X = random_tree(seed, n_leaves), grid_rows(seed)
    expected = [walk(tree, row) for row in X]
    assert tree.apply(X).tolist() == expected
    np.testing.assert_array_equal(tree.predict_proba(X), tree.value[expected])
    np.testing.assert_array_equal(tree.predict(X), tree.value[expected].argmax(axis=1))


@pytest.mark.parametrize(
    "layout",
    [
        lambda X: X.astype(np.float32),
        lambda X: np.asfortranarray(X),
        lambda X: np.asfortranarray(X, dtype=np.float32),
        lambda X: np.repeat(X, 2, axis=1)[::1, ::2],
        lambda X: X[::-1][::-1],
        lambda X: X.astype(">f8"),
        lambda X: X.astype(np.float16),
        lambda X: X.astype(np.longdouble),
        lambda X: X.tolist(),
        lambda X: np.array(X.tolist(), dtype=object),
    ],
    ids=["f4", "F", "F-f4", "strided", "reversed", "swapped", "f2", "f16", "list", "object"],
)
def test_every_kind_of_matrix_is_read_alike(layout):
    tree, X = random_tree(11, 30), grid_rows(12)
    np.testing.assert_array_equal(tree.apply(layout(X)), tree.apply(X))


def test_thresholds_below_zero_part_whole_numbers_of_tables():
    tree = replace(stump(threshold=-1.5), columns=(Column("a"), Column("b")))
    whole = np.array([[0, -1], [0, -2], [0, 3]])
    assert tree.apply(whole).tolist() == tree.apply(whole.astype(float)).tolist() == [2, 1, 2]


def test_integers_and_read_only_rows():
    tree = random_tree(13, 30)
    whole = np.arange(-10, 10).reshape(4, 5)
    np.testing.assert_array_equal(tree.apply(whole), tree.apply(whole.astype(float)))
    frozen = whole.astype(np.float32)
    frozen.setflags(write=False)
    np.testing.assert_array_equal(tree.apply(frozen), tree.apply(whole))


def test_rows_on_the_threshold_go_left_and_are_compared_as_float32():
    t = np.float32(0.1)
    tree = stump(threshold=float(t))
    above = np.nextafter(t, np.float32(1))
    X64 = np.array([[0, float(t)], [0, float(above)], [0, 0.1], [0, float(t) + 1e-12]])
    # 0.1 and the last number round to the threshold in float32.
    assert tree.apply(X64).tolist() == [1, 2, 1, 1]


def test_infinite_and_missing_values_have_a_place():
    rows = np.array([[0, -np.inf], [0, np.inf], [0, np.nan], [0, 1e300], [0, -1e300]])
    assert stump().apply(rows).tolist() == [1, 2, 2, 2, 1]


def test_equal_probabilities_give_the_first_class():
    assert stump(left=0.5, right=0.5).predict([[0, 0], [0, 1]]).tolist() == [0, 0]


def test_no_rows():
    assert stump().apply(np.empty((0, 2))).shape == (0,)
    assert stump().predict_proba(np.empty((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("X", [[[1.0]], [[1.0, 2.0, 3.0]], [1.0, 2.0], 3.0])
def test_the_wrong_shape_is_named(X):
    with pytest.raises(ValueError, match=r"needs \(n_rows, 2\)"):
        stump().apply(X)


def test_a_million_rows_per_second():
    tree = random_tree(21, n_leaves=200, n_features=10)
    X = np.random.default_rng(0).normal(size=(300_000, 10))
    tree.predict(X[:10])
    seconds = []
    for _ in range(5):
        start = time.thread_time()
        tree.predict(X)
        seconds.append(time.thread_time() - start)
    assert len(X) / min(seconds) >= 1e6
