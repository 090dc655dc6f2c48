"""Where the random draws of a training come from: initial parameters, batch orders, Gumbel noise.

A stream is chosen by name. ``numpy`` is the default. ``authors`` makes, bit for bit, the draws
that TensorFlow made in the published experiments, without importing TensorFlow: its stateless
uniform generator for the initial parameters and its ``RandomShuffle`` kernel for the batch order,
both built on the counter-based generator Philox 4x32-10 (Salmon et al., SC 2011).

Every draw of noise is a function of a key, a counter and the place in a table alone. So any part of
the table can be drawn, in any order: that at which somebody looks.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradtree.compiling import Floats, Integers, Numbers, entry_kernel, kernel
from gradtree.trees.dense import DenseTree

_MASK = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_MULTIPLY_A, _MULTIPLY_B = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL_A, _WEYL_B = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LARGEST_SEED = np.uint64(2**31 - 1)
"""TensorFlow takes seeds modulo this, and uses it where both seeds of an operation are 0."""
_SCRAMBLE_KEY = 0x02461E29_3EC8F720
"""With this key TensorFlow mixes a pair of seeds into a key and a counter."""

EVALUATION = np.uint64(1 << 62)
"""Counters of the noise in validation batches start here, far from those of training batches."""
GROUP = 4
"""Words that one counter gives."""
GROUPS = 16
"""Groups that are drawn together: loops of this fixed length become vectors without a rest."""

_ERROR = 1e-12
"""More than ``_log`` of ``_log`` is off by: 4e-14 at most in 26 million words."""
_LOG_2 = math.log(2.0)
_ROOT_HALF = np.uint64(0x3FE6A09E667F3BCD)
_TO_ONE = np.uint64(0x3FF0000000000000 - 0x3FE6A09E667F3BCD)
_MANTISSA = np.uint64(0x000FFFFFFFFFFFFF)
_TWO_52 = np.uint64(0x4330000000000000)  # the bits of 2.0**52, whose last digit stands for one
_EXPONENT = np.uint64(52)


class Order(NamedTuple):
    """How a run shuffles its rows.

    With ``reseeds``, every epoch starts a new generator from ``seed + epoch``, as the authors'
    code does; otherwise all epochs draw from the one generator with this ``seed``.
    """

    seed: np.uint64
    reseeds: bool


@dataclass(frozen=True)
class Stream:
    """A source of draws: a tree for (seed, depth, n_features, n_classes), and an order."""

    initial: Callable[[int, int, int, int], DenseTree]
    order: Callable[[int], Order]


_Words = tuple[np.uint64, np.uint64, np.uint64, np.uint64]


@kernel(inline="always")
def _two_rounds(words: _Words, key: np.uint64, done: int) -> _Words:
    c0, c1, c2, c3 = words
    k0 = ((key & _MASK) + np.uint64(done) * _WEYL_A) & _MASK
    k1 = ((key >> _SHIFT) + np.uint64(done) * _WEYL_B) & _MASK
    a, b = c0 * _MULTIPLY_A, c2 * _MULTIPLY_B
    c0, c1, c2, c3 = ((b >> _SHIFT) ^ c1 ^ k0, b & _MASK, (a >> _SHIFT) ^ c3 ^ k1, a & _MASK)
    k0, k1 = (k0 + _WEYL_A) & _MASK, (k1 + _WEYL_B) & _MASK
    a, b = c0 * _MULTIPLY_A, c2 * _MULTIPLY_B
    return (b >> _SHIFT) ^ c1 ^ k0, b & _MASK, (a >> _SHIFT) ^ c3 ^ k1, a & _MASK


@kernel(inline="always")
def _halves(low: np.uint64, high: np.uint64) -> _Words:
    return low & _MASK, low >> _SHIFT, high & _MASK, high >> _SHIFT


@kernel(inline="always")
def four_words(low: np.uint64, high: np.uint64, key: np.uint64) -> _Words:
    """Words of 32 bits for the 128-bit counter (``low``, ``high``) and the 64-bit ``key``.

    The ten rounds are spelled out: with a loop in it, a loop over counters is not vectorised.
    """
    words = _two_rounds(_halves(low, high), key, 0)
    words = _two_rounds(words, key, 2)
    words = _two_rounds(words, key, 4)
    words = _two_rounds(words, key, 6)
    return _two_rounds(words, key, 8)


@entry_kernel()
def philox(low: np.uint64, high: np.uint64, key: np.uint64) -> tuple[np.uint64, np.uint64]:
    """``four_words`` as two words of 64 bits."""
    c0, c1, c2, c3 = four_words(low, high, key)
    return c0 | (c1 << _SHIFT), c2 | (c3 << _SHIFT)


@entry_kernel()
def fill_words(out: Numbers, key: np.uint64, high: np.uint64) -> None:
    """Fill ``out`` with the 32-bit words that follow from ``key`` and counter half ``high``."""
    for i in range(0, len(out), 4):
        words = four_words(np.uint64(i >> 2), high, key)
        for lane in range(min(4, len(out) - i)):
            out[i + lane] = words[lane]


@kernel()
def shuffle_rows(rows: Integers, key: np.uint64, high: np.uint64) -> None:
    """Shuffle ``rows`` in place as TensorFlow's ``RandomShuffle`` kernel does."""
    n = len(rows)
    words = _halves(np.uint64(0), high)
    for i in range(n - 1):
        if i & 3 == 0:
            words = _halves(np.uint64(i >> 2), high)
            for done in range(0, 10, 2):  # a loop is quicker to compile
                words = _two_rounds(words, key, done)
        j = i + np.int64(words[i & 3] % np.uint64(n - i))
        rows[i], rows[j] = rows[j], rows[i]


