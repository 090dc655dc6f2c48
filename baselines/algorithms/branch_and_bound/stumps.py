"""The best split of the rows on either side of every column, from counts of pairs of columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.branch_and_bound.pair_counts import BLOCK, Counter, whole_blocks
from baselines.algorithms.branch_and_bound.rows import NO, YES, Index, SortedRows
from gradtree.compiling import kernel

Integers = NDArray[np.int32]
IMPOSSIBLE = np.iinfo(np.int32).max // 2
NO_PAIR = np.iinfo(np.int32).max // 4
"""More rows with both than any column has: no corner is large enough for a leaf."""


class Stumps(NamedTuple):
    """Working memory: the best split of the rows on either side of every column.

    Attributes
    ----------
    error, test : int32, shape (2, n_columns)
        Fewest errors when the rows with a no (a yes) are split, and the first column to do so.
    single : int32, shape (n_classes + 1, n_columns)
        Rows with a yes, per class.
    support, classed : int32, shape (n_columns,)
        Rows with a yes, all of them and those that belong to a class.
    both : int32, shape (n_columns,)
        Rows with a yes in one column and in each of the others.
    met : int32, shape (n_columns,)
        The same for one class.
    most : int32, shape (4, n_columns)
        The largest class of the rows with a yes in both, in one, in the other, in neither.
    judged : int32, shape (n_columns,)
        Errors of a column's pairs.
    total, side : int64, shape (n_classes + 1,)
    """

    error: NDArray[np.int32]
    test: NDArray[np.int32]
    single: NDArray[np.int32]
    support: NDArray[np.int32]
    classed: NDArray[np.int32]
    both: NDArray[np.int32]
    met: NDArray[np.int32]
    most: NDArray[np.int32]
    judged: NDArray[np.int32]
    total: NDArray[np.int64]
    side: NDArray[np.int64]


def room_for_stumps(rows: SortedRows) -> Stumps:
    n_columns, n_groups = whole_blocks(len(rows.yes)), len(rows.starts) - 1

    def integers(*shape: int) -> NDArray[np.int32]:
        return np.empty(shape, dtype=np.int32)

    return Stumps(
        error=integers(2, n_columns),
        test=integers(2, n_columns),
        single=integers(n_groups, n_columns),
        support=integers(n_columns),
        classed=integers(n_columns),
        both=integers(n_columns),
        met=integers(n_columns),
        most=integers(4, n_columns),
        judged=integers(n_columns),
        total=np.empty(n_groups, dtype=np.int64),
        side=np.empty(n_groups, dtype=np.int64),
    )


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
    error, test = stumps.error, stumps.test
    in_classes = np.int64(0)
    for group in range(n_classes):
        in_classes += stumps.total[group]
    width = whole_blocks(n)
    error[:, :width] = IMPOSSIBLE
    test[:, :width] = -1
    least, every = np.int32(min_rows), np.int32(in_classes)
    for one in range(n):
        _count_corners(width, one, counter, is_rest, n_classes, stumps)
        _split_one(width, one, least, every, np.int32(n_rows), stumps)
        _split_others(width, one, least, every, np.int32(n_rows), stumps)


@kernel(inline="always")
def _count_corners(
    width: Index, one: Index, counter: Counter, is_rest: bool, n_classes: Index, stumps: Stumps
) -> None:
    """The rows and the largest class in the corners of a column's pairs with later ones."""
    first = one // BLOCK * BLOCK
    both, met = stumps.both[first:width], stumps.met[first:width]
    in_both, in_one = stumps.most[0, first:width], stumps.most[1, first:width]
    in_other, in_none = stumps.most[2, first:width], stumps.most[3, first:width]
    both[:] = 0
    for corner in range(4):
        stumps.most[corner, first:width] = 0
    for group in range(n_classes + 1):
        if stumps.total[group] == 0:
            continue
        count = counter.part.pairs[one, group, first:width]
        if is_rest:
            _subtract(counter.whole.pairs[one, group, first:width], count, met)
            count = met
        if group == n_classes:
            _add(count, both)
            continue
        single = stumps.single[group]
        mine, rest = single[one], np.int32(stumps.total[group] - single[one])
        _largest_with(count, mine, both, in_both, in_one)
        _largest_without(count, single[first:width], rest, in_other, in_none)
    both[: one + 1 - first] = NO_PAIR


@kernel(inline="always")
def _subtract(whole: Integers, part: Integers, rest: Integers) -> None:
    for place in range(len(rest)):
        rest[place] = whole[place] - part[place]


@kernel(inline="always")
def _add(more: Integers, total: Integers) -> None:
    for place in range(len(total)):
        total[place] += more[place]


@kernel(inline="always")
def _largest_with(
    count: Integers, mine: Index, both: Integers, in_both: Integers, in_one: Integers
) -> None:
    for place in range(len(both)):
        met = count[place]
        both[place] += met
        in_both[place] = max(in_both[place], met)
        in_one[place] = max(in_one[place], np.int32(mine - met))


@kernel(inline="always")
def _largest_without(
    count: Integers, single: Integers, rest: Index, in_other: Integers, in_none: Integers
) -> None:
    for place in range(len(count)):
        only_other = np.int32(single[place] - count[place])
        in_other[place] = max(in_other[place], only_other)
        in_none[place] = max(in_none[place], np.int32(rest - only_other))


