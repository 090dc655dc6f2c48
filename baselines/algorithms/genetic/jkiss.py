"""The random generator that each tree of the original carries: JKISS on 64-bit words.

A state is four words. A copied tree starts from a draw of the tree it is a
copy of, so the order of copies and draws decides every later one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gradtree.compiling import entry_kernel

WORDS = 4
SEED_RANGE = 10**8

_START = (np.uint64(987654321), np.uint64(43219876), np.uint64(6543217))
_LCG_FACTOR, _LCG_STEP = np.uint64(314527869), np.uint64(1234567)
_CARRY_FACTOR = np.uint64(4294584393)
_5, _7, _22, _32 = np.uint64(5), np.uint64(7), np.uint64(22), np.uint64(32)


@entry_kernel()
def seed(state: NDArray[np.uint64], start: int | np.int64) -> None:
    """Set a state; only its first word depends on the seed."""
    state[0] = np.uint64(start)
    state[1], state[2], state[3] = _START


def states(starts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """One state per seed, shape (n, 4)."""
    seeded = np.empty((len(starts), WORDS), dtype=np.uint64)
    seeded[:, 0], seeded[:, 1:] = starts, _START
    return seeded


@entry_kernel()
def below(state: NDArray[np.uint64], bound: int | np.int64) -> np.int64:
    """Draw an integer from 0 to ``bound - 1``, by remainder as the original does."""
    state[0] = _LCG_FACTOR * state[0] + _LCG_STEP
    state[1] ^= state[1] << _5
    state[1] ^= state[1] >> _7
    state[1] ^= state[1] << _22
    carried = _CARRY_FACTOR * state[2] + state[3]
    state[3] = carried >> _32
    state[2] = carried
    return np.int64((state[0] + state[1] + state[2]) % np.uint64(bound))
