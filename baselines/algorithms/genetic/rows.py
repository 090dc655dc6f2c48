"""Training rows as bit sets, and the kernels that send them down a tree.

A tree splits at few thresholds per feature, so each possible condition is
written out once as a set of rows. A set on its way down is kept as its
non-empty 64-bit words (their positions and their bits): near the root that is
64 rows per step, deep down no more than the rows that are left.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.bits import bit_count, pack
from baselines.algorithms.genetic.nodes import LEAF, Index, Nodes
from gradtree.compiling import entry_kernel

_NONE, _ALL = np.uint64(0), ~np.uint64(0)


class RowSets(NamedTuple):
    """Sets of training rows, one bit per row in ``n_words`` words."""

    below: NDArray[np.uint64]  # (n_features, n_thresholds, n_words), with at most that threshold
    of_class: NDArray[np.uint64]  # (n_classes, n_words)
    everyone: NDArray[np.uint64]  # (n_words,)


class Descent(NamedTuple):
    """Working memory of a descent: words of sets, and the nodes still to visit with theirs."""

    position: NDArray[np.int32]
    bits: NDArray[np.uint64]
    node: NDArray[np.int64]
    start: NDArray[np.int64]
    size: NDArray[np.int64]


def thresholds_of(X: NDArray[np.float32], n_thresholds: int) -> NDArray[np.float32]:
    """Evenly spaced order statistics of each column, shape (n_features, n_thresholds)."""
    ranks = [int(len(X) / (n_thresholds + 1) * (j + 1)) for j in range(n_thresholds)]
    return np.ascontiguousarray(np.sort(X, axis=0)[ranks].T)


def encode(
    X: NDArray[np.float32], y: NDArray[np.intp], thresholds: NDArray[np.float32], n_classes: int
) -> RowSets:
    """Write out all conditions and classes as sets of rows."""
    below = np.stack(
        [pack(column <= cuts[:, None]) for column, cuts in zip(X.T, thresholds, strict=True)]
    )
    of_class = pack(y == np.arange(n_classes)[:, None])
    return RowSets(below, of_class, pack(np.ones((1, len(y)), dtype=np.bool_))[0])


def workspace(n_words: int, max_depth: int) -> Descent:
    """Memory for trees up to that depth: one set waits per level."""
    levels = max_depth + 2
    position = np.empty(levels * n_words, dtype=np.int32)
    bits = np.empty(levels * n_words, dtype=np.uint64)
    return Descent(position, bits, *np.empty((3, levels), dtype=np.int64))


@entry_kernel()
def _reach(nodes: Nodes, node: Index, rows: RowSets, work: Descent) -> Index:
    """Put the rows that reach ``node`` at the start of ``work``; return their number of words."""
    position, bits = work.position, work.bits
    size = len(rows.everyone)
    for word in range(size):
        position[word] = word
        bits[word] = rows.everyone[word]
    while size and nodes[node].parent >= 0:
        parent = nodes[nodes[node].parent]
        condition = rows.below[parent.feature, parent.cut]
        flip = _ALL if parent.right == node else _NONE
        kept = 0
        for i in range(size):
            remaining = bits[i] & (condition[position[i]] ^ flip)
            position[kept] = position[i]
            bits[kept] = remaining
            kept += remaining != 0  # no branch: an empty word is overwritten by the next
        size = kept
        node = np.int64(nodes[node].parent)
    return size


@entry_kernel()
def send_rows(nodes: Nodes, top: Index, rows: RowSets, work: Descent) -> None:
    """Send the rows that reach ``top`` on; note that nodes are reached, and the hits of leaves.

    Nodes that no row reaches are left as they are.
    """
    size = _reach(nodes, top, rows, work)
    pending = 0
    if size:
        work.node[0], work.start[0], work.size[0] = top, 0, size
        pending = 1
    while pending:
        pending -= 1
        node, start, size = work.node[pending], work.start[pending], work.size[pending]
        here = nodes[node]
        here.reached = 1
        if here.left == LEAF:
            here.hits = _hits(rows.of_class[here.feature], start, size, work)
            continue
        n_left, n_right = _divide(rows.below[here.feature, here.cut], start, size, work)
        # The left set lies behind the right one, so it is taken up first: its place can then be
        # used again, and no more than one set waits per level.
        if n_right:
            work.node[pending], work.start[pending] = here.right, start
            work.size[pending] = n_right
            pending += 1
        if n_left:
            work.node[pending], work.start[pending] = here.left, start + size
            work.size[pending] = n_left
            pending += 1


@entry_kernel()
def _hits(members: NDArray[np.uint64], start: Index, size: Index, work: Descent) -> Index:
    count = _NONE
    for i in range(start, start + size):
        count += bit_count(work.bits[i] & members[work.position[i]])
    return np.int64(count)


@entry_kernel()
def _divide(
    condition: NDArray[np.uint64], start: Index, size: Index, work: Descent
) -> tuple[Index, Index]:
    """Move the rows below the condition behind the set; keep the others in its place."""
    position, bits = work.position, work.bits
    left, right = start + size, start
    for i in range(start, start + size):
        word, met = bits[i], condition[position[i]]
        at = position[i]
        position[left] = at
        bits[left] = word & met
        left += (word & met) != 0
        position[right] = at
        bits[right] = word & ~met
        right += (word & ~met) != 0
    return left - start - size, right - start
