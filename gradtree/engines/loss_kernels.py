"""The losses as compiled functions that the training loop calls once per batch.

A loss gets the logits of a batch and writes the loss of every sample and its derivative with
respect to the sample's logits. All losses, built in or the user's, share one C signature, so that
the training loop is compiled once and calls them through a pointer. Labels of losses of numbers are
places of rows among the targets, which stand at the end of the settings.
"""

import math
from functools import cache
from typing import Any

import numpy as np
from numba import carray, njit, types
from numpy.typing import NDArray

from gradtree.compiling import Floats, Integers, Real, callback, kernel
from gradtree.engines.arithmetic import exp, log1p, sigmoid
from gradtree.settings.losses import CLIP, LOSSES, NUMBER_LOSSES, AnyLoss, CustomLoss, Loss

FOCAL = LOSSES["focal"]
SQUARED, ABSOLUTE, HUBER, _, POISSON = NUMBER_LOSSES.values()
Settings = NDArray[np.float64]
HEADER = 3
"""Settings before shift and scale of every target: code, setting and number of targets in all."""


@kernel()
def _power(base: Real, exponent: Real) -> Real:
    return type(base)(math.pow(base, exponent))


@kernel()
def _margin(logit: Real, label: int) -> tuple[Real, Real]:
    """Logit of the true class against the other, and its sign in front of ``logit``."""
    sign = type(logit)(1) if label == 1 else -type(logit)(1)
    return sign * logit, sign


@kernel()
def _binary_cross_entropy(logits: Floats, labels: Integers, losses: Floats, slopes: Floats) -> None:
    zero = logits.dtype.type(0)
    for b in range(len(logits)):
        margin, sign = _margin(logits[b], labels[b])
        losses[b] = max(-margin, zero) + log1p(exp(-abs(margin)))
        slopes[b] = -sign * sigmoid(-margin)


@kernel()
def _focus(logits: Floats, labels: Integers, gamma: Real, losses: Floats, slopes: Floats) -> None:
    """Make focal losses of cross-entropies."""
    one = logits.dtype.type(1)
    for b in range(len(logits)):
        margin, sign = _margin(logits[b], labels[b])
        wrong = sigmoid(-margin)
        factor = wrong * wrong * wrong if gamma == 3 else _power(wrong, gamma)
        slopes[b] = -sign * factor * (gamma * losses[b] * (one - wrong) + wrong)
        losses[b] *= factor


@kernel()
def _add_poly(
    logits: Floats, labels: Integers, epsilon: Real, losses: Floats, slopes: Floats
) -> None:
    one = logits.dtype.type(1)
    for b in range(len(logits)):
        p = sigmoid(logits[b])
        twice = sigmoid(p)
        sign = one if labels[b] == 1 else -one
        losses[b] += epsilon * (one - twice if labels[b] == 1 else twice)
        slopes[b] -= sign * epsilon * twice * (one - twice) * p * (one - p)


@kernel()
def _binary(
    logits: Floats, labels: Integers, settings: Settings, losses: Floats, slopes: Floats
) -> None:
    """One logit per sample, of class 1 against class 0."""
    real = logits.dtype.type
    gamma, epsilon = real(settings[1]), real(settings[2])
    _binary_cross_entropy(logits, labels, losses, slopes)
    if settings[0] == FOCAL:
        _focus(logits, labels, gamma, losses, slopes)
    if epsilon != 0:
        _add_poly(logits, labels, epsilon, losses, slopes)


@kernel()
def softmax(logits: Floats, p: Floats) -> Real:
    """Fill ``p`` with the softmax of ``logits``; the logarithm of the sum of exponentials."""
    largest = logits[0]
    for k in range(1, len(p)):
        largest = max(largest, logits[k])
    total = p.dtype.type(0)
    for k in range(len(p)):
        p[k] = exp(logits[k] - largest)
    for k in range(len(p)):
        total += p[k]
    for k in range(len(p)):
        p[k] /= total
    return largest + type(total)(math.log(total))


@kernel()
def _through_softmax(p: Floats, gradient: Floats) -> None:
    """Turn a derivative with respect to probabilities into one with respect to logits."""
    mean = p.dtype.type(0)
    for k in range(len(p)):
        mean += p[k] * gradient[k]
    for k in range(len(p)):
        gradient[k] = p[k] * (gradient[k] - mean)


