"""Hierarchical shrinkage: every node's shares are drawn towards those of the nodes above it.

After Agarwal, Tan, Ronen, Singh and Yu (ICML 2022). The difference between a
node and its parent counts for 1 / (1 + shrinkage / rows of the parent), so
what few rows say about a leaf is tempered by what more rows say above it.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from gradtree.trees.tree import LEAF, Tree


class ShrunkTreeClassifier(DecisionTreeClassifier):
    """CART, pruned at a price, with hierarchical shrinkage of its class shares.

    Parameters
    ----------
    shrinkage : float
        Rows of a parent at which the step to its child counts for half.
    criterion, ccp_alpha, random_state : as in scikit-learn's tree.
    """

    def __init__(
        self,
        shrinkage: float = 1.0,
        criterion: str = "gini",
        ccp_alpha: float = 0.0,
        random_state: int | None = None,
    ) -> None:
        super().__init__(criterion=criterion, ccp_alpha=ccp_alpha, random_state=random_state)
        self.shrinkage = shrinkage

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        super().fit(X, y, sample_weight=sample_weight, check_input=check_input)
        tree = self.tree_
        tree.value[:, 0, :] = shrunk(
            tree.children_left,
            tree.children_right,
            tree.value[:, 0, :],
            tree.weighted_n_node_samples,
            self.shrinkage,
        )
        return self


def shrunk(
    left: NDArray[Any],
    right: NDArray[Any],
    value: NDArray[np.float64],
    rows: NDArray[Any],
    shrinkage: float,
) -> NDArray[np.float64]:
    """Class shares of shape (n_nodes, n_classes) after shrinkage; the root keeps its own."""
    result = np.array(value)
    for node in np.flatnonzero(left != LEAF):
        weight = 1 / (1 + shrinkage / rows[node])
        for child in (left[node], right[node]):
            result[child] = result[node] + weight * (value[child] - value[node])
    return result.clip(min=0.0)  # sums of differences round below zero


def shrunk_tree(tree: Tree, shrinkage: float) -> NDArray[np.float64]:
    """The class shares of a canonical tree after shrinkage."""
    rows = tree.n_node_samples
    assert rows is not None, "the tree does not know its training rows"
    return shrunk(tree.children_left, tree.children_right, tree.value, rows, shrinkage)
