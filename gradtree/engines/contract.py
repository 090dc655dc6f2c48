"""What an engine gets and what it offers."""

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gradtree.engines.run import EarlyStopping
from gradtree.engines.streams import Order
from gradtree.engines.vectors import LANES
from gradtree.trees.dense import DenseTree


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


class Status(IntEnum):
    """State of a run."""

    RUNNING = 0
    STOPPED_EARLY = 1
    OUT_OF_EPOCHS = 2


class EngineRun(Protocol):
    """One run of training from one initial tree."""

    def advance(self) -> Status:
        """Train for a moment and return, so that the caller can show progress or interrupt."""
        ...

    @property
    def watch(self) -> EarlyStopping: ...

    @property
    def losses(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Training and validation loss of every finished epoch; ``nan`` without validation."""
        ...

    @property
    def scores(self) -> NDArray[np.float64]:
        """Validation macro F1 of every finished epoch; ``nan`` where it is not wanted."""
        ...

    def result(self) -> DenseTree:
        """The best epoch's parameters if the run was stopped early, else the last ones."""
        ...

    def best(self) -> dict[int, DenseTree]:
        """The trees of the epochs with the lowest loss and, where F1 counts, with the best F1."""
        ...
