"""What Python calls: the search, its deadline, and the tree it found."""

import threading
import time
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.branch_and_bound.rows import NO, YES, encode, groups_of, leaf
from baselines.algorithms.branch_and_bound.search import run
from baselines.algorithms.branch_and_bound.state import (
    FULL,
    ROOT_CODE,
    STOP,
    Search,
    code_of,
    find,
    prepare,
    room_for,
)
from baselines.algorithms.yes_no_tree import Branch, Leaf, Node

LOOK_SECONDS = 0.1
"""How soon a search notices Ctrl-C."""


@dataclass(frozen=True, eq=False)
class Solved:
    """The best tree found, its errors (nan if unknown), and whether time ran out before the end."""

    tree: Node
    error: float
    timed_out: bool


def solve(
    columns: NDArray[np.bool_],
    labels: NDArray[np.intp],
    max_depth: int,
    min_sup: int = 1,
    seconds: float | None = None,
) -> Solved:
    """The tree over yes/no columns that DL8.5 finds, with at least ``min_sup`` rows in a leaf.

    See ``rows.encode`` for what happens if the class numbers have gaps. After ``seconds`` the best
    tree so far is taken; without them there is no limit.
    """
    compile_kernels()
    rows = encode(columns, labels)
    nodes = room_for(columns.shape[1], max(max_depth - 2, min(max_depth, 1)))
    search = prepare(rows, nodes, max_depth, min_sup)
    _run_until(search, len(labels), seconds)
    if search.signals[FULL]:
        raise MemoryError(
            f"DL8.5 has no room for more than {len(nodes.error):,} sets of conditions; "
            "lower max_depth, or use fewer features"
        )
    root = find(nodes, ROOT_CODE)
    tree = _read_tree(search, columns, labels)
    return Solved(tree, int(nodes.error[root]), bool(search.signals[STOP]))


@cache
def compile_kernels() -> None:
    """Have the kernels ready, so that no search spends its seconds on compiling them."""
    columns = np.eye(4, 3, dtype=np.bool_)
    rows = encode(columns, np.array([0, 1, 0, 1]))
    search = prepare(rows, room_for(3, 2), max_depth=4, min_rows=1)
    run(search, np.arange(3), 4)
    find(search.nodes, code_of(np.zeros(1, dtype=np.int64), 1, 7))


def _run_until(search: Search, n_rows: int, seconds: float | None) -> None:
    """Search in a thread, which goes on without Python, so that this one can stop it."""
    every = np.arange(len(search.rows.yes), dtype=np.int64)
    failure: list[BaseException] = []

    def work() -> None:
        try:
            run(search, every, n_rows)
        except BaseException as problem:
            failure.append(problem)

    thread = threading.Thread(target=work, daemon=True)
    deadline = np.inf if seconds is None else time.monotonic() + seconds
    thread.start()
    try:
        while thread.is_alive():
            thread.join(min(LOOK_SECONDS, max(deadline - time.monotonic(), 0.001)))
            if time.monotonic() >= deadline and thread.is_alive():
                search.signals[STOP] = 1
    finally:
        if thread.is_alive():
            search.signals[STOP] = 1
            thread.join()
    if failure:
        raise failure[0]


def _read_tree(search: Search, columns: NDArray[np.bool_], labels: NDArray[np.intp]) -> Node:
    """Read the best tree out of the nodes, following the conditions."""
    nodes, class_rows = search.nodes, search.rows.class_rows
    base = 2 * columns.shape[1] + 1

    def subtree(conditions: list[int], rows: NDArray[np.intp]) -> Node:
        """The best tree under the sorted conditions, which hold for these rows."""
        code = code_of(np.array(conditions, dtype=np.int64), len(conditions), base)
        node = find(nodes, int(code))
        test = int(nodes.test[node])
        if test < 0:
            return Leaf(-1 - test)
        yes = columns[rows, test]
        if len(conditions) == search.max_depth - 2:
            on_yes = stump(int(nodes.test_yes[node]), rows[yes])
            return Branch(test, on_yes, stump(int(nodes.test_no[node]), rows[~yes]))
        on_yes = subtree(sorted([*conditions, 2 * test + YES]), rows[yes])
        return Branch(test, on_yes, subtree(sorted([*conditions, 2 * test + NO]), rows[~yes]))

    def stump(test: int, rows: NDArray[np.intp]) -> Node:
        if test < 0:
            return Leaf(-1 - test)
        yes = columns[rows, test]
        return Branch(test, majority(rows[yes]), majority(rows[~yes]))

    def majority(rows: NDArray[np.intp]) -> Leaf:
        """With the class that most of the rows count for."""
        group = groups_of(labels[rows], len(class_rows))
        counts = np.bincount(group, minlength=len(class_rows) + 1)
        return Leaf(int(leaf(counts, class_rows)[1]))

    return subtree([], np.arange(len(labels)))
