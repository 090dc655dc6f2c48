"""What a search works on: the path from the root to the node being searched, and its state."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.branch_and_bound.cache import Nodes
from baselines.algorithms.branch_and_bound.pair_counts import Counter, room_for_counts
from baselines.algorithms.branch_and_bound.rows import Index, SortedRows, Words
from baselines.algorithms.branch_and_bound.stumps import Stumps, room_for_stumps
from gradtree.compiling import kernel

NO_COLUMN = -1
STOP, FULL = 0, 1
"""Signals: time is up (Python sets it), and no room for more nodes (the search sets it)."""


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
