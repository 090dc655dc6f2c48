"""Searches for trees over yes/no columns: our DL8.5 and the solvers of others, called alike."""

import contextlib
import io
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.branch_and_bound.solver import Solved, solve
from baselines.algorithms.yes_no_tree import Branch, Leaf, Node

NO_LIMIT = 1e9

Columns = NDArray[np.bool_]
Labels = NDArray[np.intp]
Solver = Callable[..., Solved | None]
"""Takes columns, class numbers, the greatest depth, the fewest rows in a leaf and
seconds; ``None`` if no tree was found in time. Some take a price: the share of the rows that a
split must get right."""


def by_pydl85(
    columns: Columns, labels: Labels, depth: int, min_sup: int = 1, seconds: float | None = None
) -> Solved | None:
    """DL8.5 by ``pydl8.5``, to which 0 seconds mean no limit."""
    from pydl85 import DL85Classifier

    whole_seconds = 0 if seconds is None else math.floor(seconds)
    if seconds is not None and whole_seconds == 0:
        return None
    solver = DL85Classifier(max_depth=depth, min_sup=min_sup, time_limit=whole_seconds)
    with contextlib.redirect_stdout(io.StringIO()):
        solver.fit(columns.astype(np.int32), labels)

    def node(found: Mapping[str, Any]) -> Node:
        """Nested dictionaries, whose left is where the column says yes."""
        if "feat" in found:
            return Branch(int(found["feat"]), node(found["left"]), node(found["right"]))
        return Leaf(int(found["value"]))

    if solver.tree_ is None:
        return None
    return Solved(node(solver.tree_), int(solver.error_), bool(solver.timeout_))


def by_pytrees(
    columns: Columns, labels: Labels, depth: int, min_sup: int = 1, seconds: float | None = None
) -> Solved | None:
    """DL8.5 by ``pytrees-rs``; among trees with equally few errors it may take another."""
    from pytrees import DL85Classifier

    solver = DL85Classifier(max_depth=depth, min_sup=min_sup, max_time=seconds or NO_LIMIT)
    solver.fit(columns.astype(np.float64), labels)
    if solver.tree_ is None:
        return None
    found, names = solver.tree_, solver.classes_

    def node(at: int) -> Node:
        if found.children_left[at] < 0:
            return Leaf(int(names[found.value[at]]))
        yes, no = node(found.children_right[at]), node(found.children_left[at])
        return Branch(int(found.feature[at]), yes, no)

    return Solved(node(0), int(solver.train_error_), solver.status_ != "optimal")


def by_streed(
    columns: Columns,
    labels: Labels,
    depth: int,
    min_sup: int = 1,
    seconds: float | None = None,
    price: float | None = None,
) -> Solved:
    """The fewest errors by STreeD, or with a price the least of errors and price of branches."""
    from pystreed import STreeDClassifier

    names, numbered = np.unique(labels, return_inverse=True)
    if columns.shape[1] == 0 or len(names) == 1:
        label = int(np.bincount(labels).argmax())
        return Solved(Leaf(label), int(np.sum(labels != label)), False)
    options: dict[str, Any] = {"max_depth": depth, "time_limit": seconds or NO_LIMIT}
    if price is None:
        solver = STreeDClassifier(min_leaf_node_size=min_sup, **options)
    else:
        solver = STreeDClassifier("cost-complex-accuracy", cost_complexity=price, **options)
    rows = columns.astype(np.int32)
    solver.fit(rows, numbered)

    def node(found: Any) -> Node:
        """Its right child is where the column says yes."""
        if found.is_leaf_node():
            return Leaf(int(names[int(found.label)]))
        return Branch(int(found.feature), node(found.right_child), node(found.left_child))

    wrong = int(np.sum(solver.predict(rows) != numbered))
    return Solved(node(solver.get_tree()), wrong, not solver.fit_result.is_optimal())


def by_licketysplit(
    columns: Columns,
    labels: Labels,
    depth: int,
    min_sup: int = 1,
    seconds: float | None = None,
    price: float = 0.0,
) -> Solved:
    """LicketySPLIT, greedy with a look ahead: fast, so it has no time limit."""
    from licketysplit import LicketySPLITClassifier

    solver = LicketySPLITClassifier(lambda_leaf=price, depth_budget=depth, cache_mode="bitvector")
    solver.fit(columns, labels)

    def node(paths: list[list[int]], classes: list[int]) -> Node:
        """From its leaves: on each path, ``column + 1``, negative where the answer was no."""
        if len(paths) == 1:
            return Leaf(int(classes[0]))
        sides = []
        for sign in (1, -1):
            inside = [i for i, path in enumerate(paths) if path[0] * sign > 0]
            sides.append(node([paths[i][1:] for i in inside], [classes[i] for i in inside]))
        return Branch(abs(paths[0][0]) - 1, *sides)

    paths, actions = solver.get_tree_paths()
    return Solved(node([list(path) for path in paths], list(actions)), math.nan, False)


DL85_SOLVERS: dict[str, Solver] = {
    "compiled": solve,
    "pydl8.5": by_pydl85,
    "pytrees-rs": by_pytrees,
    "streed": by_streed,
}
