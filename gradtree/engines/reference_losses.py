"""The losses in TensorFlow, one value per sample, from the logits of a batch."""

from typing import Any

import numpy as np
import tensorflow as tf

from gradtree.compiling import from_python
from gradtree.engines.loss_kernels import call_loss, loss_kernel
from gradtree.settings.losses import CLIP, AnyLoss, CustomLoss, Loss, NumberLoss


def sample_losses(loss: AnyLoss, labels: Any, logits: Any) -> Any:
    """Loss of every sample. ``logits``: (batch,) for two classes, else (batch, classes)."""
    if isinstance(loss, NumberLoss) and loss.own is None:
        return _of_numbers(loss, labels, logits)
    if isinstance(loss, CustomLoss | NumberLoss):
        return _custom(loss, labels, logits)
    binary = logits.shape.rank == 1
    if loss.kind == "focal":
        value = _focal(labels, logits, loss.gamma, binary)
    else:
        value = _cross_entropy(labels, logits, binary)
    return value + _poly_term(loss, labels, logits, binary)


def _cross_entropy(labels: Any, logits: Any, binary: bool) -> Any:
    if binary:
        truth = tf.cast(labels, logits.dtype)
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=truth, logits=logits)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


def _focal(labels: Any, logits: Any, gamma: float, binary: bool) -> Any:
    if binary:
        p_true = tf.where(labels == 1, tf.sigmoid(logits), tf.sigmoid(-logits))
        return (1 - p_true) ** gamma * _cross_entropy(labels, logits, binary)
    p = tf.nn.softmax(logits)
    p_true = tf.gather(p, labels, batch_dims=1)
    clipped = tf.math.log(tf.clip_by_value(p, CLIP, 1 - CLIP))
    return (1 - p_true) ** gamma * _cross_entropy(labels, clipped, binary)


def _poly_term(loss: Loss, labels: Any, logits: Any, binary: bool) -> Any:
    """The Poly-1 term with the quirks described in ``gradtree.settings.losses``."""
    if loss.poly_epsilon is None:
        return tf.zeros([], logits.dtype)
    if binary:
        twice = tf.sigmoid(tf.sigmoid(logits))
        p_true = tf.where(labels == 1, twice, 1 - twice)
    elif loss.kind == "focal":
        p_true = tf.cast(labels, logits.dtype)
    else:
        p_true = tf.gather(tf.nn.softmax(tf.nn.softmax(logits)), labels, batch_dims=1)
    return loss.poly_epsilon * (1 - p_true)


def _of_numbers(loss: NumberLoss, rows: Any, outputs: Any) -> Any:
    """The mean loss of the targets of every row; of "poisson", without what only they decide."""
    targets = tf.gather(tf.constant(loss.scaled(loss.targets), outputs.dtype), rows)
    outputs = tf.reshape(outputs, tf.shape(targets))
    off = outputs - targets
    if loss.kind == "poisson":
        value = tf.exp(outputs) - targets * outputs
    elif loss.kind == "quantile":
        value = 0.5 * tf.abs(off) + (0.5 - loss.setting) * off
    elif loss.kind == "absolute_error":
        value = tf.abs(off)
    elif loss.kind == "huber":
        near = tf.clip_by_value(off, -loss.setting, loss.setting)
        value = near * (off - 0.5 * near)
    else:
        value = 0.5 * off**2
    return tf.reduce_mean(value, axis=1)


def _custom(loss: CustomLoss | NumberLoss, labels: Any, logits: Any) -> Any:
    """The user's function brings its own gradient, so TensorFlow calls the compiled loss."""

    def evaluate(labels: Any, logits: Any) -> tuple[Any, Any]:
        n_classes = 2 if logits.ndim == 1 else logits.shape[1]
        kernel, settings = loss_kernel(loss, logits.dtype, n_classes)
        table = np.ascontiguousarray(logits.reshape(len(labels), -1))
        losses, slopes = np.empty(len(labels), dtype=logits.dtype), np.empty_like(table)
        from_python(call_loss)(kernel, table, labels, settings, losses, slopes)
        return losses, slopes.reshape(logits.shape)

    @tf.custom_gradient
    def value(logits: Any) -> Any:
        losses, slopes = tf.numpy_function(evaluate, [labels, logits], [logits.dtype] * 2)
        losses.set_shape(logits.shape[:1])
        slopes.set_shape(logits.shape)

        def gradient(upstream: Any) -> Any:
            return slopes * tf.reshape(upstream, [-1] + [1] * (logits.shape.rank - 1))

        return losses, gradient

    return value(logits)
