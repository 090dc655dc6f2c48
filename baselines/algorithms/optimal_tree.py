"""An optimal tree over quantile thresholds, through the maintained solver STreeD."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.binarise import Binariser, threshold_binariser
from baselines.algorithms.searched import SearchedTreeClassifier
from baselines.algorithms.yes_no_tree import Branch, Leaf, Node

NO_LIMIT = 1e9


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
        from pystreed import STreeDClassifier

        present, numbered = np.unique(labels, return_inverse=True)
        if columns.shape[1] == 0 or len(present) == 1:
            self.proved_ = True
            return Leaf(int(np.bincount(labels).argmax()))
        solver = STreeDClassifier(
            max_depth=self.max_depth,
            min_leaf_node_size=self.min_samples_leaf,
            time_limit=NO_LIMIT if self.time_limit is None else self.time_limit,
        )
        solver.fit(columns.astype(np.int32), numbered)
        self.proved_ = bool(solver.fit_result.is_optimal())
        return _node(solver.get_tree(), present)


def _node(found: Any, present: NDArray[np.intp]) -> Node:
    """The solver's nodes; its right child is where the column says yes."""
    if found.is_leaf_node():
        return Leaf(int(present[found.label]))
    yes, no = _node(found.right_child, present), _node(found.left_child, present)
    return Branch(int(found.feature), yes, no)
