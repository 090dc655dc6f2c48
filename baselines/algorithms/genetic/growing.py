"""Compiled judgement of children by what is new in them, and writing of those that grow up."""

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
    depth_without,
    forget_rows,
    graft,
    list_subtree,
    put_leaf,
    transplant,
)
from baselines.algorithms.genetic.population import (
    MUTANT,
    SURVIVOR,
    Brood,
    Trees,
    draw,
    seeded,
    undescribed,
)
from baselines.algorithms.genetic.rows import Descent, RowSets, reach, score
from gradtree.compiling import entry_kernel, kernel

STUMP = 3
"""Nodes of a tree of one split."""


def plant_stumps(seeds: NDArray[np.int64], data: RowSets) -> tuple[Trees, Brood]:
    """Trees of one random split and two random classes, each drawn from its own seed.

    All of them are their own survivors.
    """
    start, n_nodes, depth, hits = np.zeros((4, len(seeds)), dtype=np.int64)
    start[:], n_nodes[:] = STUMP * np.arange(len(seeds)), STUMP
    stumps = Trees(np.empty(STUMP * len(seeds), dtype=NODE), start, n_nodes, depth, hits)
    brood = undescribed(len(seeds))
    brood.recipient[:], brood.donor[:] = np.arange(len(seeds)), SURVIVOR
    brood.rng[:] = seeded(seeds)
    _plant(stumps, brood.rng, data, rows.workspace(len(data.everyone), 1))
    brood.n_nodes[:], brood.depth[:], brood.hits[:] = stumps.n_nodes, stumps.depth, stumps.hits
    return stumps, brood


def grow(parents: Trees, brood: Brood, chosen: NDArray[np.int64], data: RowSets) -> Trees:
    """Write out the chosen children."""
    n_nodes, depth, hits = brood.n_nodes[chosen], brood.depth[chosen], brood.hits[chosen]
    # A child that loses nodes keeps the gaps until they are closed.
    keeps_gaps = (brood.donor[chosen] >= 0) & (brood.point[chosen] != ROOT)
    room = np.maximum(n_nodes, parents.n_nodes[brood.recipient[chosen]] * keeps_gaps)
    ends = np.cumsum(room)
    young = Trees(np.empty(ends[-1], dtype=NODE), ends - room, n_nodes, depth, hits)
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
        put_leaf(tree, ROOT, NO_PARENT, draw(rng[i], n_features))
        tree[ROOT].cut = draw(rng[i], n_thresholds)
        tree[ROOT].left, tree[ROOT].right = ROOT + 1, ROOT + 2
        put_leaf(tree, ROOT + 1, ROOT, draw(rng[i], n_classes))
        put_leaf(tree, ROOT + 2, ROOT, draw(rng[i], n_classes))
        stumps.depth[i] = 1
        stumps.hits[i] = _send_rows(tree, ROOT, data, work)


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


def judge(parents: Trees, brood: Brood, data: RowSets) -> None:
    """Draw the mutations, and fill in size, depth and hits of every child."""
    knife = nodes.workspace(int(parents.n_nodes.max()))
    work = rows.workspace(len(data.everyone), 2 * int(parents.depth.max()) + 1)
    _judge(parents, brood, data, work, knife)


@entry_kernel()
def _judge(parents: Trees, brood: Brood, data: RowSets, work: Descent, knife: Surgery) -> None:
    for child in range(len(brood.donor)):
        recipient = brood.recipient[child]
        brood.n_nodes[child] = parents.n_nodes[recipient]
        brood.depth[child] = parents.depth[recipient]
        brood.hits[child] = parents.hits[recipient]
        if brood.donor[child] == MUTANT:
            _judge_mutant(grown(parents, recipient), brood, child, data, work, knife)
        elif brood.donor[child] != SURVIVOR:
            donor = grown(parents, brood.donor[child])
            _judge_crossed(grown(parents, recipient), donor, brood, child, data, work, knife)


@kernel(inline="always")  # a kernel cannot return part of an array
def grown(trees: Trees, i: Index) -> Nodes:
    """The nodes of one tree."""
    return trees.nodes[trees.start[i] : trees.start[i] + trees.n_nodes[i]]


@entry_kernel()
def _judge_mutant(
    tree: Nodes, brood: Brood, child: Index, data: RowSets, work: Descent, knife: Surgery
) -> None:
    """One node gets another class, or another feature and any threshold of it."""
    rng = brood.rng[child]
    n_features, n_thresholds, _ = data.below.shape
    point = draw(rng, len(tree))
    node = tree[point]
    feature, cut = np.int64(node.feature), np.int64(node.cut)
    if node.left == LEAF:
        brood.feature[child], brood.cut[child] = _another(rng, feature, len(data.of_class)), cut
    else:
        brood.feature[child] = _another(rng, feature, n_features)
        brood.cut[child] = draw(rng, n_thresholds)
    brood.point[child] = point
    # Exact: only rows that reach the changed node can end elsewhere, so the child's hits are the
    # parent's without those below the node, plus what the same rows score there now. The change is
    # made in the parent itself and taken back, which spares a copy of the tree.
    if node.reached:
        brood.hits[child] -= _hits_below(tree, point, knife)
        node.feature, node.cut = brood.feature[child], brood.cut[child]
        size = reach(tree, point, data, work)
        brood.hits[child] += score(tree, point, size, data, work, np.bool_(False))
        node.feature, node.cut = feature, cut


@entry_kernel()
def _another(rng: NDArray[np.uint64], current: Index, n: Index) -> Index:
    drawn = draw(rng, n - 1)
    return drawn + (drawn >= current)


@entry_kernel()
def _hits_below(tree: Nodes, top: Index, knife: Surgery) -> Index:
    hits = 0
    for i in range(list_subtree(tree, top, knife)):
        hits += tree[knife.free[i]].hits
    return hits


@entry_kernel()
def _judge_crossed(
    tree: Nodes,
    donor: Nodes,
    brood: Brood,
    child: Index,
    data: RowSets,
    work: Descent,
    knife: Surgery,
) -> None:
    """The subtree at ``point`` gives way to the donor's branch."""
    point, branch = brood.point[child], brood.branch[child]
    n_branch = list_subtree(donor, branch, knife)
    height = 0
    for i in range(n_branch):
        height = max(height, donor[knife.free[i]].depth - donor[branch].depth)
    if point == ROOT:
        brood.n_nodes[child], brood.depth[child], brood.hits[child] = n_branch, height, 0
    else:
        brood.n_nodes[child] += n_branch - list_subtree(tree, point, knife)
        kept = depth_without(tree, point, brood.depth[child], knife)
        brood.depth[child] = max(kept, tree[point].depth + height)
    if point == ROOT or tree[point].reached:
        if point != ROOT:
            brood.hits[child] -= _hits_below(tree, point, knife)
        # The rows that the recipient sends to the point go on in the donor's branch: the child
        # decides as if they had been joined, before anyone joins them.
        size = reach(tree, point, data, work)
        brood.hits[child] += score(donor, branch, size, data, work, np.bool_(False))