@kernel()
def _multi_cross_entropy(
    logits: Floats, label: int, epsilon: Real, p: Floats, again: Floats, gradient: Floats
) -> Real:
    one = p.dtype.type(1)
    if epsilon == 0:
        loss = softmax(logits, gradient) - logits[label]
        gradient[label] -= one
        return loss
    loss = softmax(logits, p) - logits[label]
    softmax(p, again)
    for k in range(len(p)):
        gradient[k] = epsilon * again[label] * again[k]
    gradient[label] -= epsilon * again[label]
    _through_softmax(p, gradient)
    for k in range(len(p)):
        gradient[k] += p[k]
    gradient[label] -= one
    return loss + epsilon * (one - again[label])


@kernel()
def _multi_focal(
    logits: Floats, label: int, gamma: Real, epsilon: Real, p: Floats, gradient: Floats
) -> Real:
    real = p.dtype.type
    softmax(logits, p)
    low, high = real(CLIP), real(1) - real(CLIP)
    total = real(0)
    for k in range(len(p)):
        total += min(max(p[k], low), high)
    entropy = real(math.log(total) - math.log(min(max(p[label], low), high)))
    wrong = real(1) - p[label]
    factor = _power(wrong, gamma)
    for k in range(len(p)):
        gradient[k] = factor / total if low <= p[k] <= high else real(0)
    if low <= p[label] <= high:
        gradient[label] -= factor / p[label]
    gradient[label] -= gamma * real(math.pow(wrong, gamma - real(1))) * entropy
    _through_softmax(p, gradient)
    return factor * entropy + epsilon * (real(1) - real(label))


@njit(nogil=True, error_model="numpy")
def _multi(
    logits: Floats, labels: Integers, settings: Settings, losses: Floats, gradients: Floats
) -> None:
    """One logit per class."""
    real = logits.dtype.type
    gamma, epsilon = real(settings[1]), real(settings[2])
    p, again = np.empty_like(logits[0]), np.empty_like(logits[0])
    for b in range(len(labels)):
        out = gradients[b]
        if settings[0] == FOCAL:
            losses[b] = _multi_focal(logits[b], labels[b], gamma, epsilon, p, out)
        else:
            losses[b] = _multi_cross_entropy(logits[b], labels[b], epsilon, p, again, out)


def _binary_by_pointer(
    logits: Any, labels: Any, rows: int, outputs: int, settings: Any, losses: Any, slopes: Any
) -> None:
    own, slope = carray(losses, rows), carray(slopes, rows)
    _binary(carray(logits, rows), carray(labels, rows), carray(settings, 3), own, slope)


def _multi_by_pointer(
    logits: Any, labels: Any, rows: int, outputs: int, settings: Any, losses: Any, slopes: Any
) -> None:
    table, slope = carray(logits, (rows, outputs)), carray(slopes, (rows, outputs))
    _multi(table, carray(labels, rows), carray(settings, 3), carray(losses, rows), slope)


@kernel()
def _loss_and_slope(code: int, setting: Real, output: Real, target: Real) -> tuple[Real, Real]:
    """The loss of one number and its derivative by the output."""
    real = type(output)
    half = real(0.5)
    if code == POISSON:
        # The output is the logarithm of the rate.
        rate = exp(output)
        return rate - target * output, rate - target
    off = output - target
    # Neither side is a branch: which one a row takes cannot be foreseen.
    if code == HUBER:
        near = min(max(off, -setting), setting)
        return near * (off - half * near), near
    if code == SQUARED:
        return half * off * off, off
    sign = real(off > 0) - real(off < 0)
    slope = sign if code == ABSOLUTE else half * sign + half - setting
    return off * slope, slope


@kernel()
def _numbers(
    outputs: Floats, rows: Integers, width: int, settings: Settings, losses: Floats, slopes: Floats
) -> None:
    """Of a flat array of outputs; first their targets stand where slopes will."""
    real = outputs.dtype.type
    code, setting, first = int(settings[0]), real(settings[1]), HEADER + 2 * width
    if width == 1:
        for b in range(len(rows)):
            slopes[b] = real(settings[first + rows[b]])
        for b in range(len(rows)):
            losses[b], slopes[b] = _loss_and_slope(code, setting, outputs[b], slopes[b])
        return
    share = real(1) / real(width)
    for b in range(len(rows)):
        losses[b] = real(0)
        for k in range(width):
            at, target = b * width + k, real(settings[first + rows[b] * width + k])
            loss, slope = _loss_and_slope(code, setting, outputs[at], target)
            losses[b] += share * loss
            slopes[at] = share * slope


def _numbers_by_pointer(
    outputs: Any, rows: Any, n: int, width: int, settings: Any, losses: Any, slopes: Any
) -> None:
    size = HEADER + 2 * width + int(carray(settings, HEADER)[2])
    flat, slope, numbers = carray(outputs, n * width), carray(slopes, n * width), carray(rows, n)
    _numbers(flat, numbers, width, carray(settings, size), carray(losses, n), slope)


