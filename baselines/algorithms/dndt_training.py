"""The training loop of DNDT as one TensorFlow graph, quirks of the authors' code included.

The soft leaf memberships are the Kronecker product of two-way memberships, one
pair per feature. Only the products of the first and of the second half of the
features are formed, and the leaf scores are contracted with one after the
other: the same logits without ever holding a rows x 2^n matrix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tensorflow as tf
from numpy.typing import NDArray

if TYPE_CHECKING:
    from baselines.algorithms.dndt import DNDTClassifier

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-7


Weights = tuple[NDArray[np.float32], NDArray[np.float32]]
"""One cut point per feature, and class scores of shape (2 ** n_features, n_classes)."""


class Trained(NamedTuple):
    """``stopped`` tells whether patience ran out, so that the best weights are back."""

    weights: Weights
    epochs: int
    best_loss: float
    stopped: bool


def initial_weights(seed: int, n_features: int, n_classes: int) -> Weights:
    """The authors' draws: cut points first, feature by feature, then the leaf scores.

    They set TensorFlow's own seed.
    """
    with tf.device("/CPU:0"):
        tf.random.set_seed(seed)
        cuts = [tf.random.uniform([1]).numpy() for _ in range(n_features)]
        scores = tf.random.uniform([2**n_features, n_classes]).numpy()
    return np.concatenate(cuts), scores


def train(
    X: NDArray[Any],
    y: NDArray[Any],
    X_valid: NDArray[Any],
    y_valid: NDArray[Any],
    start: Weights,
    schedule: DNDTClassifier,
    weight: NDArray[Any] | None = None,
) -> Trained:
    """Minimise the softmax cross-entropy of the soft tree, in the order of the rows.

    The loss of the validation rows decides when to stop. Of the weights of the training rows only
    ratios matter.
    """
    shares = np.ones(len(X)) if weight is None else weight / weight.mean()
    with tf.device("/CPU:0"):
        one_hot = np.eye(start[1].shape[1], dtype=np.float32)
        cuts, scores, epochs, best, waited = _loop(
            *_batches(X, one_hot[y], shares, schedule.batch_size),
            tf.constant(X_valid, tf.float32),
            tf.constant(one_hot[y_valid]),
            *map(tf.constant, start),
            tf.constant(schedule.learning_rate, tf.float32),
            tf.constant(schedule.temperature, tf.float32),
            tf.constant(schedule.epochs),
            tf.constant(schedule.patience),
        )
    stopped = bool(waited >= schedule.patience)
    return Trained((cuts.numpy(), scores.numpy()), int(epochs), float(best), stopped)


def _batches(
    X: NDArray[Any], targets: NDArray[np.float32], weights: NDArray[Any], size: int
) -> tuple[Any, Any, Any, Any]:
    """Consecutive batches of equal shape; rows of zeros that weigh nothing fill the last one."""
    size = min(size, len(X))
    n_batches = -(-len(X) // size)
    empty = n_batches * size - len(X)

    def stacked(values: NDArray[Any]) -> Any:
        filled = np.pad(values.astype(np.float32), [(0, empty)] + [(0, 0)] * (values.ndim - 1))
        return tf.constant(filled.reshape(n_batches, size, *values.shape[1:]))

    counts = np.full(n_batches, size, dtype=np.float32)
    counts[-1] -= empty
    return stacked(X), stacked(targets), stacked(weights), tf.constant(counts)


def soft_logits(X: Any, cuts: Any, scores: Any, temperature: Any) -> Any:
    """Class scores of rows that are in every leaf to some degree.

    The two sides of a cut share a row as ``softmax([x, 2x - cut] / temperature)``.
    A sigmoid of ``x - cut`` would be the same number, but not the same gradient:
    at low temperatures that of the softmax is mostly rounding error, which Adam
    scales up to steps of full length, and with which the published results came about.
    """
    sides = tf.nn.softmax(tf.stack([X, 2.0 * X - cuts], axis=2) / temperature)
    half = cuts.shape[0] // 2
    first, second = _memberships(sides[:, :half]), _memberships(sides[:, half:])
    n_classes = scores.shape[1]
    partly = first @ tf.reshape(scores, [2**half, -1])
    partly = tf.reshape(partly, [-1, second.shape[1], n_classes])
    return tf.reduce_sum(second[:, :, tf.newaxis] * partly, axis=1)


def _memberships(sides: Any) -> Any:
    """Kronecker product over the features of (rows, features, 2); the last varies fastest."""
    product = tf.ones([sides.shape[0], 1])
    for feature in range(sides.shape[1]):
        product = product[:, :, tf.newaxis] * sides[:, feature, tf.newaxis, :]
        product = tf.reshape(product, [-1, 2 ** (feature + 1)])
    return product


def _mean_loss(logits: Any, targets: Any, weights: Any, count: Any) -> Any:
    losses = tf.nn.softmax_cross_entropy_with_logits(targets, logits)
    return tf.reduce_sum(losses * weights) / count


def _adam(weight: Any, gradient: Any, m: Any, v: Any, step: Any, rate: Any) -> tuple[Any, Any, Any]:
    """One step of Keras' Adam; ``step`` may differ between the elements of ``weight``."""
    m += (gradient - m) * (1.0 - BETA_1)
    v += (tf.square(gradient) - v) * (1.0 - BETA_2)
    alpha = rate * tf.sqrt(1.0 - tf.pow(BETA_2, step)) / (1.0 - tf.pow(BETA_1, step))
    return weight - m * alpha / (tf.sqrt(v) + EPSILON), m, v


