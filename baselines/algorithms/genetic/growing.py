"""Compiled writing of the first trees, and of those children that become parents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.genetic import jkiss, nodes, rows
from baselines.algorithms.genetic.judging import grown
from baselines.algorithms.genetic.nodes import (
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
from baselines.algorithms.genetic.population import (
    MUTANT,
    SURVIVOR,
    Brood,
    Trees,
    room_for,
    undescribed,
)
from baselines.algorithms.genetic.rows import Descent, RowSets, reach, score
from gradtree.compiling import entry_kernel

STUMP = 3
"""Nodes of a tree of one split."""


def plant_stumps(seeds: NDArray[np.int64], data: RowSets) -> tuple[Trees, Brood]:
    """Trees of one random split and two random classes, each drawn from its own seed.

    Returns
    -------
    trees, brood : the stumps, and all of them as their own survivors.
    """
    start, n_nodes, depth, hits = np.zeros((4, len(seeds)), dtype=np.int64)
    start[:], n_nodes[:] = STUMP * np.arange(len(seeds)), STUMP
    room = room_for(STUMP * len(seeds), np.empty(0, dtype=NODE))
    stumps = Trees(room, start, n_nodes, depth, hits)
    brood = undescribed(len(seeds))
    brood.recipient[:], brood.donor[:] = np.arange(len(seeds)), SURVIVOR
    brood.rng[:] = jkiss.states(seeds)
    _plant(stumps, brood.rng, data, rows.workspace(len(data.everyone), 1))
    brood.n_nodes[:], brood.depth[:], brood.hits[:] = stumps.n_nodes, stumps.depth, stumps.hits
    return stumps, brood


def grow(
    parents: Trees, brood: Brood, chosen: NDArray[np.int64], data: RowSets, spare: Nodes
) -> Trees:
    """Write out the chosen children, into ``spare`` if they fit there.

    That saves fetching memory anew.
    """
    start, n_nodes, depth, hits = np.empty((4, len(chosen)), dtype=np.int64)
    room = _lay_out(parents.n_nodes, brood, chosen, start, n_nodes, depth, hits)
    young = Trees(room_for(room, spare), start, n_nodes, depth, hits)
    knife = nodes.workspace(int(parents.n_nodes.max() + n_nodes.max()))
    work = rows.workspace(len(data.everyone), 2 * int(parents.depth.max()) + 1)
    _grow(parents, brood, chosen, young, data, work, knife)
    return young


@entry_kernel()
def _plant(stumps: Trees, rng: NDArray[np.uint64], data: RowSets, work: Descent) -> None:
    n_features, n_thresholds, _ = data.below.shape
    n_classes = len(data.of_class)
    for i in range(len(stumps.start)):
        tree = grown(stumps, i)
        put_leaf(tree, ROOT, NO_PARENT, jkiss.below(rng[i], n_features))
        tree[ROOT].cut = jkiss.below(rng[i], n_thresholds)
        tree[ROOT].left, tree[ROOT].right = ROOT + 1, ROOT + 2
        put_leaf(tree, ROOT + 1, ROOT, jkiss.below(rng[i], n_classes))
        put_leaf(tree, ROOT + 2, ROOT, jkiss.below(rng[i], n_classes))
        stumps.depth[i] = 1
        stumps.hits[i] = _send_rows(tree, ROOT, data, work)


@entry_kernel()
def _lay_out(
    n_before: NDArray[np.int64],
    brood: Brood,
    chosen: NDArray[np.int64],
    start: NDArray[np.int64],
    n_nodes: NDArray[np.int64],
    depth: NDArray[np.int64],
    hits: NDArray[np.int64],
) -> Index:
    """What is known of the chosen, and where each shall begin; return the room they need."""
    room = 0
    for i in range(len(chosen)):
        child = chosen[i]
        n_nodes[i], depth[i], hits[i] = brood.n_nodes[child], brood.depth[child], brood.hits[child]
        start[i] = room
        # A child that loses nodes keeps the gaps until they are closed.
        keeps_gaps = brood.donor[child] >= 0 and brood.point[child] != ROOT
        before = n_before[brood.recipient[child]] if keeps_gaps else 0
        room += max(before, n_nodes[i])
    return room


@entry_kernel()
def _grow(
    parents: Trees,
    brood: Brood,
    chosen: NDArray[np.int64],
    young: Trees,
    data: RowSets,
    work: Descent,
    knife: Surgery,
) -> None:
    for i in range(len(chosen)):
        child, tree = chosen[i], young.nodes[young.start[i] :]
        old = grown(parents, brood.recipient[child])
        if brood.donor[child] == SURVIVOR:
            _copy(old, tree)
        elif brood.donor[child] == MUTANT:
            _grow_mutant(old, tree, brood, child, data, work, knife)
        else:
            donor = grown(parents, brood.donor[child])
            _grow_crossed(old, donor, tree, brood, child, data, work, knife)


@entry_kernel()
def _copy(old: Nodes, tree: Nodes) -> None:
    for i in range(len(old)):
        tree[i] = old[i]


@entry_kernel()
def _grow_mutant(
    old: Nodes,
    tree: Nodes,
    brood: Brood,
    child: Index,
    data: RowSets,
    work: Descent,
    knife: Surgery,
) -> None:
    _copy(old, tree)
    point = brood.point[child]
    tree[point].feature, tree[point].cut = brood.feature[child], brood.cut[child]
    # Where no row comes, nothing changes; elsewhere the marks below are those of other rows now.
    if tree[point].reached:
        forget_rows(tree, point, knife)
        _send_rows(tree, point, data, work)


@entry_kernel()
def _grow_crossed(
    old: Nodes,
    donor: Nodes,
    tree: Nodes,
    brood: Brood,
    child: Index,
    data: RowSets,
    work: Descent,
    knife: Surgery,
) -> None:
    point, branch = brood.point[child], brood.branch[child]
    if point == ROOT:
        transplant(donor, branch, tree, NO_PARENT, np.bool_(False), ROOT, ROOT, knife)
        _send_rows(tree, ROOT, data, work)
        return
    _copy(old, tree)
    reached = tree[point].reached
    top = graft(tree, len(old), point, donor, branch, knife)
    if reached:
        _send_rows(tree, top, data, work)


@entry_kernel()
def _send_rows(tree: Nodes, top: Index, data: RowSets, work: Descent) -> Index:
    return score(tree, top, reach(tree, top, data, work), data, work, np.bool_(True))
