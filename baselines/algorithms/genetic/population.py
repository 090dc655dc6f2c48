"""Grown trees, children described as changes to them, and the random generator each carries.

The generator is JKISS on 64-bit words, as in the original: a state is four of them. A copied tree
starts from a draw of the tree it is a copy of, so the order of copies and draws decides every
later one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.genetic.nodes import NODE, Nodes
from gradtree.compiling import entry_kernel

WORDS = 4
SEED_RANGE = 10**8
MUTANT = np.int64(-1)
SURVIVOR = np.int64(-2)

_START = (np.uint64(987654321), np.uint64(43219876), np.uint64(6543217))
_LCG_FACTOR, _LCG_STEP = np.uint64(314527869), np.uint64(1234567)
_CARRY_FACTOR = np.uint64(4294584393)
_5, _7, _22, _32 = np.uint64(5), np.uint64(7), np.uint64(22), np.uint64(32)


@entry_kernel()
def seed(state: NDArray[np.uint64], start: int | np.int64) -> None:
    """Set a state; only its first word depends on the seed."""
    state[0] = np.uint64(start)
    state[1], state[2], state[3] = _START


def seeded(starts: NDArray[np.int64]) -> NDArray[np.uint64]:
    """One state per seed, shape (n, 4)."""
    state = np.empty((len(starts), WORDS), dtype=np.uint64)
    state[:, 0], state[:, 1:] = starts, _START
    return state


@entry_kernel()
def draw(state: NDArray[np.uint64], bound: int | np.int64) -> np.int64:
    """Draw an integer from 0 to ``bound - 1``, by remainder as the original does."""
    state[0] = _LCG_FACTOR * state[0] + _LCG_STEP
    state[1] ^= state[1] << _5
    state[1] ^= state[1] >> _7
    state[1] ^= state[1] << _22
    carried = _CARRY_FACTOR * state[2] + state[3]
    state[3] = carried >> _32
    state[2] = carried
    return np.int64((state[0] + state[1] + state[2]) % np.uint64(bound))


class Trees(NamedTuple):
    """Grown trees, with room in ``nodes`` for each."""

    nodes: Nodes
    start: NDArray[np.int64]  # where each tree begins
    n_nodes: NDArray[np.int64]
    depth: NDArray[np.int64]  # levels below the root
    hits: NDArray[np.int64]  # training rows classified correctly
    rng: NDArray[np.uint64]  # (trees, 4), their random generators

    def tree(self, index: int) -> Nodes:
        return self.nodes[self.start[index] :][: self.n_nodes[index]]


class Brood(NamedTuple):
    """Children as changes to grown trees; where a mutant changes, its generator decides."""

    recipient: NDArray[np.int64]  # the tree that is changed
    point: NDArray[np.int64]  # where it is crossed; if that is the root, the bare branch is left
    donor: NDArray[np.int64]  # the tree whose subtree comes to the point, or MUTANT or SURVIVOR
    branch: NDArray[np.int64]  # the top of that subtree
    rng: NDArray[np.uint64]  # (children, 4), the children's random generators


def room_for(room: NDArray[np.int64], rng: NDArray[np.uint64]) -> Trees:
    """Trees to be grown, of at most so many nodes each."""
    ends = np.cumsum(room)
    n_nodes, depth, hits = np.zeros((3, len(room)), dtype=np.int64)
    return Trees(np.empty(ends[-1], dtype=NODE), ends - room, n_nodes, depth, hits, rng)
