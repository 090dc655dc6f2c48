"""The training loop of the compiled engine: batches, epochs, validation, stopping."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from gradtree.engines import adam
from gradtree.engines.arithmetic import logistic_slopes
from gradtree.engines.loss_kernels import call_loss
from gradtree.engines.paths import (
    activate_row,
    collect,
    descend,
    descend_mixed,
    distribute,
    find_leaves,
)
from gradtree.engines.selection import (
    EVALUATION,
    GUMBEL,
    Selection,
    argmax,
    choose,
    choose_noisily,
    is_soft,
)
from gradtree.engines.state import BLOCK, Batch, Floats, Model
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


@njit(cache=True, nogil=True)
def gather(samples, listed, batch):  # type: ignore[no-untyped-def]
    """Copy the listed samples into the work space."""
    for b in range(len(listed)):
        row = listed[b]
        batch.y[b] = samples.y[row]
        batch.weight[b] = samples.weight[row]
        source, target = samples.X[row], batch.X[b]
        for f in range(len(target)):
            target[f] = source[f]


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
    n_visited = collect(model, batch, rows)
    distribute(model, run.selection, batch, n_visited, step, run.pace)
    for b in range(rows):
        activate_row(model.leaves, batch.leaf[b], step, run.pace)
    return loss


@njit(cache=True, nogil=True)
def _is_largest(row, best):  # type: ignore[no-untyped-def]
    beaten = 0
    for f in range(best):
        beaten |= row[f] >= row[best]
    for f in range(best + 1, len(row)):
        beaten |= row[f] > row[best]
    return beaten == 0


@njit(cache=True, nogil=True)
def _refresh_splits(model):  # type: ignore[no-untyped-def]
    """Bring features and thresholds up to date with the parameters that an update changed."""
    n_nodes, width = model.logits.table.shape
    for a in range(model.logits.n_active[0]):
        first = model.logits.active[a] * BLOCK
        for node in range(first // width, min((first + BLOCK - 1) // width + 1, n_nodes)):
            row = model.logits.table[node]
            if not _is_largest(row, model.feature[node]):
                model.feature[node] = argmax(row)
                model.threshold[node] = model.thresholds.table[node, model.feature[node]]
    for a in range(model.thresholds.n_active[0]):
        first = model.thresholds.active[a] * BLOCK
        for node in range(first // width, min((first + BLOCK - 1) // width + 1, n_nodes)):
            model.threshold[node] = model.thresholds.table[node, model.feature[node]]


@njit(cache=True, nogil=True)
def update_parameters(run, step):  # type: ignore[no-untyped-def]
    model, one = run.model, run.model.threshold.dtype.type(1)
    adam.update(model.logits, step, adam.step_size(run.rates.logits, step, one), run.pace)
    adam.update(model.thresholds, step, adam.step_size(run.rates.thresholds, step, one), run.pace)
    adam.update(model.leaves, step, adam.step_size(run.rates.leaves, step, one), run.pace)
    if run.selection.kind != GUMBEL:
        _refresh_splits(model)


@njit(cache=True, nogil=True)
def _choose_plainly(model):  # type: ignore[no-untyped-def]
    for node in range(len(model.feature)):
        model.feature[node] = argmax(model.logits.table[node])
        model.threshold[node] = model.thresholds.table[node, model.feature[node]]


@njit(cache=True, nogil=True)
def _copy_parameters(source, target):  # type: ignore[no-untyped-def]
    target.thresholds.value[:] = source.thresholds.value
    target.logits.value[:] = source.logits.value
    target.leaves.value[:] = source.leaves.value


@njit(cache=True, nogil=True)
def _take_average(run, epoch):  # type: ignore[no-untyped-def]
    """Average the parameters at the ends of the last few epochs."""
    recent, average = run.snapshots.recent, run.snapshots.average
    slot = recent[epoch % len(recent)]
    t, i = len(run.model.thresholds.value), len(run.model.logits.value)
    slot[:t] = run.model.thresholds.value
    slot[t : t + i] = run.model.logits.value
    slot[t + i :] = run.model.leaves.value
    taken = min(epoch + 1, len(recent))
    mean = recent[0].copy()
    for other in range(1, taken):
        mean += recent[other]
    mean /= mean.dtype.type(taken)
    average.thresholds.value[:] = mean[:t]
    average.logits.value[:] = mean[t : t + i]
    average.leaves.value[:] = mean[t + i :]


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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
        _choose_plainly(shown)
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


@njit(cache=True, nogil=True)
def advance(run, kernel, budget):  # type: ignore[no-untyped-def]
    """Train on about ``budget`` rows and return whether the run is over."""
    clock, listed = run.clock, run.train.listed
    while budget > 0:
        start = clock.row[0]
        if start == 0:
            run.shuffled[:] = listed
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
