"""How many rows of a set have a yes in both of two columns, class by class, for every pair.

A candidate divides the rows of a node in two. The pairs are counted on the smaller side alone: on
the larger one they are those of the node less these, and those of the node serve all candidates.

The innermost loops go over columns, from 0 on, and have few arrays each: only such loops become
vector instructions. They go over whole blocks of columns: what is left over would be done one by
one. So arrays have room for a whole number of blocks, of which the last columns have no rows.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.bits import bit_count
from baselines.algorithms.branch_and_bound.rows import WORD_BITS, SortedRows, Words
from gradtree.compiling import entry_kernel, kernel

BLOCK = 64
"""Columns; a multiple of what the widest vector instructions do in one step of a loop."""
MISSING, THERE = 0, 1
NOBODY = -1
COUNT = np.int32
"""Of counts of rows, and numbers of columns."""


class Counts(NamedTuple):
    """Counts over one set of rows. A column goes by its place among those counted."""

    single: NDArray[Any]  # (n_classes + 1, n_columns), rows with a yes, per class
    # (n_columns, n_classes + 1, n_columns), with a yes in the first and in the last column, from
    # the block of the first on.
    pairs: NDArray[Any]
    total: NDArray[np.int64]  # (n_classes + 1,)


class Counter(NamedTuple):
    """Counts of a node's rows and of those on one side of its candidate."""

    whole: Counts  # of all rows of the node
    part: Counts  # of the smaller side
    # (3,): whether answers and whole are those of the node that is searched, and the place of the
    # candidate of part, or NOBODY.
    state: NDArray[np.int64]
    answers: NDArray[np.uint8]  # (n_rows, n_columns), of the node's rows to its candidates
    kept: Words  # (n_words, n_columns), rows of one class in a set that have a yes, side by side
    places: NDArray[np.int64]  # (n_rows,), the rows of a set by their bit
    starts: NDArray[np.int64]  # (n_classes + 2,), the first of each class
    met: NDArray[np.int64]  # (n_columns,)


@entry_kernel()
def whole_blocks(n: Any) -> Any:
    """So many columns, or the few more that fill a block."""
    return -(-n // BLOCK) * BLOCK


def room_for_counts(rows: SortedRows) -> Counter:
    n_words = rows.yes.shape[1]
    n_columns, n_groups = whole_blocks(len(rows.yes)), len(rows.starts) - 1

    def counts() -> Counts:
        return Counts(
            single=np.empty((n_groups, n_columns), dtype=COUNT),
            pairs=np.empty((n_columns, n_groups, n_columns), dtype=COUNT),
            total=np.empty(n_groups, dtype=np.int64),
        )

    return Counter(
        whole=counts(),
        part=counts(),
        state=np.array([MISSING, MISSING, NOBODY]),
        answers=np.empty((n_words * WORD_BITS, n_columns), dtype=np.uint8),
        kept=np.empty((n_words, n_columns), dtype=np.uint64),
        places=np.empty(n_words * WORD_BITS, dtype=np.int64),
        starts=np.empty(n_groups + 1, dtype=np.int64),
        met=np.empty(n_columns, dtype=np.int64),
    )


@kernel()
def begin_node(counter: Counter) -> None:
    """Another node is searched: what was counted is of no use."""
    counter.state[0] = counter.state[1] = MISSING
    counter.state[2] = NOBODY


@kernel()
def count_whole(
    rows: SortedRows, cover: Words, columns: NDArray[np.int64], counter: Counter
) -> None:
    """Count the rows of the node, unless that has been done."""
    _read_answers(rows, cover, columns, counter)
    if counter.state[1] == MISSING:
        counter.state[1] = THERE
        _count(rows, cover, len(columns), counter, counter.whole)


@kernel()
def count_part(
    rows: SortedRows,
    cover: Words,
    side: Words,
    candidate: np.int64,
    columns: NDArray[np.int64],
    counter: Counter,
) -> None:
    """Count the rows on one side of a candidate, unless that has been done."""
    _read_answers(rows, cover, columns, counter)
    if counter.state[2] != candidate:
        counter.state[2] = candidate
        _count(rows, side, len(columns), counter, counter.part)


@kernel()
def _read_answers(
    rows: SortedRows, cover: Words, columns: NDArray[np.int64], counter: Counter
) -> None:
    if counter.state[0] == THERE:
        return
    counter.state[0] = THERE
    answers, places = counter.answers, counter.places
    n_rows = _find_places(rows, cover, counter)
    for at in range(n_rows):
        row = places[at]
        line, word, bit = answers[row], row >> 6, np.uint64(row & 63)
        for place in range(len(columns)):
            line[place] = (rows.yes[columns[place], word] >> bit) & np.uint64(1)
        line[len(columns) : whole_blocks(len(columns))] = 0


@kernel()
def _find_places(rows: SortedRows, cover: Words, counter: Counter) -> np.int64:
    """Note the bits of ``cover`` that are set, class by class; return how many they are."""
    places, starts = counter.places, counter.starts
    n_groups = len(rows.starts) - 1
    at = 0
    for group in range(n_groups):
        starts[group] = at
        for word in range(rows.starts[group], rows.starts[group + 1]):
            bits = cover[word]
            place = np.int64(word) * WORD_BITS
            while bits:
                if bits & np.uint64(1):
                    places[at] = place
                    at += 1
                bits >>= np.uint64(1)
                place += 1
    starts[n_groups] = at
    return np.int64(at)


@kernel()
def _count(rows: SortedRows, cover: Words, n: np.int64, counter: Counter, counts: Counts) -> None:
    _find_places(rows, cover, counter)
    starts, width = counter.starts, whole_blocks(n)
    for group in range(len(counts.total)):
        counts.total[group] = starts[group + 1] - starts[group]
        n_words = _gather(starts[group], starts[group + 1], width, counter)
        words = counter.kept[:n_words]
        _count_single(words, counter.met[:width], counts.single[group, :width])
        for one in range(n):
            first = one // BLOCK * BLOCK
            line = counts.pairs[one, group, first:width]
            if counts.single[group, one] == 0:
                line[:] = 0
            else:
                _count_both(words, one, first, counter.met[: width - first], line)


@kernel(inline="always")
def _gather(start: np.int64, end: np.int64, width: np.int64, counter: Counter) -> np.int64:
    """Write the rows of a class side by side; return how many words they take."""
    places, answers, kept = counter.places, counter.answers, counter.kept
    n_words = np.int64(0)
    for at in range(start, end):
        bit = np.uint64((at - start) & 63)
        if bit == 0:
            kept[n_words, :width] = 0
            n_words += 1
        target, line = kept[n_words - 1, :width], answers[places[at], :width]
        for place in range(width):
            target[place] |= np.uint64(line[place]) << bit
    return n_words


@kernel(inline="always")
def _count_single(words: Words, met: NDArray[np.int64], counts: NDArray[Any]) -> None:
    met[:] = 0
    for word in range(len(words)):
        line = words[word, : len(met)]
        for place in range(len(met)):
            met[place] += np.int64(bit_count(line[place]))
    for place in range(len(met)):
        counts[place] = met[place]


@kernel(inline="always")
def _count_both(
    words: Words, one: np.int64, first: np.int64, met: NDArray[np.int64], counts: NDArray[Any]
) -> None:
    """Rows of one column that are also rows of each from the first on."""
    met[:] = 0
    for word in range(len(words)):
        mine, line = words[word, one], words[word, first : first + len(met)]
        for place in range(len(met)):
            met[place] += np.int64(bit_count(mine & line[place]))
    for place in range(len(met)):
        counts[place] = met[place]
