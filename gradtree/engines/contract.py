"""What an engine gets and what it offers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gradtree.engines.stopping import Watch
from gradtree.engines.streams import Order
from gradtree.trees.dense import DenseTree


@dataclass(frozen=True, eq=False)
class Samples:
    """The rows ``rows`` of ``X``, ``y`` and ``weight``. Weights have mean one over those rows.

    ``worth`` is what a row counts in a score, as it is given: its weight without that of its
    class. Without it all rows count alike.
    """

    X: NDArray[Any]
    y: NDArray[np.int64]
    weight: NDArray[Any]
    rows: NDArray[np.int64]
    worth: NDArray[Any] | None = None

    @property
    def score_weight(self) -> NDArray[Any]:
        """``worth``, or ones."""
        return np.ones(len(self.y)) if self.worth is None else self.worth


@dataclass(frozen=True)
class Seeds:
    """Where a run's draws after the initial parameters come from."""

    order: Order
    noise: np.uint64


@dataclass(frozen=True, eq=False)
class Candidate:
    """The tree of one epoch."""

    epoch: int
    dense: DenseTree


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
    def watch(self) -> Watch: ...

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

    def best(self) -> list[Candidate]:
        """The trees of the epochs with the lowest loss and, where F1 counts, with the best F1."""
        ...
