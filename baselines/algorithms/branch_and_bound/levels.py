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
FIRST, SECOND, BOTH = 0, 1, 2
"""What a level does next: try its column's first side, its second, or weigh both."""


class Levels(NamedTuple):
    """The path from the root to the node that is being searched, one line per level."""

    node: NDArray[np.int64]  # (n_levels,)
    conditions: NDArray[np.int64]  # (n_levels, n_levels), that lead to the node, sorted
    candidates: NDArray[np.int64]  # (n_levels, n_columns), that split the rows of the node
    n_candidates: NDArray[np.int64]  # (n_levels,)
    at: NDArray[np.int64]  # (n_levels,), which candidate is being tried
    step: NDArray[np.int64]  # (n_levels,), what is to be done next with it
    limit: NDArray[np.float64]  # (n_levels,), errors that a tree must stay below to be of use
    best: NDArray[np.float64]  # (n_levels,), the same now that some trees are known
    least: NDArray[np.float64]  # (n_levels,), that all trees rejected so far have at least
    first: NDArray[np.int64]  # (n_levels,), the side of the candidate that is tried first
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
        node=integers(n),
        conditions=integers(n, n),
        candidates=integers(n, n_columns),
        n_candidates=integers(n),
        at=integers(n),
        step=integers(n),
        limit=np.zeros(n),
        best=np.zeros(n),
        least=np.zeros(n),
        first=integers(n),
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


@kernel()
def side_in_turn(levels: Levels, depth: Index) -> Index:
    """The side of the candidate that the level tries now."""
    first = levels.first[depth]
    return 1 - first if levels.step[depth] == SECOND else first


@kernel(inline="always")  # no kernel can return an array
def cover_of(search: Search, depth: Index) -> Words:
    """The rows of the node that a level searches."""
    cover = search.rows.everyone
    if depth > 0:
        cover = search.levels.sides[depth - 1, side_in_turn(search.levels, depth - 1)]
    return cover
