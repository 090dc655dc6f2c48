"""One run of the compiled engine: the nouns that its training loop works on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradtree.engines.adam import Pace
from gradtree.engines.kernels import Floats, Integers
from gradtree.engines.selection import Selection
from gradtree.engines.state import Batch, Model, TreeArrays, new_tree
from gradtree.engines.stopping import Watch
from gradtree.training.streams import Order
from gradtree.trees.dense import DenseTree


class Rows(NamedTuple):
    """Samples: the listed rows of a matrix, their labels and weights (of mean one)."""

    X: Floats
    y: Integers
    weight: Floats
    listed: Integers


class Clock(NamedTuple):
    """Where a run is. Arrays of one entry, so that they can change."""

    epoch: Integers
    row: Integers
    step: Integers
    batches: Integers
    loss: NDArray[np.float64]


class Rates(NamedTuple):
    """Learning rates."""

    logits: float
    thresholds: float
    leaves: float


class Recent(NamedTuple):
    """The parameters at the ends of the last few epochs; none if they are not averaged."""

    thresholds: Floats  # (epochs, N, n_features)
    logits: Floats  # (epochs, N, n_features)
    leaves: Floats  # (epochs, M, outputs)


class Snapshots(NamedTuple):
    """Copies of the tree: as it was at its best, of late, and the mean of those."""

    best: TreeArrays
    recent: Recent
    average: TreeArrays


class Limits(NamedTuple):
    """Rows in a batch, epochs in a run, epochs without improvement."""

    batch_size: int
    epochs: int
    patience: int


class Run(NamedTuple):
    """All there is to one run of training."""

    model: Model
    batch: Batch
    selection: Selection
    train: Rows
    valid: Rows
    order: Order
    shuffled: Integers
    rates: Rates
    pace: Pace
    limits: Limits
    clock: Clock
    watch: Watch
    snapshots: Snapshots
    settings: NDArray[np.float64]
    train_loss: NDArray[np.float64]
    valid_loss: NDArray[np.float64]


def no_rows(rows: Rows) -> Rows:
    """None of them, in arrays of their own."""
    X, y, weight, listed = rows
    return Rows(X[:0].copy(), y[:0].copy(), weight[:0].copy(), listed[:0].copy())


def new_clock() -> Clock:
    """The beginning."""
    epoch, row, step, batches = np.zeros((4, 1), dtype=np.int64)
    return Clock(epoch, row, step, batches, np.zeros(1))


def new_snapshots(start: DenseTree, dtype: Any, averaged_epochs: int) -> Snapshots:
    """Room for the copies that a run keeps."""
    shape = start.leaves.reshape(len(start.leaves), -1).shape
    recent = Recent(
        np.zeros((averaged_epochs, *start.thresholds.shape), dtype=dtype),
        np.zeros((averaged_epochs, *start.logits.shape), dtype=dtype),
        np.zeros((averaged_epochs, *shape), dtype=dtype),
    )
    return Snapshots(new_tree(start, dtype), recent, new_tree(start, dtype))
