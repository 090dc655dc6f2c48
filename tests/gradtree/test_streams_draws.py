"""The random draws: those called ``authors`` are TensorFlow's, bit for bit."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from gradtree.compiling import from_python
from gradtree.engines.streams import Order, noise_key, shuffle_epoch, stateless_uniform, stream

SHAPES = [(1, 1, 2), (2, 3, 2), (5, 7, 3), (10, 4, 2), (10, 9, 26), (3, 1, 4), (6, 57, 2)]
"""Depth, features and classes."""

LARGEST = 2**31 - 1


@pytest.fixture(scope="module")
def tf():
    return pytest.importorskip("tensorflow")


def epoch_order(order: Order, n_rows: int, epoch: int) -> np.ndarray:
    rows = np.arange(n_rows)
    from_python(shuffle_epoch)(rows, order, epoch)
    return rows


@pytest.mark.parametrize("seed", [42, 43, 45, 48, 52, 57, 0, LARGEST])
@pytest.mark.parametrize("size", [1, 3, 4, 5, 1023])
def test_uniform_draws_are_tensorflows(tf, seed, size):
    expected = tf.random.stateless_uniform((size,), (seed, 0)).numpy()
    np.testing.assert_array_equal(stateless_uniform(seed, size), expected)


@pytest.mark.parametrize("seed", [42, 43, 45, 48])
@pytest.mark.parametrize(("depth", "n_features", "n_classes"), SHAPES)
def test_initial_matrices_are_those_of_keras(tf, seed, depth, n_features, n_classes):
    glorot = tf.keras.initializers.GlorotUniform(seed=seed)
    leaf_shape = (2**depth,) if n_classes == 2 else (2**depth, n_classes)
    tree = stream("authors").initial(seed, depth, n_features, n_classes)
    expected = glorot((2**depth - 1, n_features)).numpy()
    np.testing.assert_array_equal(tree.logits, expected)
    np.testing.assert_array_equal(tree.thresholds, expected)
    np.testing.assert_array_equal(tree.leaves, glorot(leaf_shape).numpy())
    assert not np.shares_memory(tree.logits, tree.thresholds)


@pytest.mark.parametrize("seed", [42, 45, 0, 7_000, LARGEST - 1, LARGEST, LARGEST + 1, 2 * LARGEST])
@pytest.mark.parametrize("n_rows", [1, 2, 3, 4, 5, 128, 129, 5000])
def test_shuffled_orders_are_tensorflows(tf, seed, n_rows):
    order = stream("authors").order(seed)
    for epoch in (0, 1, 2, 17):
        tf.random.set_seed(seed + epoch)
        expected = tf.random.shuffle(tf.range(n_rows), seed=seed + epoch).numpy()
        np.testing.assert_array_equal(epoch_order(order, n_rows, epoch), expected)


@pytest.mark.parametrize("name", ["numpy", "authors"])
def test_orders_are_permutations_that_change(name):
    order = stream(name).order(42)
    orders = [epoch_order(order, 200, epoch) for epoch in range(5)]
    for rows in orders:
        np.testing.assert_array_equal(np.sort(rows), np.arange(200))
    assert len({rows.tobytes() for rows in orders}) == 5
    other = epoch_order(stream(name).order(43), 200, 0)
    assert (other != orders[0]).any()
    np.testing.assert_array_equal(epoch_order(order, 200, 0), orders[0])


def test_numpy_orders_favour_no_position():
    order = stream("numpy").order(1)
    counts = np.zeros((6, 6))
    for epoch in range(6000):
        counts[np.arange(6), epoch_order(order, 6, epoch)] += 1
    # 25 degrees of freedom: 52.6 is exceeded once in a thousand.
    assert ((counts - 1000) ** 2 / 1000).sum() < 52.6


@pytest.mark.parametrize(("depth", "n_features", "n_classes"), SHAPES)
def test_numpy_initial_matrices(depth, n_features, n_classes):
    tree, again = (stream("numpy").initial(5, depth, n_features, n_classes) for _ in range(2))
    theirs = stream("authors").initial(5, depth, n_features, n_classes)
    for name in ("thresholds", "logits", "leaves"):
        values = getattr(tree, name)
        np.testing.assert_array_equal(values, getattr(again, name))
        assert values.dtype == np.float32
        assert values.shape == getattr(theirs, name).shape
        assert (values != getattr(theirs, name)).any()
    np.testing.assert_array_equal(tree.thresholds, tree.logits)
    limit = np.sqrt(6 / (2**depth - 1 + n_features))
    assert np.abs(tree.logits).max() <= limit
    if tree.logits.size > 500:
        assert np.abs(tree.logits).max() > 0.95 * limit
        assert abs(tree.logits.mean()) < 0.15 * limit


DRAWS = """
import numpy as np
from gradtree.compiling import from_python
from gradtree.engines.streams import noise_key, shuffle_epoch, stream
tree = stream("numpy").initial(42, 3, 4, 3)
rows = np.arange(20)
from_python(shuffle_epoch)(rows, stream("numpy").order(42), 3)
print(tree.logits.tobytes().hex(), tree.leaves.tobytes().hex(), rows.tolist(), noise_key(42))
"""


def test_numpy_draws_are_the_same_in_another_process():
    done = subprocess.run([sys.executable, "-c", DRAWS], capture_output=True, text=True, check=True)
    tree = stream("numpy").initial(42, 3, 4, 3)
    rows = epoch_order(stream("numpy").order(42), 20, 3).tolist()
    logits, leaves = tree.logits.tobytes().hex(), tree.leaves.tobytes().hex()
    assert done.stdout.strip() == f"{logits} {leaves} {rows} {noise_key(42)}"
