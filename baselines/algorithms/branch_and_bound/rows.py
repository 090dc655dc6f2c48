"""Training rows as sets of bits, sorted by class."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.bits import bit_count, pack
from gradtree.compiling import entry_kernel

Words = NDArray[np.uint64]
Index = Any
"""An integer, of Python or of a kernel."""

WORD_BITS = 64
NO, YES = 0, 1
"""The two sides of a column."""


class SortedRows(NamedTuple):
    """Yes/no columns over rows that are sorted by class, each class in words of its own."""

    yes: Words  # (n_columns, n_words), rows with a yes in that column
    everyone: Words  # (n_words,)
    starts: NDArray[np.int64]  # (n_classes + 2,): of each class, of rows of no class, and the end
    class_rows: NDArray[np.int64]  # (n_classes,), decide between classes that tie in a leaf


def encode(columns: NDArray[np.bool_], labels: NDArray[np.intp]) -> SortedRows:
    """Sort the rows by class and write them as bits.

    As the library does, take the number of distinct labels as the number of
    classes, whatever the labels are. Where labels are not 0, 1, … without gaps,
    rows of larger labels belong to no class and count as no error; of two
    classes, the second one takes all rows that are not of class 0.
    """
    present, counts = np.unique(labels, return_counts=True)
    n_classes = max(len(present), 2)
    group = groups_of(labels, n_classes)
    members = [np.flatnonzero(group == number) for number in range(n_classes + 1)]
    words = [-(-len(rows) // WORD_BITS) for rows in members]
    starts = np.concatenate([[0], np.cumsum(words)]).astype(np.int64)
    yes = np.zeros((columns.shape[1], starts[-1]), dtype=np.uint64)
    everyone = np.zeros(starts[-1], dtype=np.uint64)
    for rows, start, end in zip(members, starts[:-1], starts[1:], strict=True):
        if len(rows):
            yes[:, start:end] = pack(columns[rows].T)
            everyone[start:end] = pack(np.ones((1, len(rows)), dtype=np.bool_))[0]
    class_rows = np.zeros(n_classes, dtype=np.int64)
    class_rows[: len(counts)] = counts
    return SortedRows(yes, everyone, starts, class_rows)


def groups_of(labels: NDArray[np.intp], n_classes: int) -> NDArray[np.intp]:
    """The class that each row counts for; ``n_classes`` if for none."""
    return np.minimum(labels, n_classes) if n_classes > 2 else (labels != 0).astype(np.intp)


@entry_kernel()
def keep_side(cover: Words, yes: Words, side: Index, kept: Words) -> Index:
    """Put the rows of ``cover`` on that side of a column into ``kept``; return their number."""
    count = np.uint64(0)
    for word in range(len(cover)):
        met = yes[word] if side else ~yes[word]
        kept[word] = cover[word] & met
        count += bit_count(kept[word])
    return np.int64(count)


@entry_kernel()
def count_yes(cover: Words, yes: Words) -> Index:
    count = np.uint64(0)
    for word in range(len(cover)):
        count += bit_count(cover[word] & yes[word])
    return np.int64(count)


@entry_kernel()
def count_outside(these: Words, cover: Words) -> Index:
    """How many of these rows are not in ``cover``."""
    count = np.uint64(0)
    for word in range(len(cover)):
        count += bit_count(these[word] & ~cover[word])
    return np.int64(count)


@entry_kernel()
def distance(these: Words, those: Words) -> Index:
    """How many rows are in one of the two sets alone."""
    return count_outside(these, those) + count_outside(those, these)


@entry_kernel()
def count_classes(rows: SortedRows, cover: Words, counts: NDArray[np.int64]) -> None:
    for number in range(len(counts)):
        count = np.uint64(0)
        for word in range(rows.starts[number], rows.starts[number + 1]):
            count += bit_count(cover[word])
        counts[number] = np.int64(count)


@entry_kernel()
def leaf(counts: NDArray[np.int64], class_rows: NDArray[np.int64]) -> tuple[Index, Index]:
    """Errors of a leaf with such rows, and its class: of tied ones that with more rows in all."""
    best = np.int64(0)
    total = counts[0]
    for number in range(1, len(class_rows)):
        total += counts[number]
        # The library decides ties by the rows of the class in the whole training set.
        if counts[number] > counts[best] or (
            counts[number] == counts[best] and class_rows[number] > class_rows[best]
        ):
            best = np.int64(number)
    return total - counts[best], best
