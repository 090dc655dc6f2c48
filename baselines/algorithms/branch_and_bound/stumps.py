"""The best split of the rows on either side of every column, from counts of pairs of columns."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.branch_and_bound.pair_counts import BLOCK, COUNT, Counter, whole_blocks
from baselines.algorithms.branch_and_bound.rows import NO, YES, Index, SortedRows
from gradtree.compiling import kernel

Counts = NDArray[np.int32]
BOTH, ONE, OTHER, NEITHER = 0, 1, 2, 3
"""The corners of a pair of columns: which of the two say yes."""
IMPOSSIBLE = -1
"""In place of hits, where a side of a split has too few rows for a leaf."""


class Stumps(NamedTuple):
    """Work space: the best split of the rows on either side of every column."""

    hits: Counts  # (2, n_columns), most rows that are right when those with a no (a yes) are split
    test: Counts  # (2, n_columns), the first column to do so
    single: Counts  # (n_classes + 1, n_columns), rows with a yes, per class
    support: Counts  # (n_columns,), rows with a yes
    classed: Counts  # (n_columns,), those of them that belong to a class
    rows: Counts  # (4, n_columns), in the corners of a column's pairs
    most: Counts  # (4, n_columns), those of the largest class there
    met: Counts  # (n_columns,), rows of one class with a yes in both
    judged: Counts  # (n_columns,), hits of a column's pairs
    total: NDArray[np.int64]  # (n_classes + 1,)
    side: NDArray[np.int64]  # (n_classes + 1,)


def room_for_stumps(rows: SortedRows) -> Stumps:
    n_columns, n_groups = whole_blocks(len(rows.yes)), len(rows.starts) - 1
    shapes = [(2,), (2,), (n_groups,), (), (), (4,), (4,), (), ()]
    counts = [np.empty((*shape, n_columns), dtype=COUNT) for shape in shapes]
    return Stumps(*counts, *np.empty((2, n_groups), dtype=np.int64))


@kernel(inline="always")
def take_single(
    n: Index, counter: Counter, is_rest: bool, n_classes: Index, stumps: Stumps
) -> Index:
    """Take over the counts of single columns; return the number of rows."""
    width = whole_blocks(n)
    support, classed = stumps.support[:width], stumps.classed[:width]
    support[:] = 0
    classed[:] = 0
    n_rows = np.int64(0)
    for group in range(n_classes + 1):
        part, single = counter.part.single[group, :width], stumps.single[group, :width]
        total = np.int64(counter.part.total[group])
        if is_rest:
            whole = counter.whole.single[group, :width]
            total = np.int64(counter.whole.total[group]) - total
            for place in range(width):
                single[place] = whole[place] - part[place]
        else:
            for place in range(width):
                single[place] = part[place]
        for place in range(width):
            support[place] += single[place]
        if group < n_classes:
            for place in range(width):
                classed[place] += single[place]
        stumps.total[group] = total
        n_rows += total
    return n_rows


@kernel()
def judge_pairs(
    n: Index,
    n_rows: Index,
    counter: Counter,
    is_rest: bool,
    n_classes: Index,
    min_rows: Index,
    stumps: Stumps,
) -> None:
    """Find the best split of the rows on either side of every column.

    One count of rows with a yes in both gives all four corners of a pair, and so both of its
    orders: the counts of single columns are known, and the corners add up to them.
    """
    width = whole_blocks(n)
    stumps.hits[:, :width] = IMPOSSIBLE
    stumps.test[:, :width] = -1
    for one in range(n):
        first = one // BLOCK * BLOCK
        _count_corners(first, width, one, n_rows, counter, is_rest, n_classes, stumps)
        best = _judge(first, width, BOTH, ONE, min_rows, stumps)
        _note_first(best, one, first, YES, stumps)
        best = _judge(first, width, OTHER, NEITHER, min_rows, stumps)
        _note_first(best, one, first, NO, stumps)
        _judge(first, width, BOTH, OTHER, min_rows, stumps)
        _keep_better(one, first, width, YES, stumps)
        _judge(first, width, ONE, NEITHER, min_rows, stumps)
        _keep_better(one, first, width, NO, stumps)


@kernel(inline="always")
def _count_corners(
    first: Index,
    width: Index,
    one: Index,
    n_rows: Index,
    counter: Counter,
    is_rest: bool,
    n_classes: Index,
    stumps: Stumps,
) -> None:
    """The rows and the largest class in the corners of a column's pairs with later ones."""
    both, met = stumps.rows[BOTH, first:width], stumps.met[first:width]
    both[:] = 0
    stumps.most[:, first:width] = 0
    for group in range(n_classes + 1):
        if stumps.total[group] == 0:
            continue
        count = counter.part.pairs[one, group, first:width]
        if is_rest:
            _subtract(counter.whole.pairs[one, group, first:width], count, met)
            count = met
        _add(count, both)
        if group < n_classes:
            single = stumps.single[group]
            mine, rest = np.int64(single[one]), stumps.total[group] - single[one]
            _largest(count, mine, stumps.most[BOTH, first:width], stumps.most[ONE, first:width])
            _subtract(single[first:width], count, met)
            _largest(met, rest, stumps.most[OTHER, first:width], stumps.most[NEITHER, first:width])
    mine, rest = np.int64(stumps.support[one]), n_rows - stumps.support[one]
    _remaining(both, mine, stumps.rows[ONE, first:width])
    _subtract(stumps.support[first:width], both, stumps.rows[OTHER, first:width])
    _remaining(stumps.rows[OTHER, first:width], rest, stumps.rows[NEITHER, first:width])
    for corner in (BOTH, NEITHER):  # earlier columns have had their turn
        stumps.rows[corner, first : one + 1] = IMPOSSIBLE


