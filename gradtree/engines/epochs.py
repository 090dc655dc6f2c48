"""The training loop of the compiled engine: batches, epochs, validation, stopping."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradtree.engines import adam
from gradtree.engines.arithmetic import logistic_slopes
from gradtree.engines.loss_kernels import call_loss
from gradtree.engines.paths import (
    descend,
    descend_mixed,
    find_leaves,
    logit_slopes,
    pull_scores,
    sum_over_rows,
    threshold_slopes,
)
from gradtree.engines.selection import (
    EVALUATION,
    GUMBEL,
    Selection,
    choose,
    choose_noisily,
    choose_plainly,
    is_soft,
    refresh_splits,
)
from gradtree.engines.state import Batch, Floats, Model
from gradtree.kernels import entry_kernel, kernel
from gradtree.stopping import Watch, improves
from gradtree.streams import Order, shuffle_epoch

RUNNING, STOPPED, EXHAUSTED = 0, 1, 2


class Rows(NamedTuple):
    """Samples: the listed rows of a matrix, their labels and weights (of mean one)."""

    X: Floats
    y: NDArray[np.int64]
    weight: Floats
    listed: NDArray[np.int64]


class Clock(NamedTuple):
    """Where a run is. Arrays of one entry, so that they can change."""

    epoch: NDArray[np.int64]
    row: NDArray[np.int64]
    step: NDArray[np.int64]
    batches: NDArray[np.int64]
    loss: NDArray[np.float64]


class Rates(NamedTuple):
    logits: float
    thresholds: float
    leaves: float


class Snapshots(NamedTuple):
    """Copies of the parameters: the best ones, and the last few to average (or none)."""

    best: Model
    recent: Floats
    average: Model


class Limits(NamedTuple):
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
    shuffled: NDArray[np.int64]
    rates: Rates
    pace: adam.Pace
    limits: Limits
    clock: Clock
    watch: Watch
    snapshots: Snapshots
    settings: NDArray[np.float64]
    train_loss: NDArray[np.float64]
    valid_loss: NDArray[np.float64]


def new_clock() -> Clock:
    epoch, row, step, batches = np.zeros((4, 1), dtype=np.int64)
    return Clock(epoch, row, step, batches, np.zeros(1))


@kernel()
def gather(samples, listed, batch):  # type: ignore[no-untyped-def]
    """Copy the listed samples into the work space."""
    for b in range(len(listed)):
        row = listed[b]
        batch.y[b] = samples.y[row]
        batch.weight[b] = samples.weight[row]
        source, target = samples.X[row], batch.X[b]
        for f in range(len(target)):
            target[f] = source[f]


@kernel()
def _outputs_and_loss(leaves, batch, rows, kernel, settings):  # type: ignore[no-untyped-def]
    """Fill outputs, losses and their derivatives; the loss of the batch."""
    for b in range(rows):
        for k in range(leaves.shape[1]):
            batch.output[b, k] = leaves[batch.leaf[b], k]
    call_loss(
        kernel, batch.output[:rows], batch.y[:rows], settings, batch.loss[:rows], batch.slope[:rows]
    )
    total = 0.0
    for b in range(rows):
        total += batch.loss[b] * batch.weight[b]
        share = batch.weight[b] / batch.weight.dtype.type(rows)
        for k in range(leaves.shape[1]):
            batch.slope[b, k] *= share
    return batch.loss.dtype.type(total / rows)


@kernel()
def gradients(run, kernel, rows, step):  # type: ignore[no-untyped-def]
    """Gradients of the gathered batch, into the ``slope`` of every group; the batch loss."""
    model, batch = run.model, run.batch
    choose(model, run.selection, step)
    if is_soft(run.selection, step):
        descend_mixed(run.selection, batch, rows)
    else:
        descend(model, batch, rows)
    for level in range(len(batch.node)):
        logistic_slopes(batch.score[level, :rows], batch.steepness[level, :rows])
    loss = _outputs_and_loss(model.leaves.table, batch, rows, kernel, run.settings)
    pull_scores(model.leaves, batch, rows)
    n_visited = sum_over_rows(model, batch, rows)
    threshold_slopes(model, run.selection, batch, n_visited, step, run.pace)
    logit_slopes(model, run.selection, batch, n_visited, step, run.pace)
    n_outputs = model.leaves.table.shape[1]
    adam.activate(model.leaves, batch.leaf[:rows], n_outputs, step, run.pace)
    return loss


@kernel()
def update_parameters(run, step):  # type: ignore[no-untyped-def]
    """One step of Adam with the gradients in the ``slope`` of every group."""
    model, one = run.model, run.model.threshold.dtype.type(1)
    adam.update(model.logits, step, adam.step_size(run.rates.logits, step, one), run.pace)
    adam.update(model.thresholds, step, adam.step_size(run.rates.thresholds, step, one), run.pace)
    adam.update(model.leaves, step, adam.step_size(run.rates.leaves, step, one), run.pace)
    refresh_splits(model, run.selection, step)


@kernel()
def _copy(source, target):  # type: ignore[no-untyped-def]
    for i in range(len(target)):
        target[i] = source[i]


@kernel()
def _copy_parameters(source, target):  # type: ignore[no-untyped-def]
    _copy(source.thresholds.value, target.thresholds.value)
    _copy(source.logits.value, target.logits.value)
    _copy(source.leaves.value, target.leaves.value)


@kernel()
def _mean_of_rows(rows, mean):  # type: ignore[no-untyped-def]
    mean[:] = 0
    for r in range(len(rows)):
        for i in range(len(mean)):
            mean[i] += rows[r, i]
    for i in range(len(mean)):
        mean[i] /= mean.dtype.type(len(rows))


@kernel()
def _take_average(run, epoch):  # type: ignore[no-untyped-def]
    """Average the parameters at the ends of the last few epochs."""
    recent, average = run.snapshots.recent, run.snapshots.average
    slot = recent[epoch % len(recent)]
    t, i = len(run.model.thresholds.value), len(run.model.logits.value)
    _copy(run.model.thresholds.value, slot[:t])
    _copy(run.model.logits.value, slot[t : t + i])
    _copy(run.model.leaves.value, slot[t + i :])
    taken = min(epoch + 1, len(recent))
    _mean_of_rows(recent[:taken, :t], average.thresholds.value)
    _mean_of_rows(recent[:taken, t : t + i], average.logits.value)
    _mean_of_rows(recent[:taken, t + i :], average.leaves.value)


@kernel()
def _validate(run, shown, kernel):  # type: ignore[no-untyped-def]
    """Unweighted mean of the losses of the validation batches."""
    listed, size, batch = run.valid.listed, run.limits.batch_size, run.batch
    total, n_batches = 0.0, 0
    for start in range(0, len(listed), size):
        part = listed[start : start + size]
        gather(run.valid, part, batch)
        find_leaves(shown, batch.X[: len(part)], batch.leaf[: len(part)])
        total += _outputs_and_loss(shown.leaves.table, batch, len(part), kernel, run.settings)
        n_batches += 1
    return batch.loss.dtype.type(total / n_batches)


@kernel()
def _end_epoch(run, kernel):  # type: ignore[no-untyped-def]
    """Validate, remember the best parameters, and say how the run goes on."""
    clock, selection = run.clock, run.selection
    epoch = clock.epoch[0]
    shown = run.model
    if len(run.snapshots.recent) > 0:
        _take_average(run, epoch)
        shown = run.snapshots.average
    if selection.kind == GUMBEL and selection.noisy_evaluation:
        choose_noisily(shown, selection, EVALUATION + np.uint64(epoch))
    elif selection.kind == GUMBEL or len(run.snapshots.recent) > 0:
        choose_plainly(shown)
    loss = clock.loss[0] / clock.batches[0]
    run.train_loss[epoch] = loss
    if len(run.valid.listed) > 0:
        loss = _validate(run, shown, kernel)
        run.valid_loss[epoch] = loss
    if improves(run.watch, epoch, loss):
        _copy_parameters(shown, run.snapshots.best)
    clock.epoch[0] += 1
    clock.row[0] = clock.batches[0] = 0
    clock.loss[0] = 0.0
    if run.watch.stale_epochs[0] >= run.limits.patience:
        return STOPPED
    return EXHAUSTED if clock.epoch[0] >= run.limits.epochs else RUNNING


@entry_kernel()
def batch_gradients(run, kernel, listed, step):  # type: ignore[no-untyped-def]
    """Gradients of the listed training rows as the batch of this step; the batch loss."""
    gather(run.train, listed, run.batch)
    return gradients(run, kernel, len(listed), step)


@entry_kernel()
def batch_update(run, step):  # type: ignore[no-untyped-def]
    """The update of the parameters that follows ``batch_gradients``."""
    update_parameters(run, step)


@entry_kernel()
def advance(run, kernel, budget):  # type: ignore[no-untyped-def]
    """Train on about ``budget`` rows and return whether the run is over."""
    clock, listed = run.clock, run.train.listed
    while budget > 0:
        start = clock.row[0]
        if start == 0:
            _copy(listed, run.shuffled)
            shuffle_epoch(run.shuffled, run.order, clock.epoch[0])
        part = run.shuffled[start : start + run.limits.batch_size]
        clock.step[0] += 1
        gather(run.train, part, run.batch)
        clock.loss[0] += gradients(run, kernel, len(part), clock.step[0])
        update_parameters(run, clock.step[0])
        clock.batches[0] += 1
        clock.row[0] += len(part)
        budget -= len(part)
        if clock.row[0] == len(listed):
            budget -= len(run.valid.listed)
            status = _end_epoch(run, kernel)
            if status != RUNNING:
                return status
    return RUNNING
