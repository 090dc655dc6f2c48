"""The reference engine: slow, dense and plain TensorFlow. It is the specification of the other."""

from typing import Any

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

from gradtree.compiling import from_python
from gradtree.engines.adam import BETA_1, BETA_2, EPSILON
from gradtree.engines.algorithm import (
    Parameters,
    entmax15,
    forward,
    one_hot_largest,
    straight_through,
)
from gradtree.engines.contract import Samples, Seeds
from gradtree.engines.epochs import EXHAUSTED, RUNNING, STOPPED, improves, new_stopping
from gradtree.engines.reference_losses import sample_losses
from gradtree.engines.scores import macro_f1
from gradtree.engines.streams import EVALUATION, fill_gumbel, shuffle_epoch
from gradtree.settings.config import TrainConfig
from gradtree.settings.selectors import as_selector
from gradtree.trees.dense import DenseTree


class ReferenceRun:
    """One run of training, with the methods of ``CompiledRun``."""

    def __init__(
        self, initial: DenseTree, train: Samples, valid: Samples, seeds: Seeds, config: TrainConfig
    ) -> None:
        self._config, self._seeds = config, seeds
        self._selector = as_selector(config.selector)
        self._dtype = np.dtype(config.dtype)
        self._train, self._valid = train, valid
        start = (initial.thresholds, initial.logits, initial.leaves)
        self._values = [tf.Variable(tf.cast(value, self._dtype)) for value in start]
        self._means = [tf.Variable(tf.zeros_like(value)) for value in self._values]
        self._squares = [tf.Variable(tf.zeros_like(value)) for value in self._values]
        self._best = self._shown = self._snapshot()
        self._step = self._epoch = 0
        self._last_epoch = config.epochs_for(len(train.rows))
        self._status = RUNNING
        self.watch, self._f1_watch = new_stopping(), new_stopping()
        self._scored = config.choose_by == "f1" and len(valid.rows) > 0
        self._best_f1 = self._best
        self._f1: list[float] = []
        self._train_loss: list[float] = []
        self._valid_loss: list[float] = []
        self._train_on = tf.function(self._update)
        self._losses_of = tf.function(self._evaluate)

    # One batch

    def _noise(self, counter: np.uint64) -> Any:
        noise = np.zeros(self._values[1].shape, dtype=self._dtype)
        if self._selector.kind == "gumbel":
            fill_gumbel(noise, self._seeds.noise, counter)
        return tf.constant(noise)

    def _choose(self, logits: Any, noise: Any, temperature: Any, soft: bool) -> Any:
        """Which feature each node tests in training."""
        if self._selector.kind == "gumbel":
            noisy = logits + noise
            return straight_through(one_hot_largest(noisy), tf.nn.softmax(noisy / temperature))
        if self._selector.kind == "annealed":
            return entmax15(logits / temperature) if soft else one_hot_largest(logits)
        rule = tf.nn.softmax if self._selector.kind == "softmax" else entmax15
        weights = rule(logits / temperature)
        return straight_through(one_hot_largest(logits), weights)

    def _soft_split(self, score: Any) -> Any:
        steep = self._config.steepness * score
        if self._config.split == "sigmoid":
            return tf.sigmoid(steep)
        return 0.5 + 0.5 * tf.nn.softsign(steep)

    def _loss_and_gradients(
        self, X: Any, y: Any, weight: Any, noise: Any, temperature: Any, soft: bool
    ) -> Any:
        with tf.GradientTape() as tape:
            parameters = Parameters(*self._values)
            choice = self._choose(parameters.logits, noise, temperature, soft)
            output = forward(X, parameters, choice, self._soft_split)
            loss = tf.reduce_mean(weight * sample_losses(self._config.loss, y, output))
        slopes = tape.gradient(loss, self._values, unconnected_gradients="zero")
        return loss, slopes

    def _update(
        self, X: Any, y: Any, weight: Any, noise: Any, temperature: Any, step: Any, soft: bool
    ) -> Any:
        """One step of Adam for each of the three groups, with gradients of one forward pass."""
        loss, slopes = self._loss_and_gradients(X, y, weight, noise, temperature, soft)
        config = self._config
        rates = (config.lr_values, config.lr_index, config.lr_leaf)
        real = self._values[0].dtype
        beta_1, beta_2 = tf.constant(BETA_1, real), tf.constant(BETA_2, real)
        correction = tf.sqrt(1 - beta_2**step) / (1 - beta_1**step)
        groups = zip(self._values, self._means, self._squares, slopes, rates, strict=True)
        for value, mean, square, slope, rate in groups:
            mean.assign_add((slope - mean) * (1 - beta_1))
            square.assign_add((slope**2 - square) * (1 - beta_2))
            value.assign_sub(mean * (rate * correction) / (tf.sqrt(square) + EPSILON))
        return loss

    def _evaluate(self, X: Any, y: Any, weight: Any, noise: Any, values: list[Any]) -> Any:
        parameters = Parameters(*values)
        output = forward(X, parameters, one_hot_largest(parameters.logits + noise))
        return tf.reduce_mean(weight * sample_losses(self._config.loss, y, output)), output

    def gradients(self, step: int = 1) -> tuple[float, DenseTree]:
        """Loss and gradients of all training rows as the batch of this step."""
        temperature = self._selector.temperature_at(step)
        loss, slopes = self._loss_and_gradients(
            *self._batch(self._train, self._train.rows),
            self._noise(np.uint64(step)),
            tf.constant(temperature or 1.0, self._dtype),
            temperature is not None,
        )
        return float(loss), DenseTree(*(slope.numpy() for slope in slopes))

    # One epoch

    def _batch(self, samples: Samples, rows: NDArray[np.int64]) -> tuple[Any, Any, Any]:
        return (
            tf.constant(samples.X[rows], self._dtype),
            tf.constant(samples.y[rows]),
            tf.constant(samples.weight[rows], self._dtype),
        )

    def _train_epoch(self) -> float:
        rows = self._train.rows.copy()
        from_python(shuffle_epoch)(rows, self._seeds.order, self._epoch)
        size = self._config.batch_size_for(len(rows))
        losses = []
        for start in range(0, len(rows), size):
            self._step += 1
            temperature = self._selector.temperature_at(self._step)
            loss = self._train_on(
                *self._batch(self._train, rows[start : start + size]),
                self._noise(np.uint64(self._step)),
                tf.constant(temperature or 1.0, self._dtype),
                tf.constant(self._step, self._dtype),
                temperature is not None,
            )
            losses.append(float(loss))
        return float(np.mean(losses))

    def _validate(self) -> float:
        rows, size = self._valid.rows, self._config.batch_size_for(len(self._train.rows))
        parts = np.split(rows, range(size, len(rows), size))
        losses, outputs = [], []
        for number, part in enumerate(parts, start=self._epoch * len(parts)):
            noise = self._noise(EVALUATION + np.uint64(number))
            noise = noise if self._selector.noisy_evaluation else tf.zeros_like(noise)
            loss, output = self._losses_of(*self._batch(self._valid, part), noise, self._shown)
            losses.append(float(loss))
            outputs.append(output.numpy().reshape(len(part), -1))
        if self._scored:
            self._f1.append(self._validation_f1(np.concatenate(outputs)))
        return float(self._dtype.type(np.mean(losses)))

    def _validation_f1(self, output: NDArray[Any]) -> float:
        rows = self._valid.rows
        predicted = output[:, 0] > 0 if output.shape[1] == 1 else output.argmax(axis=1)
        return macro_f1(self._valid.y[rows], predicted, self._valid.score_weight[rows])

    def _snapshot(self) -> list[Any]:
        return [tf.identity(value) for value in self._values]

    def advance(self) -> int:
        loss = self._train_epoch()
        self._train_loss.append(loss)
        self._shown = self._snapshot()
        if len(self._valid.rows):
            loss = self._validate()
        self._valid_loss.append(loss if len(self._valid.rows) else float("nan"))
        note = from_python(improves)
        if note(self.watch, self._epoch, loss):
            self._best = self._shown
        stale = self.watch.stale_epochs[0]
        if self._scored:
            if note(self._f1_watch, self._epoch, -self._f1[-1]):
                self._best_f1 = self._shown
            stale = min(stale, self._f1_watch.stale_epochs[0])
        self._epoch += 1
        if stale >= self._config.patience:
            self._status = STOPPED
        elif self._epoch >= self._last_epoch:
            self._status = EXHAUSTED
        return self._status

    # A run

    @property
    def losses(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return np.array(self._train_loss), np.array(self._valid_loss)

    @property
    def scores(self) -> NDArray[np.float64]:
        return np.array(self._f1) if self._scored else np.full(self._epoch, np.nan)

    def result(self) -> DenseTree:
        return _tree(self._best if self._status == STOPPED else self._shown)

    def best(self) -> dict[int, DenseTree]:
        kept = [(self.watch, self._best), (self._f1_watch, self._best_f1)]
        found = {int(w.best_epoch[0]): values for w, values in kept if w.best_epoch[0] >= 0}
        return {epoch: _tree(values) for epoch, values in found.items()}


def _tree(values: list[Any]) -> DenseTree:
    return DenseTree(*(value.numpy() for value in values))
