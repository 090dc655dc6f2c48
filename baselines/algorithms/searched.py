"""Classifiers whose tree is searched over yes/no columns by a solver."""

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from baselines.algorithms.binarise import (
    Binariser,
    below,
    first_columns,
    ranked_columns,
    threshold_binariser,
)
from baselines.algorithms.classifier import TreeClassifier
from baselines.algorithms.price_pruning import error_risk, priced
from baselines.algorithms.solvers import Solver, by_licketysplit, by_streed, solve
from baselines.algorithms.yes_no_tree import (
    Branch,
    Leaf,
    Node,
    on_features,
    relabelled,
    size,
    with_shares,
)
from gradtree.trees.tree import Tree

Matrix = NDArray[np.float64]
Labels = NDArray[np.intp]
Found = tuple[Binariser, Node]
"""Columns, and the tree over them."""


class SearchedTreeClassifier(TreeClassifier):
    """Binarise the features, search a tree over the yes/no columns; subclasses say how.

    ``found_`` is the tree over the columns of ``binariser_``, ``size_`` its inner nodes and leaves,
    the size that the paper reports, and ``tree_`` the same decisions as thresholds on the features,
    which may take more nodes. ``proved_``: the search ended by itself, which is the solver's proof.
    """

    renumber = True  # so that the classes of training rows are 0, 1, … for the solver

    @abstractmethod
    def _find(self, X: Matrix, labels: Labels, X_bins: Matrix, ranked: Binariser | None) -> Found:
        """Binarise and search; the labels are numbered for the solver."""

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        X_bins: ArrayLike | None = None,
        ranked: Binariser | None = None,
    ) -> Self:
        """Search the tree.

        ``classes`` are all labels, in case some occur in none of the rows, ``X_bins`` the rows that
        bins are made from, if not those of ``X``, and ``ranked`` what ``ranked_columns`` guesses
        for these rows, where that is known.
        """
        rows, labels = self._checked(X, y, classes)
        bins = rows if X_bins is None else validate_data(self, X_bins, dtype=float, reset=False)
        names = np.unique(labels) if self.renumber else np.arange(len(self.classes_))
        numbered = np.searchsorted(names, labels)
        self.binariser_, found = self._find(rows, numbered, bins, ranked)
        columns = self.binariser_.transform(rows)
        self.found_ = with_shares(relabelled(found, names), columns, labels, len(self.classes_))
        self.size_ = size(self.found_)
        self.tree_ = self._cut_back(on_features(self.found_, self.binariser_, rows))
        return self

    def _cut_back(self, tree: Tree) -> Tree:
        return tree


@dataclass(eq=False, repr=False)
class OptimalTreeClassifier(SearchedTreeClassifier):
    """The tree over quantile thresholds with the fewest training errors among all of a depth."""

    max_depth: int = 4
    n_thresholds: int = 5  # most that are tried per feature
    min_samples_leaf: int = 1
    time_limit: float | None = None  # seconds for STreeD, after which its best tree so far is taken
    random_state: int | None = None  # ignored: the search has no chance in it

    def _find(self, X: Matrix, labels: Labels, X_bins: Matrix, ranked: Binariser | None) -> Found:
        binariser = threshold_binariser(X_bins, self.n_thresholds)
        columns, least = binariser.transform(X), self.min_samples_leaf
        found = by_streed(columns, labels, self.max_depth, least, self.time_limit)
        self.proved_ = not found.timed_out
        return binariser, found.tree


@dataclass(eq=False, repr=False)
class SolverTreeClassifier(SearchedTreeClassifier):
    """The tree that a solver finds for a depth and a price of a leaf, over guessed columns.

    How deep a search goes decides how many columns it can afford: a search of
    depth d gets the best columns such that rows x columns^d stays within
    ``work``. So what it takes is bounded on every dataset by a rule that gives the
    same tree on any machine; ``time_limit`` is there for what the rule misjudges.
    """

    solver: str = "dl85"  # a name of SOLVERS
    max_depth: int = 4
    # The share of the training rows that one more leaf must get right to be worth having. "dl85"
    # cuts its tree back at that price; the others count it in their search.
    complexity: float = 0.0
    work: float = 1e9
    time_limit: float = 60.0  # seconds for one search, after which the best tree so far is taken
    random_state: int | None = None  # of the forest that guesses the columns

    def _cut_back(self, tree: Tree) -> Tree:
        if self.solver != "dl85":
            return tree
        return priced(tree, error_risk(tree)).pruned(self.complexity)

    def _find(self, X: Matrix, labels: Labels, X_bins: Matrix, ranked: Binariser | None) -> Found:
        if self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {sorted(SOLVERS)}, not {self.solver!r}")
        ranked = ranked or ranked_columns(X, labels, self.random_state)
        power = 2 if self.solver == "licketysplit" else self.max_depth  # whatever its depth
        binariser = first_columns(ranked, len(X), power, self.work)
        columns = binariser.transform(X)
        self.proved_ = True
        if columns.shape[1] == 0 or labels.max() == 0:
            return binariser, Leaf(int(np.bincount(labels).argmax()))
        price = {} if self.solver == "dl85" else {"price": self.complexity}
        search = SOLVERS[self.solver]
        found = search(columns, labels, self.max_depth, 1, self.time_limit, **price)
        assert found is not None
        self.proved_ = not found.timed_out
        return binariser, found.tree


SOLVERS: dict[str, Solver] = {"dl85": solve, "streed": by_streed, "licketysplit": by_licketysplit}


@dataclass(eq=False, repr=False)
class ConTreeClassifier(SearchedTreeClassifier):
    """ConTree: an optimal tree whose thresholds are not guessed beforehand, by ``pycontree``."""

    max_depth: int = 3
    complexity: float = 0.0  # the share of the training rows that one more split must get right
    time_limit: float = 60.0  # seconds, after which the best tree so far is taken
    random_state: int | None = None  # ignored: the search has no chance in it

    def _find(self, X: Matrix, labels: Labels, X_bins: Matrix, ranked: Binariser | None) -> Found:
        """Every split of the tree is a column of its own."""
        from pycontree import ConTree

        self.proved_ = True
        if labels.max() == 0:
            return below([]), Leaf(0)
        solver = ConTree(
            max_depth=self.max_depth, complexity_cost=self.complexity, time_limit=self.time_limit
        )
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            solver.fit(X.astype(np.float32).astype(np.float64), labels)
        self.proved_ = not any("time limit" in str(each.message) for each in said)
        splits: list[tuple[int, float]] = []

        def node(of: Any) -> Node:
            if of.is_leaf_node():
                return Leaf(int(of.get_label()))
            splits.append((int(of.get_split_feature()), float(of.get_split_threshold())))
            column = len(splits) - 1
            return Branch(column, node(of.get_left()), node(of.get_right()))

        tree = node(solver.get_tree())
        return below(splits), tree
