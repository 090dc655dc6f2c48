"""What an engine gets."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradtree.engines.streams import Order
from gradtree.engines.vectors import LANES


@dataclass(frozen=True, eq=False)
class Samples:
    """The rows ``rows`` of ``X``, ``y`` and ``weight``. Weights have mean one over those rows."""

    X: NDArray[Any]
    y: NDArray[np.int64]
    weight: NDArray[Any]
    rows: NDArray[np.int64]
    worth: NDArray[Any] | None = None  # what a row counts in a score: weight without its class's

    @property
    def score_weight(self) -> NDArray[Any]:
        """``worth``, or ones."""
        return np.ones(len(self.y)) if self.worth is None else self.worth

    @cached_property
    def packed(self) -> NDArray[Any]:
        """The rows side by side, each with its label and its weight at the end.

        A row then costs few lines of the cache, wherever it is: its length is a multiple of 32
        bytes and the table begins with a line.
        """
        (n_rows, n_features), dtype = (len(self.rows), self.X.shape[1]), self.X.dtype
        width = -(-(n_features + 2) // LANES) * LANES
        room = np.zeros(n_rows * width + 64, dtype=dtype)
        start = -room.ctypes.data % 64 // dtype.itemsize
        table = room[start : start + n_rows * width].reshape(n_rows, width)
        table[:, :n_features] = self.X[self.rows]
        table[:, -2], table[:, -1] = self.y[self.rows], self.weight[self.rows]
        return table


@dataclass(frozen=True)
class Seeds:
    """Where a run's draws after the initial parameters come from."""

    order: Order
    noise: np.uint64
