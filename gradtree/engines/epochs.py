"""The training loop of the compiled engine: batches, epochs, validation, stopping."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradtree.engines import adam
from gradtree.engines.arithmetic import logistic_slopes
from gradtree.engines.kernels import Floats, Integers, Real, entry_kernel, kernel
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
from gradtree.engines.run import Rows, Run
from gradtree.engines.selection import (
    EVALUATION,
    GUMBEL,
    choose,
    choose_noisily,
    choose_plainly,
    is_soft,
    refresh_splits,
)
from gradtree.engines.state import Batch, TreeArrays
from gradtree.engines.stopping import improves
from gradtree.training.streams import shuffle_epoch

RUNNING, STOPPED, EXHAUSTED = 0, 1, 2


@kernel()
def gather(samples: Rows, listed: Integers, batch: Batch) -> None:
    """Copy the listed samples into the work space."""
    for b in range(len(listed)):
        row = listed[b]
        batch.y[b] = samples.y[row]
        batch.weight[b] = samples.weight[row]
        source, target = samples.X[row], batch.X[b]
        for f in range(len(target)):
            target[f] = source[f]


@kernel()
def _outputs_and_loss(
    leaves: Floats, batch: Batch, rows: int, kernel: Any, settings: NDArray[np.float64]
) -> Real:
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
def gradients(run: Run, kernel: Any, rows: int, step: int) -> Real:
    """Gradients of the gathered batch, into the ``slope`` of every group; the batch loss."""
    model, batch = run.model, run.batch
    choose(model.tree, run.selection, step)
    if is_soft(run.selection, step):
        descend_mixed(run.selection, batch, rows)
    else:
        descend(model.tree, batch, rows)
    for level in range(len(batch.node)):
        logistic_slopes(batch.score[level, :rows], batch.steepness[level, :rows])
    loss = _outputs_and_loss(model.tree.leaves, batch, rows, kernel, run.settings)
    pull_scores(model.leaves, batch, rows)
    n_visited = sum_over_rows(model, batch, rows)
    threshold_slopes(model, run.selection, batch, n_visited, step, run.pace)
    logit_slopes(model, run.selection, batch, n_visited, step, run.pace)
    n_outputs = model.tree.leaves.shape[1]
    adam.activate(model.leaves, batch.leaf[:rows], n_outputs, step, run.pace)
    return loss


@kernel()
def update_parameters(run: Run, step: int) -> None:
    """One step of Adam with the gradients in the ``slope`` of every group."""
    model, one = run.model, run.model.tree.threshold.dtype.type(1)
    adam.update(model.logits, step, adam.step_size(run.rates.logits, step, one), run.pace)
    adam.update(model.thresholds, step, adam.step_size(run.rates.thresholds, step, one), run.pace)
    adam.update(model.leaves, step, adam.step_size(run.rates.leaves, step, one), run.pace)
    refresh_splits(model, run.selection, step)


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
def _average(latest: Floats, recent: Floats, epoch: int, mean: Floats) -> None:
    """Put the latest table among the recent ones and take their mean."""
    _copy_table(latest, recent[epoch % len(recent)])
    taken = min(epoch + 1, len(recent))
    _copy_table(recent[0], mean)
    for r in range(1, taken):
        for i in range(len(mean)):
            for j in range(mean.shape[1]):
                mean[i, j] += recent[r, i, j]
    for i in range(len(mean)):
        for j in range(mean.shape[1]):
            mean[i, j] /= mean.dtype.type(taken)


@kernel()
def _take_average(run: Run, epoch: int) -> None:
    """Average the parameters at the ends of the last few epochs."""
    tree, recent, mean = run.model.tree, run.snapshots.recent, run.snapshots.average
    _average(tree.thresholds, recent.thresholds, epoch, mean.thresholds)
    _average(tree.logits, recent.logits, epoch, mean.logits)
    _average(tree.leaves, recent.leaves, epoch, mean.leaves)


@kernel()
def _validate(run: Run, shown: TreeArrays, kernel: Any) -> Real:
    """Unweighted mean of the losses of the validation batches, each with noise of its own."""
    listed, size, batch = run.valid.listed, run.limits.batch_size, run.batch
    noisy = run.selection.kind == GUMBEL and run.selection.noisy_evaluation
    before = run.clock.epoch[0] * ((len(listed) + size - 1) // size)
    total, n_batches = 0.0, 0
    for start in range(0, len(listed), size):
        if noisy:
            choose_noisily(shown, run.selection, EVALUATION + np.uint64(before + n_batches))
        part = listed[start : start + size]
        gather(run.valid, part, batch)
        find_leaves(shown, batch.X[: len(part)], batch.leaf[: len(part)])
        total += _outputs_and_loss(shown.leaves, batch, len(part), kernel, run.settings)
        n_batches += 1
    return batch.loss.dtype.type(total / n_batches)


@kernel()
def _end_epoch(run: Run, kernel: Any) -> int:
    """Validate, remember the best parameters, and say how the run goes on."""
    clock, selection = run.clock, run.selection
    epoch = clock.epoch[0]
    shown = run.model.tree
    averages = len(run.snapshots.recent.leaves) > 0
    if averages:
        _take_average(run, epoch)
        shown = run.snapshots.average
    if selection.kind == GUMBEL or averages:
        choose_plainly(shown)
    loss = clock.loss[0] / clock.batches[0]
    run.train_loss[epoch] = loss
    if len(run.valid.listed) > 0:
        loss = _validate(run, shown, kernel)
        run.valid_loss[epoch] = loss
    if improves(run.watch, epoch, loss):
        _copy_tree(shown, run.snapshots.best)
    clock.epoch[0] += 1
    clock.row[0] = clock.batches[0] = 0
    clock.loss[0] = 0.0
    if run.watch.stale_epochs[0] >= run.limits.patience:
        return STOPPED
    return EXHAUSTED if clock.epoch[0] >= run.limits.epochs else RUNNING


@entry_kernel()
def batch_gradients(run: Run, kernel: Any, listed: Integers, step: int) -> Real:
    """Gradients of the listed training rows as the batch of this step; the batch loss."""
    gather(run.train, listed, run.batch)
    return gradients(run, kernel, len(listed), step)


@entry_kernel()
def batch_update(run: Run, step: int) -> None:
    """The update of the parameters that follows ``batch_gradients``."""
    update_parameters(run, step)


@entry_kernel()
def advance(run: Run, kernel: Any, budget: int) -> int:
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
