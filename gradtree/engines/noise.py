"""Gumbel noise: every draw is a function of a key, a counter and the place in a table alone.

So any part of the table can be drawn, in any order: that at which somebody looks.
"""

import math

import numpy as np

from gradtree.compiling import Floats, Numbers, entry_kernel, kernel
from gradtree.engines.streams import four_words

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
