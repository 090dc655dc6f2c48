"""The random draws: ``authors`` are TensorFlow's, Gumbel noise that of the whole table."""

import math

import numpy as np
import pytest

from gradtree.compiling import from_python
from gradtree.engines.selection import choose_noisily, forget, new_extras, note_arrivals
from gradtree.engines.state import new_tree
from gradtree.engines.streams import (
    GROUP,
    GROUPS,
    STREAMS,
    exact_noise,
    fill_gumbel,
    shuffle_epoch,
    stateless_uniform,
)
from gradtree.settings.selectors import Selector
from gradtree.trees.dense import DenseTree

SHAPES = [(1, 1, 2), (2, 3, 2), (5, 7, 3), (10, 4, 2), (10, 9, 26), (3, 1, 4), (6, 57, 2)]
"""Depth, features and classes."""

LARGEST = 2**31 - 1


@pytest.fixture(scope="module")
def tf():
    return pytest.importorskip("tensorflow")


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
    tree = STREAMS["authors"].initial(seed, depth, n_features, n_classes)
    expected = glorot((2**depth - 1, n_features)).numpy()
    np.testing.assert_array_equal(tree.logits, expected)
    np.testing.assert_array_equal(tree.thresholds, expected)
    np.testing.assert_array_equal(tree.leaves, glorot(leaf_shape).numpy())
    assert not np.shares_memory(tree.logits, tree.thresholds)


@pytest.mark.parametrize("seed", [42, 45, 0, 7_000, LARGEST - 1, LARGEST, LARGEST + 1, 2 * LARGEST])
@pytest.mark.parametrize("n_rows", [1, 2, 3, 4, 5, 128, 129, 5000])
def test_shuffled_orders_are_tensorflows(tf, seed, n_rows):
    order = STREAMS["authors"].order(seed)
    for epoch in (0, 1, 2, 17):
        tf.random.set_seed(seed + epoch)
        expected = tf.random.shuffle(tf.range(n_rows), seed=seed + epoch).numpy()
        rows = np.arange(n_rows)
        from_python(shuffle_epoch)(rows, order, epoch)
        np.testing.assert_array_equal(rows, expected)


KEY, COUNTER = np.uint64(11), np.uint64(7)
LANES = GROUP * GROUPS
ENDS = [0, 1, 2, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1, 1580030168, 1580030169]
"""The last two are next to the word whose variate is zero, where no digit is certain."""


def table(width: int, dtype: str, depth: int = 5) -> DenseTree:
    rng = np.random.default_rng(width)
    logits, thresholds = rng.normal(size=(2, 2**depth - 1, width)).astype(dtype)
    return DenseTree(thresholds, logits, np.zeros(2**depth, dtype))


def choices(start: DenseTree, nodes: np.ndarray) -> np.ndarray:
    """Features that the nodes choose, the others still with the one of the largest logit."""
    dtype = start.logits.dtype
    extras, tree = new_extras(Selector("gumbel"), KEY, start, dtype), new_tree(start, dtype)
    for counter in (COUNTER + np.uint64(1), COUNTER):  # a batch leaves nothing to the next
        from_python(forget)(extras)
        from_python(note_arrivals)(extras, nodes)
        for level in range(start.depth):
            from_python(choose_noisily)(tree, extras, counter, level)
    np.testing.assert_array_equal(
        tree.threshold[nodes], start.thresholds[nodes, tree.feature[nodes]]
    )
    return tree.feature


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logarithms_in_vectors_are_those_of_the_library(dtype):
    words = np.random.default_rng(0).integers(0, 2**32, 4096 * LANES, dtype=np.uint32)
    words[: len(ENDS)] = ENDS
    uniform = ((words + 0.5) / 2.0**32).tolist()
    expected = np.array([-math.log(-math.log(each)) for each in uniform])
    noise = np.empty(LANES, dtype)
    for start in range(0, len(words), LANES):
        from_python(exact_noise)(words[start:], noise)
        np.testing.assert_array_equal(noise, expected[start : start + LANES].astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("width", [1, 3, 4, 57, 200])
def test_nodes_choose_by_the_noise_of_the_whole_table(width, dtype):
    start = table(width, dtype)
    noise = np.empty_like(start.logits)
    fill_gumbel(noise, KEY, COUNTER)
    nodes = np.array([0, 2, 30, 2, 17], dtype=np.uint32)
    expected = (start.logits + noise).argmax(axis=1)
    assert (choices(start, nodes)[nodes] == expected[nodes]).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_node_without_a_finite_logit_chooses_the_first_feature(dtype):
    start = table(57, dtype)
    start.logits[2] = -np.inf
    assert choices(start, np.array([0, 2], dtype=np.uint32))[2] == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_close_sums_are_told_apart(dtype):
    """Logits that take the noise away leave sums that hardly differ, and true ties."""
    start = table(40, dtype)
    noise = np.empty_like(start.logits)
    fill_gumbel(noise, KEY, COUNTER)
    rng = np.random.default_rng(1)
    near = start.logits + (rng.integers(0, 9, noise.shape) * 3e-4 - noise - start.logits)
    nodes = np.arange(31, dtype=np.uint32)
    expected = (near.astype(dtype) + noise).argmax(axis=1)
    close = DenseTree(start.thresholds, near.astype(dtype), start.leaves)
    np.testing.assert_array_equal(choices(close, nodes), expected)
    assert len(set(expected.tolist())) > 5
