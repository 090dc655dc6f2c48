"""The default engine: Algorithm 1's gradients by a compiled route that follows single paths.

It compares values with thresholds where the reference rounds a logistic function. The two part ways
only if a value lies below a threshold by less than about 1e-7 in float32 (1e-16 in float64): the
logistic function is then one half to the last digit, and the reference sends the row to the right.
"""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradtree.compiling import announce
from gradtree.engines import epochs, state
from gradtree.engines.adam import new_pace
from gradtree.engines.contract import Samples, Seeds
from gradtree.engines.loss_kernels import loss_kernel
from gradtree.engines.selection import Extras, Selection, new_extras
from gradtree.settings.config import TrainConfig
from gradtree.settings.selectors import SELECTORS, as_selector
from gradtree.settings.splits import SPLITS
from gradtree.trees.dense import DenseTree

# After about this long a run returns to Python, so that it can be interrupted and shown.
_TURN_SECONDS = 0.2
_LARGEST_TURN = 2**30
# Rows of the first turn, before it is known how long one takes: short on any data.
_FIRST_TURN = 20_000


class CompiledRun:
    """One run of training from one initial tree."""

    def __init__(
        self, initial: DenseTree, train: Samples, valid: Samples, seeds: Seeds, config: TrainConfig
    ) -> None:
        dtype = np.dtype(config.dtype)
        model = state.new_model(initial, dtype)
        n_epochs = config.epochs_for(len(train.rows))
        batch_size = config.batch_size_for(len(train.rows))
        scored = config.choose_by == "f1" and len(valid.rows) > 0
        # Where no score is wanted, there is no room for any, nor for a second tree.
        counted = np.zeros((initial.n_classes * scored, 3)), np.full(n_epochs * scored, np.nan)
        second: list[Any] = [
            part if scored else part[:0].copy() for part in state.new_tree(initial, dtype)
        ]
        selector = as_selector(config.selector)
        self._kernel, settings = loss_kernel(config.loss, dtype, initial.n_classes)
        self._run = epochs.Run(
            model=model,
            batch=state.new_batch(model, batch_size, train.packed.shape[1]),
            selection=Selection(SELECTORS[selector.kind], selector.temperature),
            train=_rows(train, dtype),
            valid=_rows(valid, dtype),
            order=seeds.order,
            shuffled=np.empty(len(train.rows), dtype=np.int64),
            plan=epochs.Plan(
                *(config.lr_index, config.lr_values, config.lr_leaf),
                *(SPLITS[config.split], dtype.type(config.steepness)),
                *(batch_size, n_epochs, config.patience),
            ),
            pace=new_pace(dtype),
            clock=epochs.Clock._make([*np.zeros((4, 1), dtype=np.int64), np.zeros(1)]),
            watch=epochs.new_stopping(),
            score=epochs.Score(*counted, epochs.new_stopping()),
            snapshots=epochs.Snapshots(state.new_tree(initial, dtype), state.TreeArrays(*second)),
            settings=settings,
            train_loss=np.full(n_epochs, np.nan),
            valid_loss=np.full(n_epochs, np.nan),
        )
        self._extras = new_extras(selector, seeds.noise, initial, dtype)
        self.watch = self._run.watch
        self._status = epochs.RUNNING
        self._budget = min(2 * len(train.rows), _FIRST_TURN)

    def advance(self) -> int:
        """Train for a fraction of a second, so that the caller can show progress or interrupt."""
        announce(epochs.advance)
        began = time.perf_counter()
        self._status = epochs.advance(self._run, self._extras, self._kernel, self._budget)
        elapsed = max(time.perf_counter() - began, 1e-4)
        self._budget = int(self._budget * min(max(_TURN_SECONDS / elapsed, 0.1), 10.0)) + 1
        self._budget = min(self._budget, _LARGEST_TURN)
        return int(self._status)

    def gradients(self, step: int = 1) -> tuple[float, DenseTree]:
        """Loss and gradients of all training rows as the batch of this step."""
        rows = len(self._run.train.listed)
        run = self._run._replace(
            batch=state.new_batch(self._run.model, rows, self._run.batch.X.shape[1])
        )
        loss = epochs.batch_gradients(run, self._extras, self._kernel, run.train.listed, step)
        groups = (run.model.thresholds, run.model.logits, run.model.leaves)
        thresholds, logits, leaves = (group.slope_table.copy() for group in groups)
        for group in groups:
            group.slope[:] = 0
        return float(loss), DenseTree(thresholds, logits, state.leaf_values(leaves))

    @property
    def parts(self) -> tuple[epochs.Run, Extras | None, Any]:
        """What the kernels of ``epochs`` take: the arrays of this run, extras and its loss."""
        return self._run, self._extras, self._kernel

    @property
    def losses(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Training and validation loss of every finished epoch; ``nan`` without validation."""
        done = int(self._run.clock.epoch[0])
        return self._run.train_loss[:done], self._run.valid_loss[:done]

    @property
    def scores(self) -> NDArray[np.float64]:
        """Validation macro F1 of every finished epoch; ``nan`` where it is not wanted."""
        done, f1 = int(self._run.clock.epoch[0]), self._run.score.f1
        return f1[:done] if len(f1) else np.full(done, np.nan)

    def result(self) -> DenseTree:
        """The best epoch's parameters if the run was stopped early, else the last ones."""
        stopped = self._status == epochs.STOPPED and self.watch.best_epoch[0] >= 0
        return state.dense_tree(self._run.snapshots.best if stopped else self._run.model.tree)

    def best(self) -> dict[int, DenseTree]:
        """The trees of the epochs with the lowest loss and, where F1 counts, with the best F1."""
        kept = zip((self.watch, self._run.score.watch), self._run.snapshots, strict=True)
        found = {int(w.best_epoch[0]): tree for w, tree in kept if w.best_epoch[0] >= 0}
        return {epoch: state.dense_tree(tree) for epoch, tree in found.items()}


def _rows(samples: Samples, dtype: np.dtype) -> epochs.Rows:
    worth = samples.score_weight[samples.rows].astype(dtype)
    return epochs.Rows(samples.packed.astype(dtype, copy=False), worth, np.arange(len(worth)))
