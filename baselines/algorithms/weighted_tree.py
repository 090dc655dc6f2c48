"""CART with class weights that go half the way to balance, on a grid of thresholds if given."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from gradtree.distilling.grid import ThresholdGrid
from gradtree.trees.tree import LEAF


class WeightedTreeClassifier(DecisionTreeClassifier):
    """CART whose classes weigh as the square roots of their shares among real rows.

    Parameters
    ----------
    class_shares : sequence of float, optional
        Shares of the classes, in sorted order, before any rebalancing; those of
        the training rows when not given.
    criterion, ccp_alpha, max_leaf_nodes, random_state : as in scikit-learn's tree.
    """

    def __init__(
        self,
        class_shares: tuple[float, ...] | None = None,
        criterion: str = "gini",
        ccp_alpha: float = 0.0,
        max_leaf_nodes: int | None = None,
        random_state: int | None = None,
    ) -> None:
        super().__init__(
            criterion=criterion,
            ccp_alpha=ccp_alpha,
            max_leaf_nodes=max_leaf_nodes,
            random_state=random_state,
        )
        self.class_shares = class_shares

    def fit(self, X: Any, y: Any, grid: ThresholdGrid | None = None) -> Self:
        """Grow the tree; with a grid, every threshold is one of its edges."""
        classes, labels, counts = np.unique(y, return_inverse=True, return_counts=True)
        shares = counts if self.class_shares is None else np.asarray(self.class_shares)
        if len(shares) != len(classes):
            shares = shares[np.asarray(classes).astype(np.intp)]
        weight = (np.sqrt(shares) / counts)[labels]
        weight *= len(weight) / weight.sum()
        if grid is None:
            super().fit(X, y, sample_weight=weight)
            return self
        super().fit(grid.codes(X), y, sample_weight=weight)
        tree = self.tree_
        for node in np.flatnonzero(tree.children_left != LEAF):
            edges = grid.edges[tree.feature[node]]
            tree.threshold[node] = edges[int(tree.threshold[node])]
        return self
