"""What a search works on: sets of conditions, the path to the node being searched, signals."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.branch_and_bound.pair_counts import Counter, room_for_counts
from baselines.algorithms.branch_and_bound.rows import Index, SortedRows, Words
from baselines.algorithms.branch_and_bound.stumps import Stumps, room_for_stumps
from gradtree.compiling import entry_kernel, kernel

ABSENT = -1
MOST_NODES = 2**25
ROOT_CODE = 0
"""Of no condition."""
NO_COLUMN = -1
STOP, FULL = 0, 1
"""Signals: time is up (Python sets it), and no room for more nodes (the search sets it)."""


class Nodes(NamedTuple):
    """One entry per set of conditions ("column 3 yes, column 8 no") met so far."""

    error: NDArray[np.float64]  # of the best tree; infinite until one is found
    bound: NDArray[np.float64]  # fewest errors that any tree can have, as far as is known
    leaf_error: NDArray[np.float64]  # of a single leaf
    test: NDArray[np.int32]  # column at the root of the best tree, or -1 - class of a leaf
    test_no: NDArray[np.int32]  # the same for its children, where a tree of depth two is known
    test_yes: NDArray[np.int32]
    size: NDArray[np.int32]  # nodes of the best tree, as the library counts them
    slots: NDArray[np.int32]  # with codes, a hash table from the code of a set to its entry
    codes: NDArray[np.int64]
    used: NDArray[np.int64]  # number of entries, in an array to be written to


def room_for(n_columns: int, most_conditions: int) -> Nodes:
    """Entries for all sets of up to so many conditions, or as many as can be had.

    Memory that is not written to is not taken from the machine.
    """
    base = 2 * n_columns + 1
    if most_conditions > 0 and base**most_conditions >= 2**63:
        raise ValueError(
            f"DL8.5 cannot number the sets of {most_conditions} conditions on {n_columns} columns; "
            "lower max_depth, or use fewer features"
        )
    sets, total = 1, 1
    for k in range(1, most_conditions + 1):
        sets = sets * 2 * max(n_columns - k + 1, 0) // k
        total += sets
    capacity = min(total, MOST_NODES)
    table = 1 << (2 * capacity).bit_length()
    reals = np.empty((3, capacity))
    whole = np.empty((4, capacity), dtype=np.int32)
    slots = np.zeros(table, dtype=np.int32)  # entry + 1, so that 0 means free
    codes = np.empty(table, dtype=np.int64)
    return Nodes._make([*reals, *whole, slots, codes, np.zeros(1, dtype=np.int64)])


@entry_kernel()
def code_of(conditions: NDArray[np.int64], n: Index, base: Index) -> Index:
    """The code of ``n`` sorted conditions; each is ``2 * column + side``."""
    code, place = np.int64(0), np.int64(1)
    for i in range(n):
        code += (conditions[i] + 1) * place
        place *= base
    return code


@entry_kernel()
def insert(
    conditions: NDArray[np.int64], n: Index, added: Index, enlarged: NDArray[np.int64]
) -> None:
    """Add one to ``n`` sorted conditions."""
    at = 0
    while at < n and conditions[at] < added:
        enlarged[at] = conditions[at]
        at += 1
    enlarged[at] = added
    for i in range(at, n):
        enlarged[i + 1] = conditions[i]


@entry_kernel()
def _slot(nodes: Nodes, code: Index) -> Index:
    """Where the code is in the table, or the free place where it belongs."""
    mask = np.int64(len(nodes.slots) - 1)
    # Codes of neighbouring sets differ in few low digits; multiplying by the golden ratio spreads
    # them over the high bits, which are then the ones to use.
    mixed = np.uint64(code) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64(mixed >> np.uint64(32)) & mask
    while nodes.slots[slot] and nodes.codes[slot] != code:
        slot = (slot + 1) & mask
    return slot


@entry_kernel()
def find(nodes: Nodes, code: Index) -> Index:
    """The entry of that code, or ``ABSENT``."""
    return np.int64(nodes.slots[_slot(nodes, code)]) - 1


@entry_kernel()
def add(nodes: Nodes, code: Index, leaf_error: Index, leaf_class: Index) -> Index:
    """A new entry, so far a leaf; ``ABSENT`` when there is no room."""
    entry = nodes.used[0]
    if entry == len(nodes.error):
        return np.int64(ABSENT)
    nodes.used[0] += 1
    slot = _slot(nodes, code)
    nodes.slots[slot], nodes.codes[slot] = entry + 1, code
    nodes.error[entry], nodes.bound[entry] = np.inf, 0.0
    nodes.leaf_error[entry], nodes.test[entry] = leaf_error, -1 - leaf_class
    nodes.size[entry] = 1
    return entry


class Levels(NamedTuple):
    """The path from the root to the node that is being searched, one line per level."""

    conditions: NDArray[np.int64]  # (n_levels, n_levels), that lead to the node, sorted
    candidates: NDArray[np.int64]  # (n_levels, n_columns), that split the rows of the node
    at: NDArray[np.int64]  # (n_levels,), which candidate is being tried
    turn: NDArray[np.int64]  # (n_levels,), which side of it
    bounds: NDArray[np.float64]  # (n_levels, 2), errors that either side has at least
    children: NDArray[np.int64]  # (n_levels, 2)
    sides: Words  # (n_levels, 2, n_words), the rows on either side
    supports: NDArray[np.int64]  # (n_levels, 2), how many they are
    similar: Words  # (n_levels, 2, n_words), rows of two children seen before
    similar_error: NDArray[np.float64]  # (n_levels, 2), fewest errors on them; < 0 for none


class Search(NamedTuple):
    """Everything a search works on."""

    rows: SortedRows
    nodes: Nodes
    counter: Counter
    stumps: Stumps
    levels: Levels
    max_depth: Index
    min_rows: Index  # fewest in a leaf
    signals: NDArray[np.uint8]  # see STOP and FULL


def prepare(rows: SortedRows, nodes: Nodes, max_depth: int, min_rows: int) -> Search:
    n_columns, n_words = rows.yes.shape
    n = max_depth + 1

    def integers(*shape: int) -> NDArray[np.int64]:
        return np.zeros(shape, dtype=np.int64)

    levels = Levels(
        conditions=integers(n, n),
        candidates=integers(n, n_columns),
        at=integers(n),
        turn=integers(n),
        bounds=np.zeros((n, 2)),
        children=integers(n, 2),
        sides=np.zeros((n, 2, n_words), dtype=np.uint64),
        supports=integers(n, 2),
        similar=np.zeros((n, 2, n_words), dtype=np.uint64),
        similar_error=np.zeros((n, 2)),
    )
    signals = np.zeros(2, dtype=np.uint8)
    counter, stumps = room_for_counts(rows), room_for_stumps(rows)
    return Search(rows, nodes, counter, stumps, levels, max_depth, min_rows, signals)


@kernel(inline="always")  # no kernel can return an array
def cover_of(search: Search, depth: Index) -> Words:
    """The rows of the node that a level searches."""
    cover = search.rows.everyone
    if depth > 0:
        cover = search.levels.sides[depth - 1, search.levels.turn[depth - 1]]
    return cover
