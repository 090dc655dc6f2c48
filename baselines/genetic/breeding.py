"""One generation from the last: the children's draws, their nodes and their scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from baselines.genetic import jkiss, nodes, rows
from baselines.genetic.nodes import (
    LEAF,
    NO_PARENT,
    NODE,
    ROOT,
    Index,
    Nodes,
    Surgery,
    forget_rows,
    graft,
    list_subtree,
    put_leaf,
    transplant,
)
from baselines.genetic.rows import Descent, Rows, reach, score


class Population(NamedTuple):
    """Trees that lie one after the other in ``nodes``, and their random generators.

    Attributes
    ----------
    nodes : NODE, shape (at least all nodes,)
    start, n_nodes : where each tree begins, and its number of nodes.
    depth : levels below the root.
    hits : training rows classified correctly.
    rng : uint64, shape (trees, 4)
    """

    nodes: Nodes
    start: NDArray[np.int64]
    n_nodes: NDArray[np.int64]
    depth: NDArray[np.int64]
    hits: NDArray[np.int64]
    rng: NDArray[np.uint64]

    def tree(self, index: int) -> Nodes:
        return self.nodes[self.start[index] :][: self.n_nodes[index]]


class Crossings(NamedTuple):
    """Children of two parents: the recipient's subtree at ``point`` becomes the donor's ``branch``.

    Where ``point`` is the root the child is the bare branch.
    """

    recipient: NDArray[np.int64]
    point: NDArray[np.int64]
    donor: NDArray[np.int64]
    branch: NDArray[np.int64]
    rng: NDArray[np.uint64]


def plant_stumps(seeds: NDArray[np.int64], data: Rows) -> Population:
    """Trees of one random split and two random classes, each drawn from its own seed."""
    stumps = _make_room(np.full(len(seeds), 3), jkiss.states(seeds), np.empty(0, dtype=NODE))
    _plant(stumps, data, rows.workspace(len(data.everyone), 1))
    return stumps


def breed(
    old: Population,
    mutants: NDArray[np.int64],
    mutant_rng: NDArray[np.uint64],
    crossed: Crossings,
    elite: NDArray[np.int64],
    elite_rng: NDArray[np.uint64],
    data: Rows,
    spare: Nodes,
) -> Population:
    """Build the next generation: mutants, then crossings, then the elite as it was.

    Its nodes go into ``spare`` if they fit there, which saves fetching memory anew.
    """
    knife = nodes.workspace(2 * int(old.n_nodes.max()))
    room = [old.n_nodes[mutants], _crossing_room(old, crossed, knife), old.n_nodes[elite]]
    rng = [mutant_rng, crossed.rng, elite_rng]
    young = _make_room(np.concatenate(room), np.concatenate(rng), spare)
    work = rows.workspace(len(data.everyone), 2 * int(old.depth.max()) + 1)
    _fill(old, mutants, crossed, elite, young, data, work, knife)
    return young


def _make_room(room: NDArray[np.int64], rng: NDArray[np.uint64], spare: Nodes) -> Population:
    ends = np.cumsum(room)
    if len(spare) < ends[-1]:
        spare = np.empty(ends[-1] + ends[-1] // 4, dtype=NODE)
    depth, hits = np.zeros_like(room), np.zeros_like(room)
    return Population(spare, ends - room, room, depth, hits, rng)


@njit(cache=True, nogil=True)
def spawn(
    rng: NDArray[np.uint64], parents: NDArray[np.int64], children: NDArray[np.uint64]
) -> None:
    """Seed each child's generator by a draw of its parent's."""
    for child in range(len(parents)):
        jkiss.seed(children[child], jkiss.below(rng[parents[child]], jkiss.SEED_RANGE))


@njit(cache=True, nogil=True)
def draw_crossings(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    tree: NDArray[np.int64],
    home: NDArray[np.int64],
    n_nodes: NDArray[np.int64],
    rng: NDArray[np.uint64],
) -> Crossings:
    """Choose a node in both parents and cross them both ways.

    Parameters
    ----------
    first, second : parents.
    tree, home : tree and row of ``rng`` of each parent; copies of one tree have rows of their own.
    n_nodes : of each tree.
    """
    n = 2 * len(first)
    planned = Crossings(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty((n, jkiss.WORDS), np.uint64),
    )
    for i in range(len(first)):
        one, other = first[i], second[i]
        point = jkiss.below(rng[home[one]], n_nodes[tree[one]])
        branch = jkiss.below(rng[home[other]], n_nodes[tree[other]])
        for child in range(2 * i, 2 * i + 2):
            planned.recipient[child], planned.point[child] = tree[one], point
            planned.donor[child], planned.branch[child] = tree[other], branch
            if point:
                jkiss.seed(planned.rng[child], jkiss.below(rng[home[one]], jkiss.SEED_RANGE))
            one, other, point, branch = other, one, branch, point
    return planned


@njit(cache=True, nogil=True)
def _plant(stumps: Population, data: Rows, work: Descent) -> None:
    n_features, n_thresholds, _ = data.below.shape
    n_classes = len(data.of_class)
    for i in range(len(stumps.start)):
        rng, tree = stumps.rng[i], _tree(stumps, i)
        put_leaf(tree, ROOT, NO_PARENT, jkiss.below(rng, n_features))
        tree[ROOT].cut = jkiss.below(rng, n_thresholds)
        tree[ROOT].left, tree[ROOT].right = ROOT + 1, ROOT + 2
        put_leaf(tree, ROOT + 1, ROOT, jkiss.below(rng, n_classes))
        put_leaf(tree, ROOT + 2, ROOT, jkiss.below(rng, n_classes))
        stumps.depth[i] = 1
        stumps.hits[i] = score(tree, ROOT, reach(tree, ROOT, data, work), data, work)


@njit(cache=True, nogil=True)
def _crossing_room(old: Population, crossed: Crossings, knife: Surgery) -> NDArray[np.int64]:
    """Nodes that each child needs at most, also while gaps in it are still open."""
    room = np.empty(len(crossed.point), np.int64)
    for i in range(len(room)):
        recipient, point = crossed.recipient[i], crossed.point[i]
        room[i] = list_subtree(_tree(old, crossed.donor[i]), crossed.branch[i], knife)
        if point:
            removed = list_subtree(_tree(old, recipient), point, knife)
            room[i] = old.n_nodes[recipient] + max(0, room[i] - removed)
    return room


@njit(cache=True, nogil=True)
def _fill(
    old: Population,
    mutants: NDArray[np.int64],
    crossed: Crossings,
    elite: NDArray[np.int64],
    young: Population,
    data: Rows,
    work: Descent,
    knife: Surgery,
) -> None:
    n_mutants, n_bred = len(mutants), len(mutants) + len(crossed.point)
    for child in range(n_bred + len(elite)):
        if child < n_mutants:
            _copy(old, mutants[child], young, child)
            _mutate(young, child, data, work, knife)
        elif child < n_bred:
            _cross(old, crossed, child - n_mutants, young, child, data, work, knife)
        else:
            _copy(old, elite[child - n_bred], young, child)


@njit(cache=True, nogil=True)
def _tree(trees: Population, i: Index) -> Nodes:
    return trees.nodes[trees.start[i] : trees.start[i] + trees.n_nodes[i]]


@njit(cache=True, nogil=True)
def _copy(old: Population, source: Index, young: Population, child: Index) -> None:
    start, offset = old.start[source], young.start[child]
    for i in range(old.n_nodes[source]):
        young.nodes[offset + i] = old.nodes[start + i]
    young.depth[child] = old.depth[source]
    young.hits[child] = old.hits[source]


@njit(cache=True, nogil=True)
def _mutate(young: Population, child: Index, data: Rows, work: Descent, knife: Surgery) -> None:
    """Give one node another class, or another feature and any threshold of it."""
    tree, rng = _tree(young, child), young.rng[child]
    n_features, n_thresholds, _ = data.below.shape
    chosen = jkiss.below(rng, len(tree))
    node = tree[chosen]
    if node.left == LEAF:
        node.feature = _another(rng, node.feature, len(data.of_class))
    else:
        node.feature = _another(rng, node.feature, n_features)
        node.cut = jkiss.below(rng, n_thresholds)
    if node.reached:
        young.hits[child] -= forget_rows(tree, chosen, knife)
        young.hits[child] += score(tree, chosen, reach(tree, chosen, data, work), data, work)


@njit(cache=True, nogil=True)
def _another(rng: NDArray[np.uint64], current: Index, n: Index) -> Index:
    drawn = jkiss.below(rng, n - 1)
    return drawn + (drawn >= current)


@njit(cache=True, nogil=True)
def _cross(
    old: Population,
    crossed: Crossings,
    i: Index,
    young: Population,
    child: Index,
    data: Rows,
    work: Descent,
    knife: Surgery,
) -> None:
    """Make one child of two parents and score the branch that is new to it."""
    tree, donor = _tree(young, child), _tree(old, crossed.donor[i])
    recipient, point, branch = crossed.recipient[i], crossed.point[i], crossed.branch[i]
    if point:
        _copy(old, recipient, young, child)
        reached = tree[point].reached
        young.hits[child] -= forget_rows(tree, point, knife)
        count, top = graft(tree, old.n_nodes[recipient], point, donor, branch, knife)
    else:
        reached, top = np.int16(1), ROOT
        count, _ = transplant(donor, branch, tree, NO_PARENT, np.bool_(False), ROOT, ROOT, knife)
    young.n_nodes[child] = count
    young.depth[child] = _deepest(tree, count)
    if reached:
        young.hits[child] += score(tree, top, reach(tree, top, data, work), data, work)


@njit(cache=True, nogil=True)
def _deepest(tree: Nodes, count: Index) -> Index:
    depth = 0
    for i in range(count):
        depth = max(depth, tree[i].depth)
    return depth
