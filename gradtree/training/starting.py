"""Where the thresholds of a run start."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradtree.trees.dense import DenseTree

_ENOUGH_ROWS = 10_000


def sorted_columns(X: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
    """Every column of some rows, ascending; of many rows an even part stands for all."""
    if len(rows) > _ENOUGH_ROWS:
        rows = rows[np.linspace(0, len(rows) - 1, _ENOUGH_ROWS).astype(np.intp)]
    return np.sort(X[rows], axis=0)


def at_quantiles(initial: DenseTree, columns: NDArray[Any], seed: int) -> DenseTree:
    """A tree whose thresholds lie between values of their features, at random quantiles.

    Thresholds around zero, as the paper draws them, leave nodes that no row or every row passes to
    the left, wherever zero lies among the values.
    """
    rng = np.random.default_rng(np.random.SeedSequence([seed, 2]))
    last = len(columns) - 1
    below = (rng.random(initial.thresholds.shape) * last).astype(np.intp)
    above = np.minimum(below + 1, last)
    # Halves are added, not sums halved: two large numbers may not have a sum.
    thresholds = np.take_along_axis(columns, below, axis=0) * columns.dtype.type(0.5)
    thresholds += np.take_along_axis(columns, above, axis=0) * columns.dtype.type(0.5)
    return DenseTree(thresholds, initial.logits, initial.leaves)
