"""The losses of numbers as compiled functions, in the form of those of ``loss_kernels``.

Labels are places of rows among the targets, which stand at the end of the settings.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import carray, njit
from numpy.typing import NDArray

from gradtree.compiling import Floats, Integers, Real, callback, kernel
from gradtree.engines.arithmetic import exp
from gradtree.settings.losses import NUMBER_LOSSES, CustomLoss, NumberLoss

SQUARED, ABSOLUTE, HUBER, _, POISSON = NUMBER_LOSSES.values()
Settings = NDArray[np.float64]
HEADER = 3
"""Settings before shift and scale of every target: code, setting and number of targets in all."""


def number_settings(loss: NumberLoss) -> Settings:
    targets = loss.targets if loss.own is not None else loss.scaled(loss.targets)
    head = [NUMBER_LOSSES[loss.kind], loss.setting, targets.size]
    return np.concatenate([head, loss.shift, loss.scale, targets.ravel()])


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
def number_kernel(signature: Any) -> Any:
    return callback(_numbers_by_pointer, signature, True)


@cache
def own_number_kernel(own: CustomLoss, signature: Any) -> Any:
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

    return own_kernel(evaluate, signature)


def own_kernel(evaluate: Any, signature: Any) -> Any:
    """The compiled function of a loss that allocates, called as the built-in ones are."""

    def by_pointer(
        outputs: Any, rows: Any, n: int, width: int, settings: Any, losses: Any, slopes: Any
    ) -> None:
        size = HEADER + 2 * width + int(carray(settings, HEADER)[2])
        table, slopes = carray(outputs, (n, width)), carray(slopes, (n, width))
        evaluate(table, carray(rows, n), carray(settings, size), carray(losses, n), slopes)

    return callback(by_pointer, signature, keep=False)