@kernel(inline="always")
def _subtract(whole: Counts, part: Counts, rest: Counts) -> None:
    for place in range(len(rest)):
        rest[place] = whole[place] - part[place]


@kernel(inline="always")
def _remaining(part: Counts, whole: Index, rest: Counts) -> None:
    for place in range(len(rest)):
        rest[place] = whole - part[place]


@kernel(inline="always")
def _add(more: Counts, total: Counts) -> None:
    for place in range(len(total)):
        total[place] += more[place]


@kernel(inline="always")
def _largest(count: Counts, whole: Index, inside: Counts, outside: Counts) -> None:
    """Raise the largest class among those counted, and among the others of ``whole`` rows."""
    for place in range(len(count)):
        inside[place] = max(inside[place], count[place])
        outside[place] = max(outside[place], COUNT(whole - count[place]))


@kernel(inline="always")
def _judge(
    first: Index, width: Index, here: Index, there: Index, min_rows: Index, stumps: Stumps
) -> Index:
    """Hits of the splits into two corners; return the most."""
    rows_here, rows_there = stumps.rows[here, first:width], stumps.rows[there, first:width]
    most_here, most_there = stumps.most[here, first:width], stumps.most[there, first:width]
    judged = stumps.judged[first:width]
    best, never, least = COUNT(IMPOSSIBLE), COUNT(IMPOSSIBLE), COUNT(min_rows)
    for place in range(len(judged)):
        possible = (rows_here[place] >= least) & (rows_there[place] >= least)
        hits = COUNT(most_here[place] + most_there[place])
        judged[place] = hits if possible else never
        best = max(best, judged[place])
    return best


@kernel()
def _note_first(best: Index, one: Index, first: Index, side: Index, stumps: Stumps) -> None:
    """A split of this column's side by a later one."""
    if best > stumps.hits[side, one]:
        place = first
        while stumps.judged[place] != best:
            place += 1
        stumps.hits[side, one], stumps.test[side, one] = best, place


@kernel(inline="always")
def _keep_better(one: Index, first: Index, width: Index, side: Index, stumps: Stumps) -> None:
    """Splits of later columns' sides by this one."""
    hits, test = stumps.hits[side, first:width], stumps.test[side, first:width]
    judged = stumps.judged[first:width]
    for place in range(len(judged)):
        better = judged[place] > hits[place]
        hits[place] = judged[place] if better else hits[place]
        test[place] = COUNT(one) if better else test[place]
