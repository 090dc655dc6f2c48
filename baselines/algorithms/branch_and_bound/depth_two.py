"""The best tree of a node with two levels left, from the best splits below every column."""

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.branch_and_bound.pair_counts import Counter, count_part, count_whole
from baselines.algorithms.branch_and_bound.rows import NO, YES, Index, SortedRows, Words, leaf
from baselines.algorithms.branch_and_bound.state import Nodes, Search, cover_of
from baselines.algorithms.branch_and_bound.stumps import Stumps, judge_pairs, take_single
from gradtree.compiling import kernel


@kernel(inline="always")
def best_of_depth_two(
    rows: SortedRows,
    nodes: Nodes,
    node: Index,
    columns: NDArray[np.int64],
    counter: Counter,
    is_rest: bool,
    min_rows: Index,
    stumps: Stumps,
) -> None:
    """Write the best tree of depth two into ``node``.

    Its rows are those counted as ``part`` or, with ``is_rest``, those of ``whole`` that are not
    in it.

    Of equally good trees the first is taken, in the order of columns. Two
    habits of the library's are kept. A column whose yes-side could not be split
    further (one row, if leaves of one row are allowed) never becomes the root.
    And a tree that ends the search, because with a leaf on its yes-side it
    reaches the lower bound, counts as one node, which may decide between it and
    equally good trees further up.
    """
    n = len(columns)
    support = take_single(n, counter, is_rest, len(rows.class_rows), stumps)
    judge_pairs(n, support, counter, is_rest, len(rows.class_rows), min_rows, stumps)
    in_classes = stumps.total[: len(rows.class_rows)].sum()
    bound = nodes.bound[node]
    best = np.inf
    for i in range(n):
        rows_yes = np.int64(stumps.support[i])
        rows_no = support - rows_yes
        if rows_yes < 2 * min_rows or rows_no < min_rows:
            continue
        for group in range(len(stumps.total)):
            stumps.side[group] = stumps.total[group] - stumps.single[group, i]
        leaf_no, class_no = leaf(stumps.side, rows.class_rows)
        classed_no = in_classes - stumps.classed[i]
        error_no, test_no = _best_split(stumps, NO, i, classed_no, leaf_no, best)
        if rows_no < 2 * min_rows:
            error_no, test_no = float(leaf_no), np.int64(-1)
        if error_no >= best:
            continue
        for group in range(len(stumps.total)):
            stumps.side[group] = stumps.single[group, i]
        leaf_yes, class_yes = leaf(stumps.side, rows.class_rows)
        reached = error_no + leaf_yes == bound
        if reached:
            error_yes, test_yes = float(leaf_yes), np.int64(-1)
        else:
            classed, limit = np.int64(stumps.classed[i]), best - error_no
            error_yes, test_yes = _best_split(stumps, YES, i, classed, leaf_yes, limit)
            if error_yes < bound - error_no:
                enough = bound - error_no
                error_yes, test_yes = _first_within_bound(
                    n, i, counter, is_rest, min_rows, stumps, leaf_yes, limit, enough
                )
            if error_yes >= limit:
                continue
        best = error_no + error_yes
        nodes.error[node] = best
        nodes.test[node] = columns[i]
        nodes.test_no[node] = columns[test_no] if test_no >= 0 else -1 - class_no
        nodes.test_yes[node] = columns[test_yes] if test_yes >= 0 else -1 - class_yes
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


@kernel()
def _best_split(
    stumps: Stumps, side: Index, column: Index, classed: Index, leaf_error: Index, limit: Index
) -> tuple[Index, Index]:
    """Fewest errors of a leaf or a split, and the first column that has them, or -1.

    A split as good as a leaf is left out. From ``limit`` on nothing counts.
    """
    error = classed - stumps.hits[side, column]
    if error < leaf_error and error < limit:
        return float(error), np.int64(stumps.test[side, column])
    return float(leaf_error) if leaf_error < limit else np.inf, np.int64(-1)


@kernel()
def _first_within_bound(
    n: Index,
    column: Index,
    counter: Counter,
    is_rest: bool,
    min_rows: Index,
    stumps: Stumps,
    leaf_error: Index,
    limit: Index,
    enough: Index,
) -> tuple[Index, Index]:
    """The split of the yes-side on which the library's search ends when the bound is too high.

    A bound from similar rows can be: their trees are not always the best. The search ends with the
    first split that has just as many errors as the bound, though others have fewer.
    """
    n_classes = len(stumps.total) - 1
    support = np.int64(stumps.support[column])
    best, test = float(leaf_error) if leaf_error < limit else np.inf, np.int64(-1)
    for other in range(n):
        first, last = min(column, other), max(column, other)
        both, most_both, most_rest = np.int64(0), np.int64(0), np.int64(0)
        for group in range(n_classes + 1):
            count = np.int64(counter.part.pairs[first, group, last])
            if is_rest:
                count = np.int64(counter.whole.pairs[first, group, last]) - count
            both += count
            if group < n_classes:
                most_both = max(most_both, count)
                most_rest = max(most_rest, stumps.single[group, column] - count)
        if other == column or both < min_rows or support - both < min_rows:
            continue
        error = float(stumps.classed[column] - most_both - most_rest)
        if error >= limit:
            continue
        limit = error
        if error != leaf_error:
            best, test = error, np.int64(other)
        if error == 0 or error == enough:
            break
    return best, test


@kernel(inline="always")
def solve_two_levels(
    search: Search, node: Index, depth: Index, cover: Words, candidates: NDArray[np.int64]
) -> None:
    """Find the best tree of depth two for a node, the child of the level above if there is one.

    Of the rows on either side of the candidate above, the fewer are counted; the others are what
    is left of all rows of that level.
    """
    rows, nodes, levels, counter = search.rows, search.nodes, search.levels, search.counter
    above, is_rest = depth - 1, False
    if above < 0:
        count_part(rows, cover, cover, np.int64(0), candidates, counter)
    else:
        supports = levels.supports[above]
        fewer = NO if supports[NO] < supports[YES] else YES
        is_rest = levels.turn[above] != fewer
        whole, part = cover_of(search, above), levels.sides[above, fewer]
        count_part(rows, whole, part, levels.at[above], candidates, counter)
        if is_rest:
            count_whole(rows, whole, candidates, counter)
    min_rows, stumps = search.min_rows, search.stumps
    best_of_depth_two(rows, nodes, node, candidates, counter, is_rest, min_rows, stumps)