@cache
def _own_number_kernel(own: CustomLoss, dtype: Any) -> Any:
    user: Any = njit(error_model="numpy")(own.function)

    @njit(nogil=True, error_model="numpy")
    def evaluate(
        outputs: Floats, rows: Integers, settings: Floats, losses: Floats, slopes: Floats
    ) -> None:
        n = outputs.shape[1]
        shift, scale = settings[HEADER : HEADER + n], settings[HEADER + n : HEADER + 2 * n]
        prediction, slope = np.empty(n), np.empty(n)
        for b in range(len(rows)):
            for k in range(n):
                prediction[k] = shift[k] + scale[k] * outputs[b, k]
            slope[:] = 0
            first = HEADER + (2 + rows[b]) * n
            losses[b] = user(prediction, settings[first : first + n], slope) / settings[1]
            for k in range(n):
                slopes[b, k] = slope[k] * scale[k] / settings[1]

    return _own_kernel(evaluate, dtype)


def _own_kernel(evaluate: Any, dtype: Any) -> Any:
    """The compiled function of a loss that allocates, called as the built-in ones are."""

    def by_pointer(
        outputs: Any, rows: Any, n: int, width: int, settings: Any, losses: Any, slopes: Any
    ) -> None:
        size = HEADER + 2 * width + int(carray(settings, HEADER)[2])
        table, slopes = carray(outputs, (n, width)), carray(slopes, (n, width))
        evaluate(table, carray(rows, n), carray(settings, size), carray(losses, n), slopes)

    return callback(by_pointer, _signature(dtype), keep=False)


def _signature(dtype: Any) -> Any:
    real, integer = types.float32 if dtype == np.float32 else types.float64, types.int64
    reals, integers = types.CPointer(real), types.CPointer(integer)
    return types.void(
        reals, integers, integer, integer, types.CPointer(types.float64), reals, reals
    )


@cache
def _built_in_kernel(by_pointer: Any, dtype: Any) -> Any:
    return callback(by_pointer, _signature(dtype), keep=True)


@cache
def _custom_kernel(loss: CustomLoss, dtype: Any) -> Any:
    user = njit(error_model="numpy")(loss.function)

    @njit(nogil=True, error_model="numpy")
    def evaluate(
        logits: Floats, labels: Integers, settings: Floats, losses: Floats, slopes: Floats
    ) -> None:
        outputs = logits.shape[1]
        p = np.empty(2 if outputs == 1 else outputs, dtype=logits.dtype)
        slope = np.empty_like(p)
        for b in range(len(labels)):
            slope[:] = 0
            if outputs == 1:
                p[1] = sigmoid(logits[b, 0])
                p[0] = sigmoid(-logits[b, 0])
                losses[b] = user(p, labels[b], slope)
                slopes[b, 0] = (slope[1] - slope[0]) * p[0] * p[1]
            else:
                softmax(logits[b], p)
                losses[b] = user(p, labels[b], slope)
                _through_softmax(p, slope)
                slopes[b] = slope

    return _own_kernel(evaluate, dtype)


def loss_kernel(loss: AnyLoss, dtype: Any, n_classes: int) -> tuple[Any, Settings]:
    """The compiled function of a loss and the settings to call it with."""
    real = np.dtype(dtype).type
    if isinstance(loss, CustomLoss):
        return _custom_kernel(loss, real), np.zeros(HEADER + 2 * n_classes)
    if isinstance(loss, Loss):
        settings = np.array([LOSSES[loss.kind], loss.gamma, loss.poly_epsilon or 0.0])
        by_pointer = _binary_by_pointer if n_classes == 2 else _multi_by_pointer
        return _built_in_kernel(by_pointer, real), settings
    own, targets = loss.own, loss.targets if loss.own is not None else loss.scaled(loss.targets)
    head = [NUMBER_LOSSES[loss.kind], loss.setting, targets.size]
    settings = np.concatenate([head, loss.shift, loss.scale, targets.ravel()])
    if own is not None:
        return _own_number_kernel(own, real), settings
    return _built_in_kernel(_numbers_by_pointer, real), settings


@kernel()
def call_loss(
    loss: Any, logits: Floats, labels: Integers, settings: Settings, losses: Floats, slopes: Floats
) -> None:
    """Evaluate the compiled function of a loss on rows of logits."""
    rows, outputs = logits.shape
    loss(logits.ctypes, labels.ctypes, rows, outputs, settings.ctypes, losses.ctypes, slopes.ctypes)
