"""An optimal tree over quantile thresholds, through the maintained solver STreeD."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.binarise import Binariser, threshold_binariser
from baselines.algorithms.searched import SearchedTreeClassifier
from baselines.algorithms.streed import solve_with_streed
from baselines.algorithms.yes_no_tree import Node


class OptimalTreeClassifier(SearchedTreeClassifier):
    """The tree with the fewest training errors among all of a depth.

    Parameters
    ----------
    max_depth : int
    n_thresholds : int
        Most thresholds that are tried per feature.
    min_samples_leaf : int
    time_limit : float, optional
        Seconds for the search, after which the best tree so far is taken.
    random_state : ignored
        The search has no chance in it.

    Attributes
    ----------
    proved_ : bool
        Whether the search ended, so that no tree of that depth is better.
    """

    def __init__(
        self,
        max_depth: int = 4,
        n_thresholds: int = 5,
        min_samples_leaf: int = 1,
        time_limit: float | None = None,
        random_state: int | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.n_thresholds = n_thresholds
        self.min_samples_leaf = min_samples_leaf
        self.time_limit = time_limit
        self.random_state = random_state

    def _binariser(self, X: NDArray[np.float64]) -> Binariser:
        return threshold_binariser(X, self.n_thresholds)

    def _search(self, columns: NDArray[np.bool_], labels: NDArray[np.intp]) -> Node:
        found = solve_with_streed(
            columns, labels, self.max_depth, self.min_samples_leaf, self.time_limit
        )
        self.proved_ = not found.timed_out
        return found.tree
