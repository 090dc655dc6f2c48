"""Compiled judgement of children by the part that is new in them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.genetic import jkiss, nodes, rows
from baselines.algorithms.genetic.nodes import (
    LEAF,
    ROOT,
    Index,
    Nodes,
    Surgery,
    depth_without,
    list_subtree,
)
from baselines.algorithms.genetic.population import MUTANT, SURVIVOR, Brood, Trees
from baselines.algorithms.genetic.rows import Descent, RowSets, reach, score
from gradtree.compiling import entry_kernel, kernel


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
    point = jkiss.below(rng, len(tree))
    node = tree[point]
    feature, cut = np.int64(node.feature), np.int64(node.cut)
    if node.left == LEAF:
        brood.feature[child], brood.cut[child] = _another(rng, feature, len(data.of_class)), cut
    else:
        brood.feature[child] = _another(rng, feature, n_features)
        brood.cut[child] = jkiss.below(rng, n_thresholds)
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
    drawn = jkiss.below(rng, n - 1)
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