@tf.function
def _loop(
    rows: Any,
    targets: Any,
    weights: Any,
    counts: Any,
    X_valid: Any,
    targets_valid: Any,
    cuts: Any,
    scores: Any,
    rate: Any,
    temperature: Any,
    max_epochs: Any,
    patience: Any,
) -> tuple[Any, Any, Any, Any, Any]:
    """All epochs; returns cuts, scores, epochs run, best validation loss, epochs without a better.

    State holds the two weights and their first and second moments.
    """
    n_features, n_batches = cuts.shape[0], rows.shape[0]
    n_valid = tf.cast(X_valid.shape[0], tf.float32)
    place = tf.range(1, n_features + 1, dtype=tf.float32)

    def batch(b: Any, done: Any, state: Any) -> Any:
        cuts, scores, m_cuts, v_cuts, m_scores, v_scores = state
        with tf.GradientTape() as tape:
            tape.watch([cuts, scores])
            logits = soft_logits(rows[b], cuts, scores, temperature)
            loss = _mean_loss(logits, targets[b], weights[b], counts[b])
        to_cuts, to_scores = tape.gradient(loss, [cuts, scores])
        # The optimiser is called once per variable, and counts every call as a step.
        before = tf.cast(done * (n_features + 1), tf.float32)
        cuts, m_cuts, v_cuts = _adam(cuts, to_cuts, m_cuts, v_cuts, before + place, rate)
        last = before + n_features + 1.0
        scores, m_scores, v_scores = _adam(scores, to_scores, m_scores, v_scores, last, rate)
        return b + 1, done + 1, (cuts, scores, m_cuts, v_cuts, m_scores, v_scores)

    def epoch(number: Any, state: Any, best: Any, waited: Any) -> Any:
        _, _, state = tf.while_loop(
            lambda b, done, state: b < n_batches, batch, (0, number * n_batches, state)
        )
        logits = soft_logits(X_valid, state[0], state[1], temperature)
        loss = _mean_loss(logits, targets_valid, tf.ones_like(logits[:, 0]), n_valid)
        better = loss < best[0]
        best = tf.cond(better, lambda: (loss, state[0], state[1]), lambda: best)
        return number + 1, state, best, tf.where(better, 0, waited + 1)

    moments = [tf.zeros_like(weight) for weight in (cuts, cuts, scores, scores)]
    number, state, best, waited = tf.while_loop(
        lambda number, state, best, waited: (number < max_epochs) & (waited < patience),
        epoch,
        (0, (cuts, scores, *moments), (tf.constant(np.inf, tf.float32), cuts, scores), 0),
    )
    # Only when patience runs out do the best weights come back.
    final = tf.cond(waited >= patience, lambda: best[1:], lambda: state[:2])
    return *final, number, best[0], waited
