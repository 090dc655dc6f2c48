"""Alternating optimisation and its pruning against slow and obvious ones."""

from __future__ import annotations

import numpy as np
import pytest

from gradtree.distilling.alternating import Lesson, Splits, alternate, cut_weakest, workspace
from gradtree.distilling.grid import ThresholdGrid
from gradtree.distilling.growing import (
    cut_back,
    first_tree,
    fitted_logs,
    improve,
    log_loss,
    over_numbers,
    rebuilt,
)
from gradtree.trees.tree import LEAF

COLUMNS, CODES, CLASSES = 4, 6, 3


def lesson(seed: int, n: int = 200) -> Lesson:
    """Rows whose classes depend on two columns, with noise."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, CODES, (n, COLUMNS)).astype(np.uint8)
    best = (codes[:, 0] > 2).astype(int) + ((codes[:, 1] > 3) & (codes[:, 0] <= 2))
    shares = rng.dirichlet(np.ones(CLASSES), n) * 0.5 + 0.5 * np.eye(CLASSES)[best]
    return Lesson(codes, shares, rng.uniform(0.5, 2, n), np.full(COLUMNS, CODES))


def loss_of(tree: Splits, rows: Lesson) -> float:
    """Weighted log loss with leaves fitted to the same rows."""
    logs = fitted_logs(tree, rows)[1]
    total = 0.0
    for row, weight in enumerate(rows.weight):
        leaf = walked(tree, rows.codes[row])
        total -= weight * float(rows.shares[row] @ logs[leaf])
    return total


def walked(tree: Splits, codes: np.ndarray, node: int = 0) -> int:
    while tree.left[node] != LEAF:
        left = codes[tree.feature[node]] < tree.cut[node]
        node = int(tree.left[node] if left else tree.right[node])
    return node


@pytest.mark.parametrize("seed", range(8))
def test_the_root_gets_the_best_of_all_splits(seed: int) -> None:
    """With leaves as they are: every column and cut tried by hand."""
    rows = lesson(seed)
    tree = Splits(*map(np.array, ([1, LEAF, LEAF], [2, LEAF, LEAF], [3, 0, 0], [2, 0, 0])))
    logs = fitted_logs(tree, rows)[1]

    def with_leaves_as_they_are(column: int, cut: int) -> float:
        leaf = np.where(rows.codes[:, column] < cut, 1, 2)
        return float(-(rows.weight * (rows.shares * logs[leaf]).sum(axis=1)).sum())

    every = {
        (f, c): with_leaves_as_they_are(f, c) for f in range(COLUMNS) for c in range(CODES + 1)
    }
    work = workspace(len(rows.weight), 3, CLASSES)
    alternate(tree, np.array([0, 1, 1]), rows, work, 1)
    chosen = every[int(tree.feature[0]), int(tree.cut[0])]
    assert chosen == pytest.approx(min(every.values()))


@pytest.mark.parametrize("seed", [0, 1, 3, 4])
def test_a_pass_makes_the_loss_smaller_until_nothing_changes(seed: int) -> None:
    rows = lesson(seed)
    tree = first_tree(rows, 4, seed, {"max_features": 1})
    losses = [loss_of(tree, rows)]
    for _ in range(20):
        improve(tree, rows, 1)
        losses.append(loss_of(tree, rows))
    # Joining a row of the parent's shares to a leaf may cost a little.
    assert max(np.diff(losses)) < 0.002 * losses[0]
    assert losses[-1] < losses[0]
    splits = tree.feature.copy(), tree.cut.copy()
    improve(tree, rows, 5)
    assert (splits[0] == tree.feature).all()
    assert (splits[1] == tree.cut).all()


def test_what_no_row_reaches_is_left_out_and_numbers_are_depth_first() -> None:
    tree = Splits(
        np.array([1, 3, LEAF, LEAF, LEAF]),
        np.array([2, 4, LEAF, LEAF, LEAF]),
        np.array([0, 1, 0, 0, 0]),
        np.array([2, 3, 0, 0, 0]),
    )
    same = rebuilt(tree, np.ones(5, dtype=bool))
    assert same.left.tolist() == [1, 2, LEAF, LEAF, LEAF]
    assert same.right.tolist() == [4, 3, LEAF, LEAF, LEAF]
    assert same.feature[:2].tolist() == [0, 1]
    fewer = rebuilt(tree, np.array([True, True, False, True, True]))
    assert fewer.left.tolist() == [1, LEAF, LEAF]
    assert fewer.feature[0] == 1


@pytest.mark.parametrize("most", [2, 5, 9, 100])
def test_cutting_back_leaves_so_many_leaves_and_none_that_save_nothing(most: int) -> None:
    rows = lesson(3)
    tree = cut_back(first_tree(rows, 6, 0, {}), rows, most)
    n_leaves = int((tree.left == LEAF).sum())
    assert 2 <= n_leaves <= most
    count, logs = fitted_logs(tree, rows)
    risk = -(count * logs).sum(axis=1)
    for node in np.flatnonzero(tree.left != LEAF):
        below = [leaf for leaf in range(len(risk)) if is_below(tree, leaf, int(node))]
        assert risk[node] > sum(risk[leaf] for leaf in below if tree.left[leaf] == LEAF)


def is_below(tree: Splits, node: int, top: int) -> bool:
    children = [int(tree.left[top]), int(tree.right[top])]
    return any(
        child == node or (tree.left[child] != LEAF and is_below(tree, node, child))
        for child in children
    )


def test_the_weakest_link_goes_first() -> None:
    """Worked by hand: the left pair saves 1, the right one 3."""
    tree = Splits(
        np.array([1, 2, LEAF, LEAF, 5, LEAF, LEAF]),
        np.array([4, 3, LEAF, LEAF, 6, LEAF, LEAF]),
        np.zeros(7, dtype=np.int64),
        np.zeros(7, dtype=np.int64),
    )
    risk = np.array([20.0, 6.0, 2.0, 3.0, 8.0, 2.0, 3.0])
    room = np.empty(7), np.empty(7, np.int64), np.empty(7, bool)
    cut_weakest(tree, risk, 3, *room)
    assert tree.left.tolist() == [1, LEAF, LEAF, LEAF, 5, LEAF, LEAF]
    cut_weakest(tree, risk, 2, *room)
    assert tree.left.tolist() == [1, LEAF, LEAF, LEAF, LEAF, LEAF, LEAF]


def test_codes_and_thresholds_decide_alike() -> None:
    rows = lesson(5)
    edges = np.linspace(-1, 1, CODES - 1)
    grid = ThresholdGrid((edges,) * COLUMNS)
    tree = first_tree(rows, 4, 0, {})
    logs = fitted_logs(tree, rows)[1]
    canonical = over_numbers(tree, np.exp(logs), grid)
    X = np.random.default_rng(1).uniform(-1.5, 1.5, (300, COLUMNS)).astype(np.float32)
    X[:50, 0] = np.float32(edges[2])  # on an edge
    codes = grid.codes(X).astype(np.uint8)
    assert canonical.apply(X).tolist() == [walked(tree, row) for row in codes]
    shares = np.full((300, CLASSES), 1 / CLASSES)
    expected = -np.mean([logs[walked(tree, row)].mean() for row in codes])
    assert log_loss(tree, logs, codes, shares) == pytest.approx(expected)
