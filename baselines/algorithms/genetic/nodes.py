"""Trees as runs of node records, and the surgery on them.

Node numbers matter: the search picks a node by its number, so grafting has to
number the nodes of a child exactly as the original does.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradtree.compiling import entry_kernel

NODE = np.dtype(
    [
        ("left", np.int32),
        ("right", np.int32),
        ("parent", np.int32),
        ("feature", np.int32),  # of a leaf: its class
        ("depth", np.int32),
        ("hits", np.int32),  # of a leaf: its rows of the right class
        ("cut", np.int16),  # number of the threshold
        ("reached", np.int16),  # whether any training row gets here
    ],
    align=True,
)
Nodes: TypeAlias = NDArray[Any]
Index: TypeAlias = int | np.int64

# Typed, since kernels are compiled once more for every plain number passed to them.
ROOT = np.int64(0)
LEAF = np.int64(-1)
NO_PARENT = np.int64(-2)
REMOVED = np.int64(-3)


class Surgery(NamedTuple):
    """Working memory: nodes to visit, with their new parent and side, and numbers."""

    node: NDArray[np.int64]
    parent: NDArray[np.int64]
    is_left: NDArray[np.bool_]
    free: NDArray[np.int64]


def workspace(n_nodes: int) -> Surgery:
    """Memory for trees of up to that many nodes."""
    node, parent, free = np.empty((3, n_nodes + 1), dtype=np.int64)
    return Surgery(node, parent, np.zeros(n_nodes + 1, dtype=np.bool_), free)


@entry_kernel()
def put_leaf(nodes: Nodes, node: Index, parent: Index, feature: Index) -> None:
    """Write a leaf of class ``feature`` that no row has reached yet."""
    here = nodes[node]
    here.left, here.right, here.parent = LEAF, LEAF, parent
    here.feature, here.cut = feature, -1
    here.depth = 0 if parent == NO_PARENT else nodes[parent].depth + 1
    here.hits, here.reached = 0, 0


@entry_kernel()
def list_subtree(nodes: Nodes, top: Index, work: Surgery) -> Index:
    """Write the subtree's node numbers into ``work.free``, parents first and left before right."""
    found, pending = 0, 1
    work.node[0] = top
    while pending:
        pending -= 1
        node = work.node[pending]
        work.free[found] = node
        found += 1
        if nodes[node].left != LEAF:
            work.node[pending] = nodes[node].right
            work.node[pending + 1] = nodes[node].left
            pending += 2
    return found


@entry_kernel()
def forget_rows(nodes: Nodes, top: Index, work: Surgery) -> None:
    """Mark the subtree as reached by no row."""
    for i in range(list_subtree(nodes, top, work)):
        here = nodes[work.free[i]]
        here.hits, here.reached = 0, 0


@entry_kernel()
def graft(
    child: Nodes, count: Index, point: Index, donor: Nodes, branch: Index, work: Surgery
) -> tuple[Index, Index]:
    """Replace the subtree at ``point`` (not the root) by the donor's at ``branch``.

    ``child`` holds the recipient's ``count`` nodes, with room for those to come. Returns the
    number of the branch in it, and how many nodes it has now.
    """
    parent: Index = np.int64(child[point].parent)
    is_left = child[parent].left == point
    n_free = list_subtree(child, point, work)
    for i in range(n_free):
        child[work.free[i]].parent = REMOVED
    count, n_free = transplant(donor, branch, child, parent, is_left, count, n_free, work)
    parent = _close_gaps(child, count, n_free, parent, work)
    return np.int64(child[parent].left if is_left else child[parent].right), count - n_free


@entry_kernel()
def transplant(
    donor: Nodes,
    branch: Index,
    child: Nodes,
    parent: Index,
    is_left: bool | np.bool_,
    count: Index,
    n_free: Index,
    work: Surgery,
) -> tuple[Index, Index]:
    """Copy the donor's branch under ``parent``, right subtrees before left ones.

    New nodes take the ``n_free`` freed numbers, the last one first, and then
    the numbers from ``count`` on. Returns what both have become.
    """
    shift = (child[parent].depth + 1 if parent != NO_PARENT else 0) - donor[branch].depth
    work.node[0], work.parent[0], work.is_left[0] = branch, parent, is_left
    pending = 1
    while pending:
        pending -= 1
        source, parent, is_left = work.node[pending], work.parent[pending], work.is_left[pending]
        if n_free:
            n_free -= 1
            node = work.free[n_free]
        else:
            node = count
            count += 1
        # The children's numbers follow when they are copied; rows have yet to come this way.
        child[node] = donor[source]
        here = child[node]
        here.parent = parent
        here.depth += shift
        here.hits, here.reached = 0, 0
        if parent != NO_PARENT:
            if is_left:
                child[parent].left = node
            else:
                child[parent].right = node
        if donor[source].left != LEAF:
            work.node[pending] = donor[source].left
            work.node[pending + 1] = donor[source].right
            work.parent[pending] = work.parent[pending + 1] = node
            work.is_left[pending], work.is_left[pending + 1] = True, False
            pending += 2
    return count, n_free


@entry_kernel()
def _close_gaps(child: Nodes, count: Index, n_free: Index, watched: Index, work: Surgery) -> Index:
    """Move the last nodes into the freed numbers that are left, in the order they were freed.

    Returns the new number of the ``watched`` one.
    """
    for i in range(n_free):
        gap = work.free[i]
        if gap >= count:
            continue
        last = count - 1
        while child[last].parent == REMOVED:
            last -= 1
        if gap > last:
            count = last + 1
            continue
        count = last
        child[gap] = child[last]
        moved = child[gap]
        if child[moved.parent].left == last:
            child[moved.parent].left = gap
        else:
            child[moved.parent].right = gap
        if moved.left != LEAF:
            child[moved.left].parent = child[moved.right].parent = gap
        if watched == last:
            watched = gap
    return watched
