"""One run of the compiled engine: the nouns that its training loop works on."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradtree.compiling import Floats, Integers, kernel
from gradtree.engines.adam import Pace
from gradtree.engines.selection import Selection
from gradtree.engines.state import Batch, Model, TreeArrays, new_tree
from gradtree.engines.streams import Order
from gradtree.trees.dense import DenseTree


class Rows(NamedTuple):
    """Samples, packed; what each counts in a score; and their numbers."""

    packed: Floats
    worth: Floats
    listed: Integers


class Clock(NamedTuple):
    """Where a run is. Arrays of one entry, so that they can change."""

    epoch: Integers
    row: Integers
    step: Integers
    batches: Integers
    loss: NDArray[np.float64]


class Plan(NamedTuple):
    """Learning rates, the split function by its code in ``SPLITS``, and how long to train."""

    rate_logits: float
    rate_thresholds: float
    rate_leaves: float
    split: int
    steepness: Any
    batch_size: int
    epochs: int
    patience: int  # epochs without improvement


class EarlyStopping(NamedTuple):
    """The best loss so far and how long ago it was, in arrays of one entry that can change."""

    best_loss: NDArray[np.float64]
    best_epoch: NDArray[np.int64]
    stale_epochs: NDArray[np.int64]


class Score(NamedTuple):
    """The macro F1 of the validation rows, where it is wanted: else all arrays are empty.

    ``tally`` holds per class the weight of rows found, of rows predicted and of rows there are.
    """

    tally: NDArray[np.float64]  # (n_classes, 3)
    f1: NDArray[np.float64]  # (epochs,)
    watch: EarlyStopping


class Snapshots(NamedTuple):
    """Copies of the tree: at its lowest loss and, where it counts, at its best F1."""

    best: TreeArrays
    best_f1: TreeArrays


class Run(NamedTuple):
    """All there is to one run of training."""

    model: Model
    batch: Batch
    selection: Selection
    train: Rows
    valid: Rows
    order: Order
    shuffled: Integers
    plan: Plan
    pace: Pace
    clock: Clock
    watch: EarlyStopping
    score: Score
    snapshots: Snapshots
    settings: NDArray[np.float64]
    train_loss: NDArray[np.float64]
    valid_loss: NDArray[np.float64]


def new_stopping() -> EarlyStopping:
    return EarlyStopping(np.array([np.inf]), np.array([-1]), np.array([0]))


@kernel()
def improves(watch: EarlyStopping, epoch: int, loss: float) -> bool:
    """Take note of an epoch's loss; whether it is strictly the best one."""
    if loss < watch.best_loss[0]:
        watch.best_loss[0] = loss
        watch.best_epoch[0] = epoch
        watch.stale_epochs[0] = 0
        return True
    watch.stale_epochs[0] += 1
    return False


def new_score(n_classes: int, epochs: int) -> Score:
    """Nothing counted yet; with 0 classes, nothing to count."""
    return Score(
        np.zeros((n_classes, 3)), np.full(epochs if n_classes else 0, np.nan), new_stopping()
    )


def new_snapshots(start: DenseTree, dtype: Any, scored: bool) -> Snapshots:
    parts: list[Any] = [part if scored else part[:0].copy() for part in new_tree(start, dtype)]
    return Snapshots(new_tree(start, dtype), TreeArrays(*parts))
