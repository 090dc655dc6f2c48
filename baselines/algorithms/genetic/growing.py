"""Grown trees, and children that are only described until they grow up.

Most children are never selected. So a child is kept as what distinguishes it from its parent. Its
nodes are written to judge it, then forgotten, and written again once it is to be a parent.

Each carries a random generator, JKISS on 64-bit words as in the original: a state is four of them.
A copied tree starts from a draw of the tree it is a copy of, so the order of copies and draws
decides every later one.
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
from baselines.algorithms.genetic.rows import Descent, RowSets, reach, score
from gradtree.compiling import entry_kernel, kernel

STUMP = 3
"""Nodes of a tree of one split."""
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
    """Grown trees, one after the other in ``nodes``."""

    nodes: Nodes
    start: NDArray[np.int64]  # where each tree begins
    n_nodes: NDArray[np.int64]
    depth: NDArray[np.int64]  # levels below the root
    hits: NDArray[np.int64]  # training rows classified correctly

    def tree(self, index: int) -> Nodes:
        return self.nodes[self.start[index] :][: self.n_nodes[index]]


class Brood(NamedTuple):
    """Children as changes to grown trees, and what is known of them."""

    recipient: NDArray[np.int64]  # the tree that is changed
    point: NDArray[np.int64]  # where; if that is the root, the bare branch is left
    donor: NDArray[np.int64]  # the tree whose subtree comes to the point, or MUTANT or SURVIVOR
    branch: NDArray[np.int64]  # the top of that subtree
    feature: NDArray[np.int64]  # of mutants, what the point becomes
    cut: NDArray[np.int64]
    n_nodes: NDArray[np.int64]  # of the child, as depth and hits
    depth: NDArray[np.int64]
    hits: NDArray[np.int64]
    rng: NDArray[np.uint64]  # (children, 4), the children's random generators


def undescribed(n: int) -> Brood:
    """That many children, all at the root of the first tree, of whom nothing is known yet."""
    rng = np.empty((n, WORDS), dtype=np.uint64)
    return Brood._make([*np.zeros((9, n), dtype=np.int64), rng])


def room_for(n_nodes: int, spare: Nodes) -> Nodes:
    """Room for that many nodes: ``spare`` if they fit there, else with some to spare."""
    return spare if len(spare) >= n_nodes else np.empty(n_nodes + n_nodes // 4, dtype=NODE)


def plant_stumps(seeds: NDArray[np.int64], data: RowSets) -> tuple[Trees, Brood]:
    """Trees of one random split and two random classes, each drawn from its own seed.

    All of them are their own survivors.
    """
    start, n_nodes, depth, hits = np.zeros((4, len(seeds)), dtype=np.int64)
    start[:], n_nodes[:] = STUMP * np.arange(len(seeds)), STUMP
    room = room_for(STUMP * len(seeds), np.empty(0, dtype=NODE))
    stumps = Trees(room, start, n_nodes, depth, hits)
    brood = undescribed(len(seeds))
    brood.recipient[:], brood.donor[:] = np.arange(len(seeds)), SURVIVOR
    brood.rng[:] = seeded(seeds)
    _plant(stumps, brood.rng, data, rows.workspace(len(data.everyone), 1))
    brood.n_nodes[:], brood.depth[:], brood.hits[:] = stumps.n_nodes, stumps.depth, stumps.hits
    return stumps, brood


def judge(parents: Trees, brood: Brood, data: RowSets) -> None:
    """Draw the mutations, and fill in size, depth and hits of every child."""
    everyone = np.arange(len(brood.donor))
    _mutate(parents, brood, len(data.of_class), data)
    # One is written over the other.
    page = np.empty(2 * int(parents.n_nodes.max()), dtype=NODE)
    _write(
        parents, brood, everyone, page, np.zeros_like(everyone), data, *_workspace(parents, data)
    )


def grow(
    parents: Trees, brood: Brood, chosen: NDArray[np.int64], data: RowSets, spare: Nodes
) -> Trees:
    """Write out the chosen children, into ``spare`` if they fit there.

    That saves fetching memory anew.
    """
    n_nodes, depth, hits = brood.n_nodes[chosen], brood.depth[chosen], brood.hits[chosen]
    # A child that loses nodes keeps the gaps until they are closed.
    keeps_gaps = (brood.donor[chosen] >= 0) & (brood.point[chosen] != ROOT)
    room = np.maximum(n_nodes, parents.n_nodes[brood.recipient[chosen]] * keeps_gaps)
    ends = np.cumsum(room)
    young = Trees(room_for(int(ends[-1]), spare), ends - room, n_nodes, depth, hits)
    _write(parents, brood, chosen, young.nodes, young.start, data, *_workspace(parents, data))
    return young


def _workspace(parents: Trees, data: RowSets) -> tuple[Descent, Surgery]:
    """For children, which have at most twice the nodes and the depth of their parents."""
    work = rows.workspace(len(data.everyone), 2 * int(parents.depth.max()) + 1)
    return work, nodes.workspace(2 * int(parents.n_nodes.max()))


@entry_kernel()
def _plant(stumps: Trees, rng: NDArray[np.uint64], data: RowSets, work: Descent) -> None:
    n_features, n_thresholds, _ = data.below.shape
    n_classes = len(data.of_class)
    for i in range(len(stumps.start)):
        tree = grown(stumps, i)
        put_leaf(tree, ROOT, NO_PARENT, draw(rng[i], n_features))
        tree[ROOT].cut = draw(rng[i], n_thresholds)
        tree[ROOT].left, tree[ROOT].right = ROOT + 1, ROOT + 2
        put_leaf(tree, ROOT + 1, ROOT, draw(rng[i], n_classes))
        put_leaf(tree, ROOT + 2, ROOT, draw(rng[i], n_classes))
        stumps.depth[i] = 1
        stumps.hits[i] = _send_rows(tree, ROOT, data, work)


@kernel(inline="always")  # a kernel cannot return part of an array
def grown(trees: Trees, i: Index) -> Nodes:
    """The nodes of one tree."""
    return trees.nodes[trees.start[i] : trees.start[i] + trees.n_nodes[i]]


@entry_kernel()
def _mutate(parents: Trees, brood: Brood, n_classes: Index, data: RowSets) -> None:
    """Of every mutant one node gets another class, or another feature and any threshold of it."""
    n_features, n_thresholds, _ = data.below.shape
    for child in range(len(brood.donor)):
        if brood.donor[child] != MUTANT:
            continue
        tree, rng = grown(parents, brood.recipient[child]), brood.rng[child]
        point = draw(rng, len(tree))
        is_leaf = tree[point].left == LEAF
        other = draw(rng, (n_classes if is_leaf else n_features) - 1)
        brood.point[child] = point
        brood.feature[child] = other + (other >= tree[point].feature)
        brood.cut[child] = tree[point].cut if is_leaf else draw(rng, n_thresholds)


@entry_kernel()
def _write(
    parents: Trees,
    brood: Brood,
    children: NDArray[np.int64],
    room: Nodes,
    start: NDArray[np.int64],
    data: RowSets,
    work: Descent,
    knife: Surgery,
) -> None:
    """Write the nodes of children into the room, and their size, depth and hits into the brood.

    Only rows that reach the changed node can end elsewhere, so a child's hits are the parent's
    without those below the node, plus what the same rows score there now.
    """
    for i in range(len(children)):
        child, tree = children[i], room[start[i] :]
        recipient, donor, point = brood.recipient[child], brood.donor[child], brood.point[child]
        old = grown(parents, recipient)
        size, hits = np.int64(len(old)), parents.hits[recipient]
        if donor >= 0 and point == ROOT:
            bare, branch = grown(parents, donor), brood.branch[child]
            no = np.bool_(False)
            size, _ = transplant(bare, branch, tree, NO_PARENT, no, ROOT, ROOT, knife)
            hits = _send_rows(tree, ROOT, data, work)
        else:
            for node in range(size):
                tree[node] = old[node]
            # Where no row comes, nothing changes; elsewhere the marks are those of other rows now.
            reached = donor != SURVIVOR and tree[point].reached
            if reached:
                hits -= forget_rows(tree, point, knife)
            if donor == MUTANT:
                tree[point].feature, tree[point].cut = brood.feature[child], brood.cut[child]
            elif donor >= 0:
                giver = grown(parents, donor)
                point, size = graft(tree, size, point, giver, brood.branch[child], knife)
            if reached:
                hits += _send_rows(tree, point, data, work)
        depth = 0
        for node in range(size):
            depth = max(depth, tree[node].depth)
        brood.n_nodes[child], brood.depth[child], brood.hits[child] = size, depth, hits


@entry_kernel()
def _send_rows(tree: Nodes, top: Index, data: RowSets, work: Descent) -> Index:
    return score(tree, top, reach(tree, top, data, work), data, work)
