"""The best tree of depth two on a set of rows, from counts of pairs of columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.bits import bit_count
from baselines.algorithms.branch_and_bound.cache import Nodes
from baselines.algorithms.branch_and_bound.rows import Index, SortedRows, Words, leaf
from gradtree.compiling import entry_kernel

IMPOSSIBLE = np.iinfo(np.int32).max // 2


class Pairs(NamedTuple):
    """Working memory.

    Attributes
    ----------
    column : int64, shape (n_columns,)
        Columns that split the rows at all, in order; all others count from these.
    kept : uint64, shape (n_columns, n_words)
        The rows of each, without words that are empty for the whole set.
    starts : int64, shape (n_classes + 2,)
        First word of each class in ``kept``.
    counts : int64, shape (n_columns, n_classes + 1)
        Rows with a yes, per class.
    support : int64, shape (n_columns,)
    no, yes : int32, shape (n_columns, n_columns)
        Errors when the rows with a no (a yes) in the first column are split by the second.
    total, side : int64, shape (n_classes + 1,)
    """

    column: NDArray[np.int64]
    kept: Words
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]
    support: NDArray[np.int64]
    no: NDArray[np.int32]
    yes: NDArray[np.int32]
    total: NDArray[np.int64]
    side: NDArray[np.int64]


def room_for_pairs(rows: SortedRows) -> Pairs:
    n_columns, n_words = rows.yes.shape
    n_groups = len(rows.starts) - 1
    return Pairs(
        column=np.empty(n_columns, dtype=np.int64),
        kept=np.empty((n_columns, n_words), dtype=np.uint64),
        starts=np.empty(n_groups + 1, dtype=np.int64),
        counts=np.empty((n_columns, n_groups), dtype=np.int64),
        support=np.empty(n_columns, dtype=np.int64),
        no=np.empty((n_columns, n_columns), dtype=np.int32),
        yes=np.empty((n_columns, n_columns), dtype=np.int32),
        total=np.empty(n_groups, dtype=np.int64),
        side=np.empty(n_groups, dtype=np.int64),
    )


@entry_kernel()
def best_of_depth_two(
    rows: SortedRows,
    nodes: Nodes,
    node: Index,
    cover: Words,
    support: Index,
    candidates: NDArray[np.int64],
    min_rows: Index,
    pairs: Pairs,
) -> None:
    """Write the best tree of depth two for the rows of ``cover`` into ``node``.

    Of equally good trees the first is taken, in the order of columns. Two
    habits of the library's are kept. A column whose yes-side could not be split
    further (one row, if leaves of one row are allowed) never becomes the root.
    And a tree that ends the search, because with a leaf on its yes-side it
    reaches the lower bound, counts as one node, which may decide between it and
    equally good trees further up.
    """
    n = _select(rows, cover, support, candidates, min_rows, pairs)
    _judge_pairs(rows, n, support, min_rows, pairs)
    bound = nodes.bound[node]
    best = np.inf
    for i in range(n):
        rows_yes = pairs.support[i]
        rows_no = support - rows_yes
        if rows_yes < 2 * min_rows:
            continue
        for group in range(len(pairs.total)):
            pairs.side[group] = pairs.total[group] - pairs.counts[i, group]
        leaf_no, class_no = leaf(pairs.side, rows.class_rows)
        error_no, test_no = _best_split(pairs.no[i], n, leaf_no, best, -np.inf)
        if rows_no < 2 * min_rows:
            error_no, test_no = float(leaf_no), -1
        if error_no >= best:
            continue
        leaf_yes, class_yes = leaf(pairs.counts[i], rows.class_rows)
        reached = error_no + leaf_yes == bound
        if reached:
            error_yes, test_yes = float(leaf_yes), -1
        else:
            error_yes, test_yes = _best_split(
                pairs.yes[i], n, leaf_yes, best - error_no, bound - error_no
            )
            if error_yes >= best - error_no:
                continue
        best = error_no + error_yes
        nodes.error[node] = best
        nodes.test[node] = pairs.column[i]
        nodes.test_no[node] = pairs.column[test_no] if test_no >= 0 else -1 - class_no
        nodes.test_yes[node] = pairs.column[test_yes] if test_yes >= 0 else -1 - class_yes
        nodes.size[node] = 1 if reached else 3 + 2 * (test_no >= 0) + 2 * (test_yes >= 0)
        if best == bound:
            break
    if best == np.inf:
        nodes.error[node] = nodes.leaf_error[node]
    elif (
        nodes.size[node] == 3
        and nodes.test_no[node] == nodes.test_yes[node]
        and nodes.leaf_error[node] == best
    ):
        nodes.size[node], nodes.test[node] = 1, nodes.test_yes[node]


@entry_kernel()
def _best_split(
    errors: NDArray[np.int32], n: Index, leaf_error: Index, limit: Index, enough: Index
) -> tuple[Index, Index]:
    """Fewest errors of a leaf or a split, and the first column that has them, or -1.

    A split as good as a leaf is left out. ``enough`` ends the search; from
    ``limit`` on nothing counts.
    """
    best = float(leaf_error) if leaf_error < limit else np.inf
    test = np.int64(-1)
    for j in range(n):
        error = float(errors[j])
        if error >= limit or errors[j] == IMPOSSIBLE:
            continue
        limit = error
        if error != leaf_error:
            best, test = error, np.int64(j)
        if error == 0 or error == enough:
            break
    return best, test


@entry_kernel()
def _select(
    rows: SortedRows,
    cover: Words,
    support: Index,
    candidates: NDArray[np.int64],
    min_rows: Index,
    pairs: Pairs,
) -> Index:
    """Keep the words that have rows, and the columns that split them; return how many do."""
    n_groups = len(pairs.total)
    n = 0
    for column in candidates:
        yes, kept = rows.yes[column], pairs.kept[n]
        at = 0
        found = np.int64(0)
        for group in range(n_groups):
            pairs.starts[group] = at
            count = np.uint64(0)
            for word in range(rows.starts[group], rows.starts[group + 1]):
                both = cover[word] & yes[word]
                kept[at] = both
                count += bit_count(both)
                # Without a branch: an empty word is overwritten by the next. Deep down most are.
                at += cover[word] != 0
            pairs.counts[n, group] = np.int64(count)
            found += np.int64(count)
        pairs.starts[n_groups] = at
        if found >= min_rows and support - found >= min_rows:
            pairs.column[n], pairs.support[n] = column, found
            n += 1
    for group in range(n_groups):
        count = np.uint64(0)
        for word in range(rows.starts[group], rows.starts[group + 1]):
            count += bit_count(cover[word])
        pairs.total[group] = np.int64(count)
    return n


@entry_kernel()
def _judge_pairs(rows: SortedRows, n: Index, support: Index, min_rows: Index, pairs: Pairs) -> None:
    """Errors of every column below every other one, on either side of it."""
    n_classes = len(rows.class_rows)
    n_groups = len(pairs.total)
    in_classes = np.int64(0)
    for group in range(n_classes):
        in_classes += pairs.total[group]
    for i in range(n):
        pairs.no[i, i] = pairs.yes[i, i] = IMPOSSIBLE
        classed_i = _classed(pairs.counts[i], n_classes)
        for j in range(i + 1, n):
            both = np.int64(0)
            most_both = most_i = most_j = most_none = np.int64(0)
            for group in range(n_groups):
                met = np.uint64(0)
                for word in range(pairs.starts[group], pairs.starts[group + 1]):
                    met += bit_count(pairs.kept[i, word] & pairs.kept[j, word])
                count = np.int64(met)
                both += count
                if group < n_classes:
                    # One intersection gives all four corners, and so both orders of the pair:
                    # the counts of single columns are known, and the corners add up to them.
                    only_i = pairs.counts[i, group] - count
                    only_j = pairs.counts[j, group] - count
                    neither = pairs.total[group] - pairs.counts[i, group] - only_j
                    most_both = max(most_both, count)
                    most_i = max(most_i, only_i)
                    most_j = max(most_j, only_j)
                    most_none = max(most_none, neither)
            i_only, j_only = pairs.support[i] - both, pairs.support[j] - both
            none = support - pairs.support[i] - j_only
            classed_j = _classed(pairs.counts[j], n_classes)
            pairs.yes[i, j] = pairs.yes[j, i] = pairs.no[i, j] = pairs.no[j, i] = IMPOSSIBLE
            if both >= min_rows and i_only >= min_rows:
                pairs.yes[i, j] = classed_i - most_both - most_i
            if both >= min_rows and j_only >= min_rows:
                pairs.yes[j, i] = classed_j - most_both - most_j
            if j_only >= min_rows and none >= min_rows:
                pairs.no[i, j] = in_classes - classed_i - most_j - most_none
            if i_only >= min_rows and none >= min_rows:
                pairs.no[j, i] = in_classes - classed_j - most_i - most_none


@entry_kernel()
def _classed(counts: NDArray[np.int64], n_classes: Index) -> Index:
    """Rows that belong to a class."""
    total = np.int64(0)
    for number in range(n_classes):
        total += counts[number]
    return total
