"""Thresholds that a tree may use, and rows as the numbers of the cells between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_EDGES = 255
"""So that the number of a cell fits into a byte."""


@dataclass(frozen=True, eq=False)
class ThresholdGrid:
    """Per column, sorted edges between cells."""

    edges: tuple[NDArray[np.float64], ...]

    def codes(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """The number of the cell that each value lies in."""
        rows = np.asarray(X, dtype=np.float32).astype(np.float64)
        cells = [np.searchsorted(edges, rows[:, j]) for j, edges in enumerate(self.edges)]
        return np.column_stack(cells).astype(np.float64)


def grid_of(X: NDArray[Any]) -> ThresholdGrid:
    """Edges midway between the distinct values of these rows, at most 255 per column."""
    edges = []
    for column in np.asarray(X, dtype=np.float32).astype(np.float64).T:
        values = np.unique(column)
        between = (values[:-1] + values[1:]) / 2
        if len(between) > MOST_EDGES:
            shares = np.linspace(0, 1, MOST_EDGES)
            between = np.unique(np.quantile(between, shares, method="nearest"))
        edges.append(between)
    return ThresholdGrid(tuple(edges))