@kernel(inline="always")
def _split_one(
    width: Index, one: Index, least: Index, in_classes: Index, n_rows: Index, stumps: Stumps
) -> None:
    """Split the rows on either side of this column by later ones."""
    first = one // BLOCK * BLOCK
    both, support = stumps.both[first:width], stumps.support[first:width]
    in_both, in_one = stumps.most[0, first:width], stumps.most[1, first:width]
    in_other, in_none = stumps.most[2, first:width], stumps.most[3, first:width]
    judged, mine, classed = stumps.judged[first:width], stumps.support[one], stumps.classed[one]
    fewest = _judge_yes_of_one(both, in_both, in_one, mine, classed, least, judged)
    _note_first(judged, fewest, one, first, YES, stumps)
    rest, classed_no = np.int32(n_rows - mine), np.int32(in_classes - classed)
    fewest = _judge_no_of_one(both, support, in_other, in_none, rest, classed_no, least, judged)
    _note_first(judged, fewest, one, first, NO, stumps)


@kernel(inline="always")
def _judge_yes_of_one(
    both: Integers,
    in_both: Integers,
    in_one: Integers,
    mine: Index,
    classed: Index,
    least: Index,
    judged: Integers,
) -> Index:
    fewest = np.int32(IMPOSSIBLE)
    for place in range(len(judged)):
        error = np.int32(np.int32(classed - in_both[place]) - in_one[place])
        possible = (both[place] >= least) & (np.int32(mine - both[place]) >= least)
        judged[place] = error if possible else np.int32(IMPOSSIBLE)
        fewest = min(fewest, judged[place])
    return fewest


@kernel(inline="always")
def _judge_no_of_one(
    both: Integers,
    support: Integers,
    in_other: Integers,
    in_none: Integers,
    rest: Index,
    classed: Index,
    least: Index,
    judged: Integers,
) -> Index:
    fewest = np.int32(IMPOSSIBLE)
    for place in range(len(judged)):
        only_other = np.int32(support[place] - both[place])
        error = np.int32(np.int32(classed - in_other[place]) - in_none[place])
        possible = (only_other >= least) & (np.int32(rest - only_other) >= least)
        judged[place] = error if possible else np.int32(IMPOSSIBLE)
        fewest = min(fewest, judged[place])
    return fewest


@kernel()
def _note_first(
    judged: Integers, fewest: Index, one: Index, first: Index, side: Index, stumps: Stumps
) -> None:
    if fewest < stumps.error[side, one]:
        place = 0
        while judged[place] != fewest:
            place += 1
        stumps.error[side, one], stumps.test[side, one] = fewest, first + place


@kernel(inline="always")
def _split_others(
    width: Index, one: Index, least: Index, in_classes: Index, n_rows: Index, stumps: Stumps
) -> None:
    """Split the rows on either side of later columns by this one."""
    first = one // BLOCK * BLOCK
    both, support = stumps.both[first:width], stumps.support[first:width]
    classed, judged = stumps.classed[first:width], stumps.judged[first:width]
    in_both, in_one = stumps.most[0, first:width], stumps.most[1, first:width]
    in_other, in_none = stumps.most[2, first:width], stumps.most[3, first:width]
    _judge_yes_of_others(both, support, classed, in_both, in_other, least, judged)
    _keep_better(judged, one, stumps.error[YES, first:width], stumps.test[YES, first:width])
    mine, rest = stumps.support[one], np.int32(n_rows - stumps.support[one])
    _judge_no_of_others(
        both, support, classed, in_one, in_none, mine, rest, in_classes, least, judged
    )
    _keep_better(judged, one, stumps.error[NO, first:width], stumps.test[NO, first:width])


@kernel(inline="always")
def _judge_yes_of_others(
    both: Integers,
    support: Integers,
    classed: Integers,
    in_both: Integers,
    in_other: Integers,
    least: Index,
    judged: Integers,
) -> None:
    for place in range(len(judged)):
        error = np.int32(np.int32(classed[place] - in_both[place]) - in_other[place])
        only_other = np.int32(support[place] - both[place])
        possible = (both[place] >= least) & (only_other >= least)
        judged[place] = error if possible else np.int32(IMPOSSIBLE)


@kernel(inline="always")
def _judge_no_of_others(
    both: Integers,
    support: Integers,
    classed: Integers,
    in_one: Integers,
    in_none: Integers,
    mine: Index,
    rest: Index,
    in_classes: Index,
    least: Index,
    judged: Integers,
) -> None:
    for place in range(len(judged)):
        error = np.int32(np.int32(in_classes - classed[place]) - in_one[place])
        error = np.int32(error - in_none[place])
        only_other = np.int32(support[place] - both[place])
        possible = np.int32(mine - both[place]) >= least
        possible &= np.int32(rest - only_other) >= least
        judged[place] = error if possible else np.int32(IMPOSSIBLE)


@kernel()
def _keep_better(judged: Integers, one: Index, error: Integers, test: Integers) -> None:
    by_one = np.int32(one)
    for place in range(len(judged)):
        better = judged[place] < error[place]
        error[place] = judged[place] if better else error[place]
        test[place] = by_one if better else test[place]
