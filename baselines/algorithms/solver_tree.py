"""Trees by solvers of others and of ours over the same guessed columns, at a price per leaf.

How deep a search goes decides how many columns it can afford: a search of
depth d gets the best columns such that rows x columns^d stays within
``work``. So what it takes is bounded on every dataset by a rule that gives the
same tree on any machine; ``time_limit`` is there for what the rule misjudges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from baselines.algorithms.binarise import Binariser
from baselines.algorithms.branch_and_bound.solver import solve
from baselines.algorithms.guessed_columns import first_columns, ranked_columns
from baselines.algorithms.labels import all_classes, class_numbers
from baselines.algorithms.price_pruning import error_risk, priced
from baselines.algorithms.searched import SearchedTreeClassifier
from baselines.algorithms.streed import solve_with_streed
from baselines.algorithms.yes_no_tree import (
    Branch,
    Leaf,
    Node,
    on_features,
    relabelled,
    with_shares,
)

Columns = NDArray[np.bool_]
Labels = NDArray[np.intp]


class Found(NamedTuple):
    """A tree over columns and whether the search ended by itself."""

    tree: Node
    proved: bool


class SolverTreeClassifier(SearchedTreeClassifier):
    """The tree that a solver finds for a depth and a price of a leaf.

    Parameters
    ----------
    solver : {"dl85", "streed", "licketysplit"}
    max_depth : int
    complexity : float
        The share of the training rows that one more leaf must get right to be
        worth having. ``dl85`` cuts its tree back at that price; the others
        count it in their search.
    work : float
        Rows x columns^depth that a search may cost (see the module).
    time_limit : float
        Seconds for one search, after which the best tree so far is taken.
    random_state : int, optional
        Of the forest that guesses the columns.

    Attributes
    ----------
    proved_ : bool
        Whether the search ended within its time limit.
    """

    def __init__(
        self,
        solver: str = "dl85",
        max_depth: int = 4,
        complexity: float = 0.0,
        work: float = 1e9,
        time_limit: float = 60.0,
        random_state: int | None = None,
    ) -> None:
        self.solver = solver
        self.max_depth = max_depth
        self.complexity = complexity
        self.work = work
        self.time_limit = time_limit
        self.random_state = random_state

    def fit(  # type: ignore[override]
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        ranked: Binariser | None = None,
    ) -> Self:
        """Search the tree.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        classes : array-like, optional
            All class labels, in case some occur in none of the rows.
        ranked : Binariser, optional
            Columns for these rows from ``ranked_columns``, where they are known.
        """
        if self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {sorted(SOLVERS)}, not {self.solver!r}")
        rows, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_ = all_classes(classes, y)
        labels = class_numbers(self.classes_, y)
        if ranked is None:
            ranked = ranked_columns(rows, labels, self.random_state)
        power = POLYNOMIAL.get(self.solver, self.max_depth)
        self.binariser_ = first_columns(ranked, len(rows), power, self.work)
        columns = self.binariser_.transform(rows)
        found = self._search(columns, labels)
        self.found_ = with_shares(found, columns, labels, len(self.classes_))
        self.tree_ = on_features(self.found_, self.binariser_, rows)
        if self.solver == "dl85":
            self.tree_ = priced(self.tree_, error_risk(self.tree_)).pruned(self.complexity)
        self.size_ = self.tree_.node_count
        return self

    def _binariser(self, X: NDArray[np.float64]) -> Binariser:
        return self.binariser_

    def _search(self, columns: Columns, labels: Labels) -> Node:
        present, numbered = np.unique(labels, return_inverse=True)
        self.proved_ = True
        if columns.shape[1] == 0 or len(present) == 1:
            return Leaf(int(np.bincount(labels).argmax()))
        found = SOLVERS[self.solver](
            columns, numbered, self.max_depth, self.complexity, self.time_limit
        )
        self.proved_ = found.proved
        return relabelled(found.tree, present)


def by_dl85(columns: Columns, labels: Labels, depth: int, price: float, seconds: float) -> Found:
    """Ours: the fewest errors at a depth."""
    found = solve(columns, labels, depth, 1, seconds)
    return Found(found.tree, not found.timed_out)


def by_streed(columns: Columns, labels: Labels, depth: int, price: float, seconds: float) -> Found:
    """STreeD, whose price is one of branches."""
    found = solve_with_streed(columns, labels, depth, seconds=seconds, price=price)
    return Found(found.tree, not found.timed_out)


def by_licketysplit(
    columns: Columns, labels: Labels, depth: int, price: float, seconds: float
) -> Found:
    """LicketySPLIT, greedy with a look ahead: fast, so it has no time limit."""
    from licketysplit import LicketySPLITClassifier

    solver = LicketySPLITClassifier(
        lambda_leaf=price, depth_budget=depth, cache_mode="bitvector"
    ).fit(columns, labels)
    paths, actions = solver.get_tree_paths()
    return Found(_of_paths([list(path) for path in paths], list(actions)), True)


def _of_paths(paths: list[list[int]], labels: list[int]) -> Node:
    """A tree from its leaves: on each path, ``column + 1``, negative where the answer was no."""
    if len(paths) == 1:
        return Leaf(int(labels[0]))
    column = abs(paths[0][0]) - 1
    sides = []
    for sign in (1, -1):
        inside = [i for i, path in enumerate(paths) if path[0] * sign > 0]
        sides.append(_of_paths([paths[i][1:] for i in inside], [labels[i] for i in inside]))
    return Branch(column, *sides)


SOLVERS: dict[str, Callable[[Columns, Labels, int, float, float], Found]] = {
    "dl85": by_dl85,
    "streed": by_streed,
    "licketysplit": by_licketysplit,
}
POLYNOMIAL = {"licketysplit": 2}
"""Solvers whose cost is a power of the columns that does not grow with the depth."""
