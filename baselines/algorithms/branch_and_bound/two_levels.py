"""A node with two levels left: its tree is taken from another node with its rows, or found."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.branch_and_bound.cache import ABSENT, code_of, find, insert
from baselines.algorithms.branch_and_bound.depth_two import best_of_depth_two
from baselines.algorithms.branch_and_bound.levels import Search, cover_of, side_in_turn
from baselines.algorithms.branch_and_bound.pair_counts import count_part, count_whole
from baselines.algorithms.branch_and_bound.rows import NO, YES, Index, Words
from gradtree.compiling import kernel


@kernel(inline="always")
def solve_two_levels(
    search: Search, node: Index, depth: Index, cover: Words, candidates: NDArray[np.int64]
) -> None:
    """Find the best tree of depth two for a node, the child of the level above if there is one.

    Of columns with the same rows the first is enough: it comes before the others, which could at
    most be as good. Of the rows on either side of the candidate above, the fewer are counted; the
    others are what is left of all rows of that level.
    """
    rows, nodes, levels, counter = search.rows, search.nodes, search.levels, search.counter
    if known_of_twin(search, node, depth):
        return
    columns, n = levels.candidates[depth], 0
    for column in candidates:
        columns[n] = column
        n += rows.same_as[column] == column
    columns, above, is_rest = columns[:n], depth - 1, False
    if above < 0:
        count_part(rows, cover, cover, np.int64(0), columns, counter)
    else:
        supports = levels.supports[above]
        fewer = NO if supports[NO] < supports[YES] else YES
        is_rest = side_in_turn(levels, above) != fewer
        whole, part = cover_of(search, above), levels.sides[above, fewer]
        count_part(rows, whole, part, levels.at[above], columns, counter)
        if is_rest:
            count_whole(rows, whole, columns, counter)
    best_of_depth_two(rows, nodes, node, columns, counter, is_rest, search.min_rows, search.stumps)
    nodes.bound_then[node] = nodes.bound[node]


@kernel()
def known_of_twin(search: Search, node: Index, depth: Index) -> bool:
    """Take over the tree of a node with the same rows, if there is one.

    It leads there by other columns. Its tree is the one that would be found here, too, if the
    bounds are the same, or so low that no tree reaches them.
    """
    nodes, same_as = search.nodes, search.rows.same_as
    conditions, twin = search.levels.conditions[depth], search.levels.twin
    differs = False
    for n in range(depth):
        column, side = conditions[n] >> 1, conditions[n] & 1
        differs |= same_as[column] != column
        insert(twin[n % 2], n, 2 * same_as[column] + side, twin[(n + 1) % 2])
    if not differs:
        return False
    others, last = twin[depth % 2], depth - 1
    other = find(nodes, code_of(others, last, others[last], 2 * len(same_as) + 1))
    if other == ABSENT or nodes.bound_then[other] < 0:
        return False
    error, bound, then = nodes.error[other], nodes.bound[node], nodes.bound_then[other]
    if bound != then and (bound >= error or then >= error):
        return False
    nodes.error[node], nodes.size[node] = error, nodes.size[other]
    nodes.test[node] = nodes.test[other]
    nodes.test_no[node], nodes.test_yes[node] = nodes.test_no[other], nodes.test_yes[other]
    nodes.bound_then[node] = then
    return True
