"""The solver STreeD over yes/no columns, for every learner that uses it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.branch_and_bound.solver import Solved
from baselines.algorithms.yes_no_tree import Branch, Leaf, Node, relabelled

NO_LIMIT = 1e9


def solve_with_streed(
    columns: NDArray[np.bool_],
    labels: NDArray[np.intp],
    max_depth: int,
    min_sup: int = 1,
    seconds: float | None = None,
    price: float | None = None,
) -> Solved:
    """The tree with the fewest errors; among equally good ones STreeD takes its own.

    Parameters
    ----------
    min_sup : fewest rows in a leaf.
    price : share of the rows that a branch must get right to be worth having.
    """
    from pystreed import STreeDClassifier

    names, numbered = np.unique(labels, return_inverse=True)
    if columns.shape[1] == 0 or len(names) == 1:
        label = int(np.bincount(labels).argmax())
        return Solved(Leaf(label), int(np.sum(labels != label)), False)
    options: dict[str, Any] = {"max_depth": max_depth, "time_limit": seconds or NO_LIMIT}
    if price is None:
        solver = STreeDClassifier(min_leaf_node_size=min_sup, **options)
    else:
        solver = STreeDClassifier("cost-complex-accuracy", cost_complexity=price, **options)
    rows = columns.astype(np.int32)
    solver.fit(rows, numbered)
    wrong = int(np.sum(solver.predict(rows) != numbered))
    tree = relabelled(_node(solver.get_tree()), names)
    return Solved(tree, wrong, not solver.fit_result.is_optimal())


def _node(found: Any) -> Node:
    """STreeD's nodes; its right child is where the column says yes."""
    if found.is_leaf_node():
        return Leaf(int(found.label))
    return Branch(int(found.feature), _node(found.right_child), _node(found.left_child))