@kernel(inline="always")
def shuffle_epoch(rows: Integers, order: Order, epoch: int) -> None:
    """Shuffle ``rows`` (which must be in their original order) in place for one epoch."""
    if order.reseeds:
        # tf.random.set_seed(seed + epoch), then tf.random.shuffle(rows, seed=seed + epoch)
        seed = (order.seed + np.uint64(epoch)) % _LARGEST_SEED
        shuffle_rows(rows, seed, seed if seed else _LARGEST_SEED)
    else:
        shuffle_rows(rows, order.seed, np.uint64(epoch))


def stateless_uniform(seed: int, size: int) -> NDArray[np.float32]:
    """``tf.random.stateless_uniform((size,), (seed, 0))``, bit for bit."""
    mixed = philox(np.uint64(seed), np.uint64(0), np.uint64(_SCRAMBLE_KEY))
    words = np.empty(size, dtype=np.uint32)
    fill_words(words, np.uint64(mixed[0]), np.uint64(mixed[1]))
    mantissa = (words & np.uint32(0x7FFFFF)) | np.uint32(0x3F800000)
    return mantissa.view(np.float32) - np.float32(1)


def _first_tree(
    draw: Callable[[float, tuple[int, ...]], Any], depth: int, n_features: int, n_classes: int
) -> DenseTree:
    """Uniform draws between Glorot's limits; thresholds start equal to the logits.

    As in the authors' code, which differs from the formula printed in the paper.
    """
    n_leaves, binary = 2**depth, n_classes == 2
    logits = draw(float(np.sqrt(6 / (n_leaves - 1 + n_features))), (n_leaves - 1, n_features))
    limit = np.sqrt(3 / n_leaves) if binary else np.sqrt(6 / (n_leaves + n_classes))
    leaves = draw(float(limit), (n_leaves,) if binary else (n_leaves, n_classes))
    return DenseTree(logits.copy(), logits, leaves)


def _authors_initial(seed: int, *shape: int) -> DenseTree:
    def draw(limit: float, shape: tuple[int, ...]) -> NDArray[np.float32]:
        low, high = np.float32(-limit), np.float32(limit)
        draws = stateless_uniform(seed, int(np.prod(shape)))
        return (draws * (high - low) + low).reshape(shape)

    return _first_tree(draw, *shape)


