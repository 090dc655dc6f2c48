"""The best tree of depth two: counted in vectors, and as one would write it down."""

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

from baselines.algorithms.branch_and_bound import state
from baselines.algorithms.branch_and_bound.depth_two import best_of_depth_two
from baselines.algorithms.branch_and_bound.pair_counts import (
    BLOCK,
    begin_node,
    count_part,
    count_whole,
    room_for_counts,
)
from baselines.algorithms.branch_and_bound.rows import encode
from baselines.algorithms.branch_and_bound.stumps import room_for_stumps
from gradtree.compiling import from_python

NONE = -1


class Found(NamedTuple):
    error: float
    root: int
    no: int
    yes: int


def leaf_of(labels: np.ndarray, n_classes: int) -> int:
    return len(labels) - int(np.bincount(labels, minlength=n_classes).max())


def best_split(
    columns: np.ndarray, labels: np.ndarray, least: int, limit: float, enough: float
) -> tuple[float, int]:
    """The library's loop over the second column: it ends with just ``enough`` errors."""
    alone = leaf_of(labels, 9)
    best, test = (float(alone) if alone < limit else np.inf), NONE
    for column in range(columns.shape[1]):
        yes = columns[:, column]
        if not least <= yes.sum() <= len(yes) - least:
            continue
        error = leaf_of(labels[yes], 9) + leaf_of(labels[~yes], 9)
        if error >= limit:
            continue
        limit = error
        if error != alone:
            best, test = float(error), column
        if error in (0, enough):
            break
    return best, test


def written_down(columns: np.ndarray, labels: np.ndarray, least: int, bound: float) -> Found:
    """The library's loop over the first column."""
    found = Found(np.inf, NONE, NONE, NONE)
    for root in range(columns.shape[1]):
        yes = columns[:, root]
        if yes.sum() < 2 * least or (~yes).sum() < least:
            continue
        error_no, no = best_split(columns[~yes], labels[~yes], least, found.error, -np.inf)
        if (~yes).sum() < 2 * least:
            error_no, no = leaf_of(labels[~yes], 9), NONE
        if error_no >= found.error:
            continue
        if error_no + leaf_of(labels[yes], 9) == bound:
            error_yes, on_yes = float(leaf_of(labels[yes], 9)), NONE
        else:
            rest, enough = found.error - error_no, bound - error_no
            error_yes, on_yes = best_split(columns[yes], labels[yes], least, rest, enough)
            if error_yes >= rest:
                continue
        found = Found(error_no + error_yes, root, no, on_yes)
        if found.error == bound:
            break
    return found


class Problem(NamedTuple):
    columns: np.ndarray
    labels: np.ndarray
    part: np.ndarray


def problem(seed: int) -> Problem:
    """Columns of one block and of several; a part of the rows that is small or half of them."""
    random = np.random.default_rng(seed)
    n_rows, n_columns = int(random.integers(6, 200)), int(random.choice([3, 20, BLOCK, BLOCK + 9]))
    columns = random.random((n_rows, n_columns)) < random.uniform(0.02, 0.9, n_columns)
    labels = (columns[:, :3].sum(axis=1) + random.integers(0, 3, n_rows)) % 3
    part = random.random(n_rows) < random.choice([0.1, 0.5])
    return Problem(columns, np.unique(labels, return_inverse=True)[1], part)


def by_kernel(given: Problem, is_rest: bool, least: int, bound: float) -> Found:
    columns, labels = given.columns, given.labels
    # Whether a row is in the part is a column like any other, which the search passes on as bits.
    rows = encode(np.column_stack([columns, given.part]), labels)
    nodes, counter = state.room_for(columns.shape[1], 1), room_for_counts(rows)
    every, part = np.arange(columns.shape[1]), rows.yes[-1]
    from_python(begin_node)(counter)
    from_python(count_part)(rows, rows.everyone, part, 0, every, counter)
    from_python(count_whole)(rows, rows.everyone, every, counter)
    node = state.add(nodes, 1, len(labels), 0)
    nodes.bound[node] = bound
    solve = from_python(best_of_depth_two)
    solve(rows, nodes, node, every, counter, is_rest, least, room_for_stumps(rows))
    tests = nodes.test[node], nodes.test_no[node], nodes.test_yes[node]
    if (nodes.test[node] < 0) or nodes.error[node] == nodes.leaf_error[node]:
        return Found(np.inf, NONE, NONE, NONE)
    return Found(float(nodes.error[node]), *(max(int(test), NONE) for test in tests))


@pytest.mark.parametrize(("is_rest", "least"), list(product([False, True], [1, 2, 5])))
def test_the_tree_of_the_librarys_loops(is_rest: bool, least: int) -> None:
    for seed in range(60):
        given = problem(seed)
        mine = given.part != is_rest
        expected = written_down(given.columns[mine], given.labels[mine], least, 0.0)
        assert by_kernel(given, is_rest, least, 0.0) == expected, seed


def test_a_bound_that_is_too_high_ends_the_loops_early() -> None:
    """As a bound from rows with a tree that is not their best can be."""
    ended = 0
    for seed in range(60):
        given = problem(seed)
        columns, labels = given.columns[given.part], given.labels[given.part]
        best = written_down(columns, labels, 1, 0.0)
        if best.root == NONE:
            continue
        for above in (1, 2, 4):
            expected = written_down(columns, labels, 1, best.error + above)
            assert by_kernel(given, False, 1, best.error + above) == expected, (seed, above)
            ended += expected != best
    assert ended > 20
