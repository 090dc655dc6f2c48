"""The compiled search of DL8.5 against the library's, tree for tree."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from searched_problems import CASES, RECORDED, hard_problem, problem, text

from baselines.algorithms.branch_and_bound import state
from baselines.algorithms.branch_and_bound.solver import compile_kernels, solve
from baselines.algorithms.dl85 import DL85Classifier
from baselines.algorithms.solvers import by_pydl85


def needs_library() -> None:
    pytest.importorskip("pydl85", reason="pydl8.5 is not installed")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_trees_that_the_library_found(case):
    """As recorded, so that the library need not be there."""
    depth, max_columns, min_sup = case
    for seed, (tree, error) in enumerate(RECORDED[str(case)]):
        found = solve(*problem(seed, max_columns), depth, min_sup)
        assert (text(found.tree), found.error) == (tree, error), seed


def assert_same(columns: np.ndarray, labels: np.ndarray, depth: int, min_sup: int = 1) -> None:
    ours = solve(columns, labels, depth, min_sup)
    theirs = by_pydl85(columns, labels, depth, min_sup)
    assert (text(ours.tree), ours.error) == (text(theirs.tree), theirs.error)


@pytest.mark.parametrize(("depth", "max_columns", "min_sup"), [(3, 20, 1), (4, 14, 1), (5, 8, 3)])
def test_the_same_tree_where_columns_are_the_same(depth, max_columns, min_sup):
    needs_library()
    for seed in range(20):
        columns, labels = problem(seed, max_columns)
        n = columns.shape[1]
        drawn = np.random.default_rng(seed).integers(0, n, 2 * n)
        assert_same(columns[:, drawn], labels, depth, min_sup)


@pytest.mark.parametrize("missing", [0, 1])
def test_the_same_tree_where_a_class_has_no_rows(missing):
    needs_library()
    for seed in range(25):
        columns, labels = problem(seed, 15)
        assert_same(columns, labels + (labels >= missing), 4)


def test_the_same_tree_over_bins_as_the_paper_makes_them():
    needs_library()
    random = np.random.default_rng(0)
    X = random.normal(size=(700, 9))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > random.normal(size=700)).astype(int)
    ours, theirs = (DL85Classifier(solver=solver).fit(X, y) for solver in ("compiled", "pydl8.5"))
    assert text(ours.found_) == text(theirs.found_)
    assert ours.tree_ == theirs.tree_


def test_a_tree_that_the_library_passes_over_is_passed_over():
    """A root of depth two with one row on its yes-side: depth one finds it, depth two does not."""
    columns, labels = np.eye(10, 1, dtype=bool), np.eye(10, 1, dtype=np.intp)[:, 0]
    assert solve(columns, labels, 1).error == 0
    assert solve(columns, labels, 2).error == 1


def test_a_limit_of_time_is_kept():
    columns, labels = hard_problem()
    compile_kernels()
    started = time.monotonic()
    found = solve(columns, labels, 4, seconds=0.5)
    assert found.timed_out
    assert time.monotonic() - started < 10
    assert found.error < min(np.bincount(labels))


HARD = """
from searched_problems import hard_problem
from baselines.algorithms.branch_and_bound.solver import solve
solve(*hard_problem(), 1)  # compiles
print("ready", flush=True)
try:
    solve(*hard_problem(), 5)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_an_interrupt_ends_the_search():
    child = subprocess.Popen(
        [sys.executable, "-c", HARD],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    watchdog = threading.Timer(300, child.kill)
    watchdog.start()
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "interrupted\n"
        assert child.wait() == 0
    finally:
        watchdog.cancel()
        child.kill()


def test_more_sets_than_there_is_room_or_numbers_for_are_an_error_with_a_remedy(monkeypatch):
    monkeypatch.setattr(state, "MOST_NODES", 50)
    with pytest.raises(MemoryError, match="no room for more than 50 sets"):
        solve(*problem(1, 20), 4)
    with pytest.raises(ValueError, match="lower max_depth"):
        solve(np.zeros((4, 2000), dtype=bool), np.array([0, 1, 0, 1]), 9)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_without_a_column_or_a_second_class_there_is_one_leaf(depth):
    one_class = solve(np.eye(6, dtype=bool), np.zeros(6, dtype=np.intp), depth)
    assert (text(one_class.tree), one_class.error) == ("0", 0)
    no_column = solve(np.zeros((5, 0), dtype=bool), np.array([0, 1, 1, 0, 1]), depth)
    assert (text(no_column.tree), no_column.error) == ("1", 2)
