"""Branching over columns, with bounds, down to where two levels are left."""

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.branch_and_bound.depth_two import solve_two_levels
from baselines.algorithms.branch_and_bound.pair_counts import begin_node
from baselines.algorithms.branch_and_bound.rows import (
    NO,
    YES,
    Index,
    Words,
    count_classes,
    count_outside,
    count_yes,
    distance,
    keep_side,
    leaf,
)
from baselines.algorithms.branch_and_bound.state import (
    ABSENT,
    FULL,
    NO_COLUMN,
    ROOT_CODE,
    STOP,
    Nodes,
    Search,
    add,
    code_of,
    find,
    insert,
)
from gradtree.compiling import entry_kernel, kernel


@entry_kernel()
def run(search: Search, every_column: NDArray[np.int64], n_rows: Index) -> None:
    """Find the best tree; it is in the nodes afterwards."""
    everyone = search.rows.everyone
    root = _enter(search, np.int64(ROOT_CODE), everyone)
    top, nowhere = np.int64(0), np.int64(NO_COLUMN)  # a literal would be a type of its own
    _branch(search, root, top, everyone, n_rows, n_rows, np.inf, every_column, nowhere)


@entry_kernel()
def _branch(
    search: Search,
    node: Index,
    depth: Index,
    cover: Words,
    support: Index,
    support_at_hand: Index,
    limit: Index,
    candidates: NDArray[np.int64],
    last: Index,
) -> None:
    """Find the best tree of a node that stays below a limit of errors, or a better bound for it.

    ``support_at_hand`` are rows of the node, but of its parent if the node was known before: the
    library looks at these to see if there is anything to split. ``candidates`` split the parent's
    rows; ``last`` is the column of the condition that leads here.
    """
    nodes, levels, signals = search.nodes, search.levels, search.signals
    min_rows = search.min_rows
    if nodes.error[node] < np.inf or limit <= nodes.bound[node] or limit <= 0:
        return
    if (
        nodes.leaf_error[node] == nodes.bound[node]
        or depth == search.max_depth
        or support_at_hand < 2 * min_rows
        or signals[STOP]
    ):
        nodes.error[node] = nodes.leaf_error[node]
        return
    if search.max_depth - depth == 2 and support >= 2 * min_rows:
        solve_two_levels(search, node, depth, cover, candidates)
        return
    mine, n = levels.candidates[depth], 0
    if support >= 2 * min_rows:
        for column in candidates:
            yes = count_yes(cover, search.rows.yes[column])
            mine[n] = column
            n += column != last and yes >= min_rows and support - yes >= min_rows
    if n == 0:
        nodes.error[node] = nodes.leaf_error[node]
        return
    levels.similar_error[depth] = -1.0
    begin_node(search.counter)
    best, least = limit, np.inf
    children, bounds = levels.children[depth], levels.bounds[depth]
    for at in range(n):
        column = mine[at]
        levels.at[depth] = at
        # Trying the costlier side first ends most candidates there: what it takes is off the limit
        # of the other. The order also decides which of equally good trees is met first.
        _divide(search, depth, column, cover)
        first = np.int64(YES if bounds[YES] > bounds[NO] else NO)
        for side in (first, 1 - first):
            taken = bounds[1 - side]
            if side != first:
                # The other side has at least its bound, so below the limit there is room only for
                # this; if not, note what is known of both.
                if not nodes.error[children[first]] < best - bounds[side]:
                    known = _fewest_errors(nodes, children[first]) + bounds[side]
                    least = min(least, known)
                    break
                taken = nodes.error[children[first]]
            levels.turn[depth] = side
            code = _code_below(search, depth, 2 * column + side)
            child = find(nodes, code)
            rows, its_support = levels.sides[depth, side], levels.supports[depth, side]
            at_hand = support
            if child == ABSENT:
                at_hand = its_support
                child = _enter(search, code, rows)
            if child == ABSENT:
                signals[FULL] = 1
                return
            children[side] = child
            nodes.bound[child] = bounds[side]
            room = best - taken
            _branch(search, child, depth + 1, rows, its_support, at_hand, room, mine[:n], column)
            if signals[FULL]:
                return
            _remember(search, depth, rows, _fewest_errors(nodes, child))
        else:
            no, yes = children[NO], children[YES]
            error = nodes.error[no] + nodes.error[yes]
            size = nodes.size[no] + nodes.size[yes] + 1
            # Take the tree of the candidate if it is better, or as good and smaller.
            if error < best or (error == best and size < nodes.size[node]):
                nodes.error[node], nodes.size[node], nodes.test[node] = error, size, column
                best = error
            else:
                least = min(least, error)
            # Nothing can be better than the bound: later candidates could at most be as good.
            if nodes.error[node] == nodes.bound[node] or signals[STOP]:
                break
    if nodes.error[node] == np.inf:
        # Every candidate was rejected with at least `least` errors known, and all of them for not
        # staying below the limit: both are true of any tree here, whoever asks next.
        nodes.bound[node] = max(nodes.bound[node], max(limit, least))


@kernel()
def _enter(search: Search, code: Index, cover: Words) -> Index:
    """A new node for the rows of ``cover``."""
    counts = search.stumps.side
    count_classes(search.rows, cover, counts)
    error, label = leaf(counts, search.rows.class_rows)
    return add(search.nodes, code, error, label)


@kernel()
def _divide(search: Search, depth: Index, column: Index, cover: Words) -> None:
    """Divide the rows by a column; bound the errors of either side."""
    levels = search.levels
    for side in (NO, YES):
        rows = levels.sides[depth, side]
        levels.supports[depth, side] = keep_side(cover, search.rows.yes[column], side, rows)
        bound = 0.0
        known = find(search.nodes, _code_below(search, depth, 2 * column + side))
        if known != ABSENT:
            bound = _fewest_errors(search.nodes, known)
        for which in range(2):
            error = levels.similar_error[depth, which]
            if error >= 0:
                # A tree for these rows makes at most one error more on each similar row that is
                # not among them, so fewer errors than this would give those a better tree too.
                bound = max(bound, error - count_outside(levels.similar[depth, which], rows))
        levels.bounds[depth, side] = bound


@kernel()
def _fewest_errors(nodes: Nodes, node: Index) -> Index:
    """Of the best tree, or of any tree as far as is known."""
    return nodes.error[node] if nodes.error[node] < np.inf else nodes.bound[node]


@kernel()
def _code_below(search: Search, depth: Index, condition: Index) -> Index:
    """Write down the conditions of a child, and return their code."""
    below = search.levels.conditions[depth + 1]
    insert(search.levels.conditions[depth], depth, condition, below)
    return code_of(below, depth + 1, 2 * len(search.rows.yes) + 1)


@kernel()
def _remember(search: Search, depth: Index, rows: Words, error: Index) -> None:
    """Remember a child's rows, in place of the more similar of two others."""
    levels = search.levels
    if error == 0:
        return
    if levels.similar_error[depth, 0] < 0:
        place = 0
    elif levels.similar_error[depth, 1] < 0:
        place = 1
    else:
        to_first = distance(rows, levels.similar[depth, 0])
        place = 0 if to_first < distance(rows, levels.similar[depth, 1]) else 1
    levels.similar_error[depth, place] = error
    for word in range(len(rows)):
        levels.similar[depth, place, word] = rows[word]
