"""Branching over columns, with bounds, down to where two levels are left."""

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.branch_and_bound.cache import (
    ABSENT,
    ROOT_CODE,
    Nodes,
    add,
    code_of,
    find,
    insert,
)
from baselines.algorithms.branch_and_bound.depth_two import solve_two_levels
from baselines.algorithms.branch_and_bound.levels import (
    BOTH,
    FIRST,
    FULL,
    NO_COLUMN,
    SECOND,
    STOP,
    Search,
    cover_of,
    side_in_turn,
)
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
from gradtree.compiling import entry_kernel, kernel


@entry_kernel()
def run(search: Search, every_column: NDArray[np.int64], n_rows: Index) -> None:
    """Find the best tree; it is in the nodes afterwards."""
    levels, signals = search.levels, search.signals
    everyone = search.rows.everyone
    root = enter(search, np.int64(ROOT_CODE), everyone)
    top, nowhere = np.int64(0), np.int64(NO_COLUMN)  # a literal would be a type of its own
    is_open = open_level(search, root, top, everyone, n_rows, n_rows, np.inf, every_column, nowhere)
    depth = np.int64(0 if is_open else -1)
    while depth >= 0 and not signals[FULL]:
        if levels.at[depth] == levels.n_candidates[depth]:
            close_level(search, depth)
            depth -= 1
            if depth >= 0:
                child_done(search, depth)
            continue
        if levels.step[depth] == FIRST:
            look_at_sides(search, depth, cover_of(search, depth))
        elif levels.step[depth] == BOTH or not second_side_may_help(search, depth):
            if levels.step[depth] == BOTH:
                weigh(search, depth)
            levels.step[depth] = FIRST
            levels.at[depth] += 1
            continue
        if open_child(search, depth):
            depth += 1
        elif not signals[FULL]:
            child_done(search, depth)


@kernel()
def enter(search: Search, code: Index, cover: Words) -> Index:
    """A new node for the rows of ``cover``."""
    counts = search.stumps.side
    count_classes(search.rows, cover, counts)
    error, label = leaf(counts, search.rows.class_rows)
    return add(search.nodes, code, error, label)


@kernel()
def open_level(
    search: Search,
    node: Index,
    depth: Index,
    cover: Words,
    support: Index,
    support_at_hand: Index,
    limit: Index,
    candidates: NDArray[np.int64],
    last: Index,
) -> bool:
    """Settle a node if that takes no branching; else open its level and say so.

    ``support_at_hand`` are rows of the node, but of its parent if the node was known before: the
    library looks at these to see if there is anything to split. ``candidates`` split the parent's
    rows; ``last`` is the column of the condition that leads here.
    """
    nodes, levels, min_rows = search.nodes, search.levels, search.min_rows
    if nodes.error[node] < np.inf or limit <= nodes.bound[node] or limit <= 0:
        return False
    if (
        nodes.leaf_error[node] == nodes.bound[node]
        or depth == search.max_depth
        or support_at_hand < 2 * min_rows
        or search.signals[STOP]
    ):
        nodes.error[node] = nodes.leaf_error[node]
        return False
    mine = levels.candidates[depth]
    n = 0
    if search.max_depth - depth == 2 and support >= 2 * min_rows:
        solve_two_levels(search, node, depth, cover, candidates)
        return False
    if support >= 2 * min_rows:
        for column in candidates:
            yes = count_yes(cover, search.rows.yes[column])
            mine[n] = column
            n += column != last and yes >= min_rows and support - yes >= min_rows
    if n == 0:
        nodes.error[node] = nodes.leaf_error[node]
        return False
    levels.node[depth], levels.n_candidates[depth] = node, n
    levels.at[depth], levels.step[depth] = 0, FIRST
    levels.limit[depth] = levels.best[depth] = limit
    levels.least[depth] = np.inf
    levels.similar_error[depth] = -1.0
    begin_node(search.counter)
    return True


@kernel(inline="always")
def close_level(search: Search, depth: Index) -> None:
    """Without a tree below the limit, there is at least a better bound."""
    nodes, levels = search.nodes, search.levels
    node = levels.node[depth]
    if nodes.error[node] == np.inf:
        # Every candidate was rejected with at least `least` errors known, and all of them for not
        # staying below the limit: both are true of any tree here, whoever asks next.
        least = max(levels.limit[depth], levels.least[depth])
        nodes.bound[node] = max(nodes.bound[node], least)


