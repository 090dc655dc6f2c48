"""From the lesson to one tree: several first trees, each improved and cut back; the best is kept.

A first tree is CART on the soft labels. Improving and cutting back alternate
three times: after a cut the splits that are left have other work to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradtree.distilling.alternating import (
    Lesson,
    Splits,
    alternate,
    cut_weakest,
    leaves_of,
    smoothed_logs,
    weigh,
    workspace,
)
from gradtree.distilling.grid import ThresholdGrid
from gradtree.distilling.teacher import SMALL_ERROR, Taught
from gradtree.trees.simplify import merged
from gradtree.trees.traversal import node_depths
from gradtree.trees.tree import LEAF, Tree

ROUNDS = 3
LEAST_SHARE = 0.01
"""Classes of a smaller share do not count when a first tree is grown."""
STARTS: tuple[dict[str, Any], ...] = (
    {"criterion": "gini"},
    {"criterion": "entropy"},
    {"criterion": "gini", "max_features": 0.5},
)
"""How first trees are grown."""
LARGE, SMALL = (10, 128), (8, 64)
"""Depth of first trees, and most leaves, where the forest errs little, and elsewhere."""


@dataclass(frozen=True)
class GrowConfig:
    """How large a tree may be, and how hard it is improved."""

    max_depth: int | None
    max_leaves: int | None
    starts: int
    passes: int
    seed: int


def distilled(lesson: Taught, grid: ThresholdGrid, config: GrowConfig) -> Tree:
    """The tree, over numbers, that loses least on the new rows held out."""
    depth, leaves = LARGE if lesson.error < SMALL_ERROR else SMALL
    depth = depth if config.max_depth is None else config.max_depth
    leaves = min(leaves, lesson.plain_leaves)
    if config.max_leaves is not None:
        leaves = min(leaves, config.max_leaves)
    n_codes = np.array([len(edges) + 1 for edges in grid.edges], dtype=np.int64)
    rows = Lesson(lesson.codes, lesson.shares, lesson.weight, n_codes)
    best: tuple[float, Splits, NDArray[np.float64]] | None = None
    for start in STARTS[: config.starts]:
        tree = first_tree(rows, depth, config.seed, start)
        for _ in range(ROUNDS):
            improve(tree, rows, config.passes)
            tree = cut_back(tree, rows, leaves)
        log_share = fitted_logs(tree, rows)[1]
        loss = log_loss(tree, log_share, lesson.held_codes, lesson.held_shares)
        if best is None or loss < best[0]:
            best = (loss, tree, np.exp(log_share))
    assert best is not None
    return merged(over_numbers(best[1], best[2], grid))[0]


def first_tree(rows: Lesson, depth: int, seed: int, options: dict[str, Any]) -> Splits:
    """CART on soft labels: every row once per class, as heavy as the class is probable."""
    from sklearn.tree import DecisionTreeClassifier

    row, label = np.nonzero(rows.shares > LEAST_SHARE)
    grown = DecisionTreeClassifier(max_depth=depth, random_state=seed, **options)
    weight = rows.shares[row, label] * rows.weight[row]
    tree = grown.fit(rows.codes[row], label, sample_weight=weight).tree_
    inner = tree.children_left != LEAF
    return Splits(
        tree.children_left.astype(np.int64),
        tree.children_right.astype(np.int64),
        np.where(inner, tree.feature, 0).astype(np.int64),
        # Codes are whole numbers: up to t is below the next whole number.
        np.where(inner, np.floor(tree.threshold) + 1, 0).astype(np.int64),
    )


def improve(tree: Splits, rows: Lesson, passes: int) -> None:
    """Change the splits, in place, as long as that makes the loss smaller."""
    depth = node_depths(*_children(tree)).astype(np.int64)
    work = workspace(len(rows.weight), len(depth), rows.shares.shape[1])
    alternate(tree, depth, rows, work, passes)


def fitted_logs(tree: Splits, rows: Lesson) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weight of every class at every node, and the logarithms of its smoothed shares."""
    count, log_share = np.zeros((2, len(tree.left), rows.shares.shape[1]))
    weigh(tree, rows, count)
    smoothed_logs(tree, count, log_share)
    return count, log_share


def cut_back(tree: Splits, rows: Lesson, most: int) -> Splits:
    """The tree without what no row reaches, what saves nothing, and more leaves than allowed."""
    count, _ = fitted_logs(tree, rows)
    tree = rebuilt(tree, count.sum(axis=1) > 0)
    count, log_share = fitted_logs(tree, rows)
    n_nodes = len(tree.left)
    room = np.empty(n_nodes), np.empty(n_nodes, np.int64), np.empty(n_nodes, np.bool_)
    cut_weakest(tree, -(count * log_share).sum(axis=1), most, *room)
    return rebuilt(tree, np.ones(n_nodes, dtype=np.bool_))


def rebuilt(tree: Splits, reached: NDArray[np.bool_]) -> Splits:
    """The tree without nodes that are not reached, numbered depth first."""

    def settled(node: int) -> int:
        while tree.left[node] != LEAF:
            sides = (int(tree.left[node]), int(tree.right[node]))
            if reached[sides[0]] and reached[sides[1]]:
                break
            node = sides[0] if reached[sides[0]] else sides[1]
        return node

    kept: list[int] = []
    left: list[int] = []
    right: list[int] = []
    waiting = [(0, LEAF)]
    while waiting:
        node, parent = waiting.pop()
        node = settled(node)
        if parent != LEAF:
            # The left child comes right after its parent, so a later one is the right child.
            (left if left[parent] == LEAF else right)[parent] = len(kept)
        if tree.left[node] != LEAF:
            waiting.append((int(tree.right[node]), len(kept)))
            waiting.append((int(tree.left[node]), len(kept)))
        kept.append(node)
        left.append(LEAF)
        right.append(LEAF)
    return Splits(
        np.array(left, dtype=np.int64),
        np.array(right, dtype=np.int64),
        tree.feature[kept],
        tree.cut[kept],
    )


def log_loss(
    tree: Splits,
    log_share: NDArray[np.float64],
    codes: NDArray[np.uint8],
    shares: NDArray[np.float64],
) -> float:
    """Mean log loss of soft labels."""
    leaf = np.empty(len(codes), dtype=np.int64)
    leaves_of(tree, codes, leaf)
    return float(-(shares * log_share[leaf]).sum(axis=1).mean())


def over_numbers(tree: Splits, value: NDArray[np.float64], grid: ThresholdGrid) -> Tree:
    """The same tree with thresholds instead of codes."""
    inner = tree.left != LEAF
    threshold = [
        grid.edges[column][cut - 1] if splits else np.nan
        for column, cut, splits in zip(tree.feature, tree.cut, inner, strict=True)
    ]
    return Tree(
        *_children(tree),
        np.where(inner, tree.feature, LEAF),
        np.array(threshold),
        value,
        len(grid.edges),
    )


def _children(tree: Splits) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    return tree.left.astype(np.int32), tree.right.astype(np.int32)
