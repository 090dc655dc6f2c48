"""Gumbel noise in vectors and where rows arrive is the noise of the whole table, to the bit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gradtree.compiling import from_python
from gradtree.engines.noise import CHUNK, LANES, ROUGH, exact_noise, fill_gumbel, rough_noise
from gradtree.engines.selection import choose_noisily, forget, new_extras
from gradtree.engines.state import new_tree
from gradtree.engines.streams import fill_words
from gradtree.settings.selectors import Selector
from gradtree.trees.dense import DenseTree

KEY, COUNTER = np.uint64(11), np.uint64(7)
ENDS = [0, 1, 2, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1, 1580030168, 1580030169]
"""The last two are next to the word whose variate is zero, where no digit is certain."""


def words_and_variates() -> tuple[np.ndarray, np.ndarray]:
    words = np.random.default_rng(0).integers(0, 2**32, 64 * CHUNK * LANES, dtype=np.uint32)
    words[: len(ENDS)] = ENDS
    variates = [-math.log(-math.log((word + 0.5) / 2.0**32)) for word in words.tolist()]
    return words, np.array(variates)


def table(width: int, dtype: str, depth: int = 5) -> DenseTree:
    rng = np.random.default_rng(width)
    logits, thresholds = rng.normal(size=(2, 2**depth - 1, width)).astype(dtype)
    return DenseTree(thresholds, logits, np.zeros(2**depth, dtype))


def choices(start: DenseTree, nodes: np.ndarray) -> np.ndarray:
    """Features that the nodes choose, the others still with the one of the largest logit."""
    dtype = start.logits.dtype
    extras, tree = new_extras(Selector("gumbel"), KEY, start, dtype, 0), new_tree(start, dtype)
    assert extras is not None
    for counter in (COUNTER + np.uint64(1), COUNTER):  # a batch leaves nothing to the next
        from_python(forget)(extras.chosen)
        from_python(forget)(extras.drawn)
        from_python(choose_noisily)(tree, extras, counter, nodes)
    np.testing.assert_array_equal(
        tree.threshold[nodes], start.thresholds[nodes, tree.feature[nodes]]
    )
    return tree.feature


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logarithms_in_vectors_are_those_of_the_library(dtype):
    words, expected = words_and_variates()
    noise = np.empty(LANES, dtype)
    for start in range(0, len(words), LANES):
        from_python(exact_noise)(words[start:], noise)
        np.testing.assert_array_equal(noise, expected[start : start + LANES].astype(dtype))


def test_rough_noise_is_as_close_as_it_says():
    words, expected = words_and_variates()
    noise = np.empty(CHUNK, np.float32)
    for start in range(0, len(words), CHUNK):
        from_python(rough_noise)(words[start:], noise)
        np.testing.assert_allclose(noise, expected[start : start + CHUNK], rtol=0, atol=ROUGH / 2)


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
def test_close_sums_are_told_apart(dtype):
    """Logits that take the noise away leave sums within its rough error, and true ties."""
    start = table(40, dtype)
    noise = np.empty_like(start.logits)
    fill_gumbel(noise, KEY, COUNTER)
    rng = np.random.default_rng(1)
    near = start.logits + (rng.integers(0, 9, noise.shape) * ROUGH / 5 - noise - start.logits)
    nodes = np.arange(31, dtype=np.uint32)
    expected = (near.astype(dtype) + noise).argmax(axis=1)
    close = DenseTree(start.thresholds, near.astype(dtype), start.leaves)
    np.testing.assert_array_equal(choices(close, nodes), expected)
    assert len(set(expected.tolist())) > 5


def test_words_follow_the_counter():
    words = np.empty(8, np.uint32)
    fill_words(words, KEY, COUNTER)
    noise = np.empty((2, 4))
    fill_gumbel(noise, KEY, COUNTER)
    np.testing.assert_allclose(noise.ravel(), -np.log(-np.log((words + 0.5) / 2.0**32)), 1e-13)