@kernel(inline="always")
def look_at_sides(search: Search, depth: Index, cover: Words) -> None:
    """Divide the rows by the candidate; the side with more errors for sure comes first."""
    levels = search.levels
    column = levels.candidates[depth, levels.at[depth]]
    for side in (NO, YES):
        rows = levels.sides[depth, side]
        levels.supports[depth, side] = keep_side(cover, search.rows.yes[column], side, rows)
        levels.bounds[depth, side] = _bound_of_side(search, depth, 2 * column + side, rows)
    # Trying the costlier side first ends most candidates there: what it takes is off the limit
    # of the other. The order also decides which of equally good trees is met first.
    yes_first = levels.bounds[depth, YES] > levels.bounds[depth, NO]
    levels.first[depth] = YES if yes_first else NO


@kernel()
def _bound_of_side(search: Search, depth: Index, condition: Index, rows: Words) -> Index:
    levels = search.levels
    bound = 0.0
    known = find(search.nodes, _code(search, depth, condition))
    if known != ABSENT:
        bound = _fewest_errors(search.nodes, known)
    for which in range(2):
        error = levels.similar_error[depth, which]
        if error >= 0:
            # A tree for these rows makes at most one error more on each similar row that is not
            # among them, so fewer errors than this would give the similar rows a better tree too.
            bound = max(bound, error - count_outside(levels.similar[depth, which], rows))
    return bound


@kernel()
def _fewest_errors(nodes: Nodes, node: Index) -> Index:
    """Of the best tree, or of any tree as far as is known."""
    return nodes.error[node] if nodes.error[node] < np.inf else nodes.bound[node]


@kernel()
def _code(search: Search, depth: Index, condition: Index) -> Index:
    base = 2 * len(search.rows.yes) + 1
    return code_of(search.levels.conditions[depth], depth, condition, base)


@kernel(inline="always")
def open_child(search: Search, depth: Index) -> bool:
    """Open the level of the child on the side whose turn it is, unless it is settled at once."""
    levels, nodes = search.levels, search.nodes
    column = levels.candidates[depth, levels.at[depth]]
    second = levels.step[depth] == SECOND
    side = side_in_turn(levels, depth)
    rows, support = levels.sides[depth, side], levels.supports[depth, side]
    code = _code(search, depth, 2 * column + side)
    child = find(nodes, code)
    at_hand = levels.supports[depth, NO] + levels.supports[depth, YES]
    if child == ABSENT:
        at_hand = support
        child = enter(search, code, rows)
        if child == ABSENT:
            search.signals[FULL] = 1
            return False
    levels.children[depth, side] = child
    nodes.bound[child] = levels.bounds[depth, side]
    taken = (
        nodes.error[levels.children[depth, 1 - side]] if second else levels.bounds[depth, 1 - side]
    )
    insert(levels.conditions[depth], depth, 2 * column + side, levels.conditions[depth + 1])
    return open_level(
        search,
        child,
        depth + 1,
        rows,
        support,
        at_hand,
        levels.best[depth] - taken,
        levels.candidates[depth, : levels.n_candidates[depth]],
        column,
    )


@kernel()
def child_done(search: Search, depth: Index) -> None:
    """Remember a child's rows, in place of the more similar of two others, and go on."""
    levels = search.levels
    side = side_in_turn(levels, depth)
    levels.step[depth] = BOTH if levels.step[depth] == SECOND else SECOND
    error = _fewest_errors(search.nodes, levels.children[depth, side])
    if error == 0:
        return
    rows = levels.sides[depth, side]
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


@kernel(inline="always")
def second_side_may_help(search: Search, depth: Index) -> bool:
    """Whether the first side leaves room below the limit; if not, note what is known of both."""
    levels, nodes = search.levels, search.nodes
    first = levels.first[depth]
    child, other_bound = levels.children[depth, first], levels.bounds[depth, 1 - first]
    # The other side has at least its bound, so below the limit there is room only for this.
    if nodes.error[child] < levels.best[depth] - other_bound:
        return True
    known = _fewest_errors(nodes, child) + other_bound
    levels.least[depth] = min(levels.least[depth], known)
    return False


@kernel(inline="always")
def weigh(search: Search, depth: Index) -> None:
    """Take the tree of the candidate if it is better, or as good and smaller."""
    levels, nodes = search.levels, search.nodes
    node = levels.node[depth]
    no, yes = levels.children[depth, NO], levels.children[depth, YES]
    error = nodes.error[no] + nodes.error[yes]
    size = nodes.size[no] + nodes.size[yes] + 1
    best = levels.best[depth]
    if error < best or (error == best and size < nodes.size[node]):
        nodes.error[node], nodes.size[node] = error, size
        nodes.test[node] = levels.candidates[depth, levels.at[depth]]
        levels.best[depth] = error
    else:
        levels.least[depth] = min(levels.least[depth], error)
    # Nothing can be better than the bound: later candidates could at most be as good.
    if nodes.error[node] == nodes.bound[node] or search.signals[STOP]:
        levels.n_candidates[depth] = levels.at[depth] + 1
