"""A population: grown trees, the random generator each carries, children, and how all are written.

Children are described as changes to grown trees. The generator is JKISS on 64-bit words, as in the
original: a state is four of them. A copied tree starts from a draw of the tree it is a copy of, so
the order of copies and draws decides every later one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.genetic import nodes, rows
from baselines.algorithms.genetic.nodes import (
    LEAF,
    NO_PARENT,
    NODE,
    ROOT,
    Index,
    Nodes,
    Surgery,
    forget_rows,
    graft,
    put_leaf,
    transplant,
)
from baselines.algorithms.genetic.rows import Descent, RowSets, send_rows
from gradtree.compiling import entry_kernel, kernel

WORDS = 4
STUMP = 3
"""Nodes of a tree of one split."""
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


def plant_stumps(seeds: NDArray[np.int64], data: RowSets) -> Trees:
    """Trees of one random split and two random classes, each drawn from its own seed."""
    stumps = room_for(np.full(len(seeds), STUMP), seeded(seeds))
    _plant(stumps, data, rows.workspace(len(data.everyone), 1))
    return stumps


def grow(parents: Trees, brood: Brood, data: RowSets) -> Trees:
    """Write out children."""
    donated = np.where(brood.donor >= 0, parents.n_nodes[brood.donor], 0)
    young = room_for(parents.n_nodes[brood.recipient] + donated, brood.rng)
    knife = nodes.workspace(2 * int(parents.n_nodes.max()))
    work = rows.workspace(len(data.everyone), 2 * int(parents.depth.max()) + 1)
    _grow(parents, brood, young, data, work, knife)
    return young


@entry_kernel()
def _plant(stumps: Trees, data: RowSets, work: Descent) -> None:
    n_features, n_thresholds, _ = data.below.shape
    n_classes = len(data.of_class)
    for i in range(len(stumps.start)):
        tree, rng = stumps.nodes[stumps.start[i] :], stumps.rng[i]
        put_leaf(tree, ROOT, NO_PARENT, draw(rng, n_features))
        tree[ROOT].cut = draw(rng, n_thresholds)
        tree[ROOT].left, tree[ROOT].right = ROOT + 1, ROOT + 2
        put_leaf(tree, ROOT + 1, ROOT, draw(rng, n_classes))
        put_leaf(tree, ROOT + 2, ROOT, draw(rng, n_classes))
        send_rows(tree, ROOT, data, work)
        stumps.n_nodes[i] = STUMP
        _sum_up(stumps, i)


@entry_kernel()
def _grow(
    parents: Trees, brood: Brood, young: Trees, data: RowSets, work: Descent, knife: Surgery
) -> None:
    for child in range(len(brood.donor)):
        old, tree = grown(parents, brood.recipient[child]), young.nodes[young.start[child] :]
        donor, rng, n_nodes = brood.donor[child], brood.rng[child], np.int64(len(old))
        for i in range(len(old)):
            tree[i] = old[i]
        if donor == MUTANT:
            _mutate(tree, n_nodes, rng, data, work, knife)
        elif donor != SURVIVOR:
            point, branch = brood.point[child], brood.branch[child]
            n_nodes = _cross(tree, n_nodes, point, grown(parents, donor), branch, data, work, knife)
        young.n_nodes[child] = n_nodes
        _sum_up(young, child)


@kernel(inline="always")  # a kernel cannot return part of an array
def grown(trees: Trees, i: Index) -> Nodes:
    """The nodes of one tree."""
    return trees.nodes[trees.start[i] : trees.start[i] + trees.n_nodes[i]]


@entry_kernel()
def _sum_up(trees: Trees, i: Index) -> None:
    for node in grown(trees, i):
        trees.depth[i] = max(trees.depth[i], np.int64(node.depth))
        trees.hits[i] += node.hits


@entry_kernel()
def _mutate(
    tree: Nodes,
    n_nodes: Index,
    rng: NDArray[np.uint64],
    data: RowSets,
    work: Descent,
    knife: Surgery,
) -> None:
    """One node gets another class, or another feature and any threshold of it."""
    n_features, n_thresholds, _ = data.below.shape
    point = draw(rng, n_nodes)
    node = tree[point]
    if node.left == LEAF:
        node.feature = _another(rng, np.int64(node.feature), len(data.of_class))
    else:
        node.feature = _another(rng, np.int64(node.feature), n_features)
        node.cut = draw(rng, n_thresholds)
    # Where no row comes, nothing changes; elsewhere the marks below are those of other rows now.
    if node.reached:
        forget_rows(tree, point, knife)
        send_rows(tree, point, data, work)


@entry_kernel()
def _another(rng: NDArray[np.uint64], current: Index, n: Index) -> Index:
    drawn = draw(rng, n - 1)
    return drawn + (drawn >= current)


@entry_kernel()
def _cross(
    tree: Nodes,
    n_nodes: Index,
    point: Index,
    donor: Nodes,
    branch: Index,
    data: RowSets,
    work: Descent,
    knife: Surgery,
) -> Index:
    """The subtree at ``point`` gives way to the donor's branch; how many nodes there are then."""
    if point == ROOT:
        nobody = np.bool_(False)
        n_nodes, _ = transplant(donor, branch, tree, NO_PARENT, nobody, ROOT, ROOT, knife)
        send_rows(tree, ROOT, data, work)
        return n_nodes
    reached = tree[point].reached
    top, n_nodes = graft(tree, n_nodes, point, donor, branch, knife)
    if reached:
        send_rows(tree, top, data, work)
    return n_nodes
