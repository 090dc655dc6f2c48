"""Training on values that validation rows have.

Where the codes of training rows know something of the labels, as leave-one-out means do, a
threshold between two close training values separates what no new row shows. So all rows can be
rounded to the nearest value of the validation rows; the thresholds found are then put halfway
between two such values, where they split unrounded rows as training split rounded ones.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradtree.trees.dense import DenseTree

MAX_VALUES = 256


class Grid:
    """The distinct values of some rows, column by column, and the edges between them."""

    def __init__(self, X: NDArray[Any]) -> None:
        self.values = [_distinct(X[:, column]) for column in range(X.shape[1])]
        # Halves are added, not sums halved: two large numbers may not have a sum.
        self.edges = [values[:-1] / 2 + values[1:] / 2 for values in self.values]

    def rounded(self, X: NDArray[Any]) -> NDArray[Any]:
        """A copy of ``X`` with the values of the grid."""
        rows = np.empty_like(X)
        for column, (values, edges) in enumerate(zip(self.values, self.edges, strict=True)):
            rows[:, column] = values[np.searchsorted(edges, X[:, column], side="right")]
        return rows

    def between(self, dense: DenseTree) -> DenseTree:
        """The tree that splits unrounded rows as ``dense`` splits rounded ones."""
        thresholds = dense.thresholds.copy()
        limit = np.finfo(thresholds.dtype).max
        for node, feature in enumerate(dense.split_features):
            edges = np.concatenate([[-limit], self.edges[feature], [limit]])
            place = np.searchsorted(self.values[feature], thresholds[node, feature], side="left")
            thresholds[node, feature] = edges[place]
        return DenseTree(thresholds, dense.logits, dense.leaves)


def _distinct(column: NDArray[Any]) -> NDArray[Any]:
    values = np.unique(column)
    if len(values) <= MAX_VALUES:
        return values
    return np.unique(np.quantile(column, np.linspace(0, 1, MAX_VALUES), method="nearest"))
