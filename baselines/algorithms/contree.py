"""ConTree: the tree with the fewest errors over thresholds anywhere, by the library pycontree."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from baselines.algorithms.binarise import Binariser
from baselines.algorithms.labels import all_classes, class_numbers
from baselines.algorithms.searched import SearchedTreeClassifier
from baselines.algorithms.yes_no_tree import Branch, Leaf, Node, on_features, with_shares


class ConTreeClassifier(SearchedTreeClassifier):
    """An optimal tree whose thresholds are not guessed beforehand.

    Parameters
    ----------
    max_depth : int
    complexity : float
        The share of the training rows that one more split must get right.
    time_limit : float
        Seconds, after which the best tree so far is taken.
    random_state : ignored
        The search has no chance in it.

    Attributes
    ----------
    proved_ : bool
        Whether the search ended within its time limit.
    """

    def __init__(
        self,
        max_depth: int = 3,
        complexity: float = 0.0,
        time_limit: float = 60.0,
        random_state: int | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.complexity = complexity
        self.time_limit = time_limit
        self.random_state = random_state

    def fit(  # type: ignore[override]
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> Self:
        """Search the tree; ``classes`` names all class labels, where some have no row."""
        rows, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_ = all_classes(classes, y)
        labels = class_numbers(self.classes_, y)
        splits: list[tuple[int, float]] = []
        found = self._solve(rows.astype(np.float32).astype(np.float64), labels, splits)
        features = np.array([feature for feature, _ in splits], dtype=np.intp)
        cuts = np.array([cut for _, cut in splits], dtype=np.float64)
        self.binariser_ = Binariser(features, np.full(len(cuts), -np.inf), cuts)
        columns = self.binariser_.transform(rows)
        self.found_ = with_shares(found, columns, labels, len(self.classes_))
        self.tree_ = on_features(self.found_, self.binariser_, rows)
        self.size_ = self.tree_.node_count
        return self

    def _solve(
        self, X: NDArray[np.float64], labels: NDArray[np.intp], splits: list[tuple[int, float]]
    ) -> Node:
        """The tree, each of its splits a column of its own that is added to ``splits``."""
        from pycontree import ConTree

        present, numbered = np.unique(labels, return_inverse=True)
        self.proved_ = True
        if len(present) == 1:
            return Leaf(int(present[0]))
        solver = ConTree(
            max_depth=self.max_depth, complexity_cost=self.complexity, time_limit=self.time_limit
        )
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            solver.fit(X, numbered)
        self.proved_ = not any("time limit" in str(each.message) for each in said)

        def node(of: Any) -> Node:
            if of.is_leaf_node():
                return Leaf(int(present[of.get_label()]))
            splits.append((int(of.get_split_feature()), float(of.get_split_threshold())))
            column = len(splits) - 1
            return Branch(column, node(of.get_left()), node(of.get_right()))

        return node(solver.get_tree())

    def _binariser(self, X: NDArray[np.float64]) -> Binariser:
        return self.binariser_

    def _search(self, columns: NDArray[np.bool_], labels: NDArray[np.intp]) -> Node:
        return self.found_
