"""The training loop of the compiled engine, and the nouns that it works on."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradtree.compiling import Floats, Integers, Real, entry_kernel, kernel
from gradtree.engines import adam
from gradtree.engines.loss_kernels import call_loss
from gradtree.engines.paths import (
    descend,
    find_leaves,
    logit_slopes,
    pull_scores,
    sum_over_rows,
    threshold_slopes,
)
from gradtree.engines.selection import GUMBEL, Extras, Selection, choose_plainly, refresh_splits
from gradtree.engines.state import Batch, Model, TreeArrays
from gradtree.engines.streams import Order, shuffle_epoch
from gradtree.engines.vectors import prefetch

RUNNING, STOPPED, EXHAUSTED = 0, 1, 2


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
    pace: adam.Pace
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


@kernel()
def gather(samples: Rows, listed: Integers, batch: Batch) -> None:
    """Copy the listed samples into the work space."""
    packed, X, y, weight = samples.packed, batch.X, batch.y, batch.weight
    last = packed.shape[1] - 1
    for b in range(len(listed)):
        source, target = packed[listed[b]], X[b]
        for f in range(len(target)):
            target[f] = source[f]
        y[b] = np.int64(source[last - 1])
        weight[b] = source[last]


@kernel()
def look_ahead(samples: Rows, listed: Integers) -> None:
    """Have the rows of the next batch fetched while this one is computed."""
    packed = samples.packed
    line = 64 // packed.itemsize
    for b in range(len(listed)):
        row = packed[listed[b]]
        for f in range(0, len(row), line):
            prefetch(row[f:])


@kernel()
def _outputs_and_loss(
    leaves: Floats, batch: Batch, rows: int, kernel: Any, settings: NDArray[np.float64]
) -> Real:
    """Fill outputs, losses and their derivatives; the loss of the batch."""
    output, leaf, labels = batch.output[:rows], batch.leaf, batch.y[:rows]
    losses, slope, weight = batch.loss[:rows], batch.slope[:rows], batch.weight
    for b in range(rows):
        for k in range(leaves.shape[1]):
            output[b, k] = leaves[leaf[b], k]
    call_loss(kernel, output, labels, settings, losses, slope)
    # The sum in double precision: its order does not show in the digits that are kept.
    total = 0.0
    for b in range(rows):
        total += losses[b] * weight[b]
        share = weight[b] / weight.dtype.type(rows)
        for k in range(leaves.shape[1]):
            slope[b, k] *= share
    return losses.dtype.type(total / rows)


@kernel(inline="always")
def gradients(run: Run, extras: Extras | None, kernel: Any, rows: int, step: int) -> Real:
    """Gradients of the gathered batch, into the ``slope`` of every group; the batch loss."""
    model, batch, selection, pace = run.model, run.batch, run.selection, run.pace
    descend(model.tree, selection, extras, batch, rows, step)
    loss = _outputs_and_loss(model.tree.leaves, batch, rows, kernel, run.settings)
    leaves, logits, visits = model.leaves, model.logits, batch.visits
    split, steepness = run.plan.split, run.plan.steepness
    pull_scores(leaves.table, leaves.value, split, steepness, batch, rows)
    n_visited = sum_over_rows(batch, rows, model.settled, leaves.slope_table)
    threshold_slopes(
        model.thresholds, model.tree.feature, visits, n_visited, selection, extras, step, pace
    )
    logit_slopes(
        model.tree, logits, model.settled, visits, n_visited, selection, extras, step, pace
    )
    n_outputs = model.tree.leaves.shape[1]
    adam.activate(leaves, batch.leaf[:rows], n_outputs, step, pace)
    return loss


@kernel(inline="always")
def update_parameters(run: Run, extras: Extras | None, step: int) -> None:
    """One step of Adam with the gradients in the ``slope`` of every group."""
    model, one = run.model, run.model.tree.threshold.dtype.type(1)
    adam.update(model.logits, step, adam.step_size(run.plan.rate_logits, step, one), run.pace)
    adam.update(
        model.thresholds, step, adam.step_size(run.plan.rate_thresholds, step, one), run.pace
    )
    adam.update(model.leaves, step, adam.step_size(run.plan.rate_leaves, step, one), run.pace)
    refresh_splits(model, run.selection, extras, step)


@kernel()
def _copy(source: NDArray[Any], target: NDArray[Any]) -> None:
    for i in range(len(target)):
        target[i] = source[i]


@kernel()
def _copy_table(source: Floats, target: Floats) -> None:
    for i in range(len(target)):
        for j in range(target.shape[1]):
            target[i, j] = source[i, j]


@kernel()
def _copy_tree(source: TreeArrays, target: TreeArrays) -> None:
    _copy_table(source.thresholds, target.thresholds)
    _copy_table(source.logits, target.logits)
    _copy_table(source.leaves, target.leaves)


@kernel()
def _count(
    tally: NDArray[np.float64], output: Floats, y: Integers, worths: Floats, part: Integers
) -> None:
    """Add a batch of outputs to the tally."""
    one_logit = output.shape[1] == 1
    for b in range(len(part)):
        predicted = 0
        if one_logit:
            predicted = 1 if output[b, 0] > 0 else 0
        else:
            for k in range(1, output.shape[1]):
                if output[b, k] > output[b, predicted]:
                    predicted = k
        worth = np.float64(worths[part[b]])
        tally[predicted, 1] += worth
        tally[y[b], 2] += worth
        if predicted == y[b]:
            tally[predicted, 0] += worth


@kernel()
def _macro_f1(tally: NDArray[np.float64]) -> float:
    """The mean F1 of the classes that occur or are predicted; clears the tally."""
    total, n_classes = 0.0, 0
    for k in range(len(tally)):
        occurs = tally[k, 1] + tally[k, 2]
        if occurs > 0:
            total += 2.0 * tally[k, 0] / occurs
            n_classes += 1
        tally[k, 0] = tally[k, 1] = tally[k, 2] = 0.0
    return total / n_classes


@kernel(inline="always")
def _validate(run: Run, extras: Extras | None, kernel: Any) -> Real:
    """Unweighted mean of the losses of the validation batches."""
    rows, batch, tally, settings = run.valid, run.batch, run.score.tally, run.settings
    tree, listed, size = run.model.tree, rows.listed, run.plan.batch_size
    total, n_batches, noise = 0.0, 0, -1
    if extras is not None and run.selection.kind == GUMBEL:
        choose_plainly(tree)
        if extras.noisy_evaluation:  # every batch of every epoch has noise of its own
            noise = run.clock.epoch[0] * ((len(listed) + size - 1) // size)
    for start in range(0, len(listed), size):
        part = listed[start : start + size]
        gather(rows, part, batch)
        X, leaf = batch.X[: len(part)], batch.leaf[: len(part)]
        find_leaves(tree, extras, noise + n_batches if noise >= 0 else -1, X, leaf)
        total += _outputs_and_loss(tree.leaves, batch, len(part), kernel, settings)
        n_batches += 1
        # A last, smaller batch counts as much as the others, as in the authors' code.
        if len(tally) > 0:
            _count(tally, batch.output, batch.y, rows.worth, part)
    # Rounded to the parameters' precision, in which equal losses are no improvement.
    return batch.loss.dtype.type(total / n_batches)


@kernel(inline="always")
def _end_epoch(run: Run, extras: Extras | None, kernel: Any) -> int:
    """Validate, remember the best parameters, and say how the run goes on."""
    clock, watch, score, snapshots = run.clock, run.watch, run.score, run.snapshots
    plan, tree, epoch = run.plan, run.model.tree, run.clock.epoch[0]
    train_loss, valid_loss, has_valid = run.train_loss, run.valid_loss, len(run.valid.listed) > 0
    validated = _validate(run, extras, kernel)
    loss = clock.loss[0] / clock.batches[0]
    train_loss[epoch] = loss
    if has_valid:
        loss = validated
        valid_loss[epoch] = loss
    if improves(watch, epoch, loss):
        _copy_tree(tree, snapshots.best)
    stale = watch.stale_epochs[0]
    if len(score.tally) > 0:
        score.f1[epoch] = _macro_f1(score.tally)
        if improves(score.watch, epoch, -score.f1[epoch]):
            _copy_tree(tree, snapshots.best_f1)
        stale = min(stale, score.watch.stale_epochs[0])
    clock.epoch[0] += 1
    clock.row[0] = clock.batches[0] = 0
    clock.loss[0] = 0.0
    if stale >= plan.patience:
        return STOPPED
    return EXHAUSTED if clock.epoch[0] >= plan.epochs else RUNNING


@entry_kernel()
def batch_gradients(
    run: Run, extras: Extras | None, kernel: Any, listed: Integers, step: int
) -> Real:
    """Gradients of the listed training rows as the batch of this step; the batch loss."""
    gather(run.train, listed, run.batch)
    return gradients(run, extras, kernel, len(listed), step)


@entry_kernel()
def advance(run: Run, extras: Extras | None, kernel: Any, budget: int) -> int:
    """Train on about ``budget`` rows and return whether the run is over."""
    clock, train, batch = run.clock, run.train, run.batch
    listed, n_valid, shuffled = train.listed, len(run.valid.listed), run.shuffled
    order, size = run.order, run.plan.batch_size
    while budget > 0:
        start = clock.row[0]
        if start == 0:
            _copy(listed, shuffled)
            shuffle_epoch(shuffled, order, clock.epoch[0])
        part = shuffled[start : start + size]
        clock.step[0] += 1
        gather(train, part, batch)
        look_ahead(train, shuffled[start + size : start + 2 * size])
        clock.loss[0] += gradients(run, extras, kernel, len(part), clock.step[0])
        update_parameters(run, extras, clock.step[0])
        clock.batches[0] += 1
        clock.row[0] += len(part)
        budget -= len(part)
        if clock.row[0] == len(listed):
            budget -= n_valid
            status = _end_epoch(run, extras, kernel)
            if status != RUNNING:
                return status
    return RUNNING