def _numpy_initial(seed: int, *shape: int) -> DenseTree:
    generator = np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[0])

    def draw(limit: float, shape: tuple[int, ...]) -> NDArray[np.float32]:
        return generator.uniform(-limit, limit, shape).astype(np.float32)

    return _first_tree(draw, *shape)


def _numpy_order(seed: int) -> Order:
    source = np.random.SeedSequence(seed).spawn(2)[1]
    return Order(source.generate_state(1, np.uint64)[0], reseeds=False)


def noise_key(seed: int) -> np.uint64:
    """Philox key of a run's Gumbel noise, the same for all streams."""
    return np.uint64(np.random.SeedSequence([seed, 1]).generate_state(1, np.uint64)[0])


STREAMS: dict[str, Stream] = {
    "numpy": Stream(_numpy_initial, _numpy_order),
    "authors": Stream(_authors_initial, lambda seed: Order(np.uint64(seed), True)),
}
"""Every stream; parameter checks and messages take the names from here."""


@kernel()
def gumbel(word: int) -> float:
    """The Gumbel variate of a word of 32 bits; it grows with the word."""
    return -math.log(-math.log((np.float64(word) + 0.5) / 4294967296.0))


@entry_kernel()
def fill_gumbel(noise: Floats, key: np.uint64, counter: np.uint64) -> None:
    """Standard Gumbel noise for a whole table."""
    width = noise.shape[1]
    for i in range(0, noise.size, 4):
        words = four_words(np.uint64(i >> 2), counter, key)
        for lane in range(min(4, noise.size - i)):
            row, column = divmod(i + lane, width)
            noise[row, column] = gumbel(words[lane])


@kernel(inline="always")
def _log(x: float) -> float:
    """Natural logarithm in double precision that a loop can take in vectors."""
    # x = 2**k m with m between the roots of a half and of two; log(m) = 2 atanh((m - 1) / (m + 1)).
    bits = np.float64(x).view(np.uint64) + _TO_ONE
    k = np.uint64((bits >> _EXPONENT) | _TWO_52).view(np.float64) - (2.0**52 + 1023.0)
    m = np.uint64((bits & _MANTISSA) + _ROOT_HALF).view(np.float64)
    s = (m - 1.0) / (m + 1.0)
    w = s * s
    p = 1.0 / 15.0
    p = p * w + 1.0 / 13.0
    p = p * w + 1.0 / 11.0
    p = p * w + 1.0 / 9.0
    p = p * w + 1.0 / 7.0
    p = p * w + 1.0 / 5.0
    p = p * w + 1.0 / 3.0
    return k * _LOG_2 + 2.0 * (s + s * w * p)


@kernel(fastmath={"contract"})
def exact_noise(words: Numbers, noise: Floats) -> None:
    """The variates of all words as ``gumbel`` has them, rounded, to the bit."""
    real = noise.dtype.type
    unsure = 0
    for i in range(GROUP * GROUPS):
        variate = -_log(-_log((np.float64(words[i]) + 0.5) / 4294967296.0))
        noise[i] = variate
        # In single precision this tells almost always that the true one is rounded alike.
        unsure += real(variate - _ERROR) != real(variate + _ERROR)
    if unsure:
        for i in range(GROUP * GROUPS):
            noise[i] = gumbel(words[i])


@kernel()
def draw_words(groups: Numbers, words: Numbers, key: np.uint64, counter: np.uint64) -> None:
    """The words of ``GROUPS`` groups, which have numbers in the whole table."""
    for i in range(GROUPS):
        a, b, c, d = four_words(np.uint64(groups[i]), counter, key)
        words[GROUP * i], words[GROUP * i + 1] = a, b
        words[GROUP * i + 2], words[GROUP * i + 3] = c, d
