"""Kinds of CART beyond scikit-learn's: with shrinkage, with class weights, for quantiles."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from gradtree.trees.tree import LEAF

MOST_EDGES = 255


Grid = list[NDArray[np.float64]]
"""Thresholds that a tree may use: per column, sorted edges between cells."""


def cells_of(X: NDArray[Any], grid: Grid) -> NDArray[np.float64]:
    """The number of the cell that each value lies in."""
    rows = np.asarray(X, dtype=np.float32).astype(np.float64)
    cells = [np.searchsorted(edges, column) for edges, column in zip(grid, rows.T, strict=True)]
    return np.column_stack(cells).astype(np.float64)


def grid_of(X: NDArray[Any]) -> Grid:
    """Edges midway between the distinct values of these rows, at most 255 per column."""
    grid = []
    for column in np.asarray(X, dtype=np.float32).astype(np.float64).T:
        values = np.unique(column)
        between = (values[:-1] + values[1:]) / 2
        if len(between) > MOST_EDGES:
            shares = np.linspace(0, 1, MOST_EDGES)
            between = np.unique(np.quantile(between, shares, method="nearest"))
        grid.append(between)
    return grid


class WeightedTreeClassifier(DecisionTreeClassifier):
    """CART whose classes weigh as the square roots of their shares among real rows.

    ``class_shares`` are those before any rebalancing, in sorted order; by default those of the
    training rows.
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

    def fit(self, X: Any, y: Any, grid: Grid | None = None) -> Self:
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
        super().fit(cells_of(X, grid), y, sample_weight=weight)
        tree = self.tree_
        for node in np.flatnonzero(tree.children_left != LEAF):
            tree.threshold[node] = grid[tree.feature[node]][int(tree.threshold[node])]
        return self


def shrink(model: DecisionTreeClassifier, shrinkage: float) -> DecisionTreeClassifier:
    """A fitted CART with hierarchical shrinkage of its class shares, changed in place."""
    tree = model.tree_
    rows = tree.weighted_n_node_samples
    tree.value[:, 0, :] = shrunk(tree, tree.value[:, 0, :], rows, shrinkage)
    return model


def shrunk(
    tree: Any, value: NDArray[np.float64], rows: Any, shrinkage: float
) -> NDArray[np.float64]:
    """Class shares of shape (n_nodes, n_classes) after shrinkage; the root keeps its own.

    After Agarwal, Tan, Ronen, Singh and Yu (ICML 2022). The difference between a
    node and its parent counts for 1 / (1 + shrinkage / rows of the parent), so
    what few rows say about a leaf is tempered by what more rows say above it.
    """
    left, right, result = tree.children_left, tree.children_right, np.array(value)
    for node in np.flatnonzero(left != LEAF):
        weight = 1 / (1 + shrinkage / rows[node])
        for child in (left[node], right[node]):
            result[child] = result[node] + weight * (value[child] - value[node])
    return result.clip(min=0.0)  # sums of differences round below zero


class QuantileCart(DecisionTreeRegressor):
    """CART, grown by squared error, whose leaves predict a quantile of their training rows.

    Parameters
    ----------
    quantile : float, default=0.5
    max_depth, min_samples_leaf, random_state : as in scikit-learn's tree.
    """

    def __init__(
        self,
        quantile: float = 0.5,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        random_state: int | None = None,
    ) -> None:
        super().__init__(
            max_depth=max_depth, min_samples_leaf=min_samples_leaf, random_state=random_state
        )
        self.quantile = quantile

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        super().fit(X, y, sample_weight=sample_weight, check_input=check_input)
        told = pd.Series(np.ravel(y)).groupby(self.apply(X)).quantile(self.quantile)
        self.tree_.value[told.index.to_numpy(), 0, 0] = told.to_numpy()
        return self


@dataclass(frozen=True, eq=False)
class QuantileTrees:
    """One fitted tree per quantile, the middle one that of the median, which ``predict`` tells."""

    trees: tuple[Any, ...]

    def predict(self, X: Any) -> NDArray[np.float64]:
        return np.asarray(self.trees[len(self.trees) // 2].predict(X))

    def predict_quantiles(self, X: Any) -> NDArray[np.float64]:
        return np.column_stack([tree.predict(X) for tree in self.trees])
