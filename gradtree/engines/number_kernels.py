"""The losses of numbers as compiled functions, in the form of those of ``loss_kernels``.

Labels are places of rows among the targets, which stand at the end of the settings.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import carray, njit
from numpy.typing import NDArray

from gradtree.compiling import INTERPRETED, Floats, Integers, Real, callback, kernel
from gradtree.engines.arithmetic import exp
from gradtree.settings.losses import NUMBER_LOSSES, CustomLoss, NumberLoss

SQUARED, ABSOLUTE, HUBER, QUANTILE, POISSON = NUMBER_LOSSES.values()
HEADER = 3
"""Settings before shift and scale of every target: code, setting and number of targets in all."""


def number_settings(loss: NumberLoss) -> NDArray[np.float64]:
    """What the kernel of a loss is called with."""
    targets = loss.targets if loss.own is not None else loss.scaled(loss.targets)
    head = [NUMBER_LOSSES[loss.kind], loss.setting, targets.size]
    return np.concatenate([head, loss.shift, loss.scale, targets.ravel()])


@kernel()
def _loss_and_slope(code: int, setting: Real, output: Real, target: Real) -> tuple[Real, Real]:
    """The loss of one number and its derivative by the output."""
    one = type(output)(1)
    half = one / (one + one)
    if code == POISSON:
        # The output is the logarithm of the rate.
        rate = exp(output)
        return rate - target * output, rate - target
    off = output - target
    sign = one if off > 0 else (-one if off < 0 else one - one)
    if code == QUANTILE:
        lean = half - setting
        return off * (half * sign + lean), half * sign + lean
    if code == ABSOLUTE:
        return abs(off), sign
    if code == HUBER and abs(off) > setting:
        return setting * (abs(off) - half * setting), setting * sign
    return half * off * off, off


@kernel()
def _numbers(
    outputs: Floats,
    rows: Integers,
    settings: NDArray[np.float64],
    losses: Floats,
    slopes: Floats,
) -> None:
    real, n_targets = outputs.dtype.type, outputs.shape[1]
    code, setting = int(settings[0]), real(settings[1])
    first, share = HEADER + 2 * n_targets, real(1) / real(n_targets)
    for b in range(len(rows)):
        total, place = real(0), first + rows[b] * n_targets
        for k in range(n_targets):
            target = real(settings[place + k])
            loss, slope = _loss_and_slope(code, setting, outputs[b, k], target)
            total += share * loss
            slopes[b, k] = share * slope
        losses[b] = total


def _numbers_by_pointer(
    outputs: Any, rows: Any, n_rows: int, n_targets: int, settings: Any, losses: Any, slopes: Any
) -> None:
    size = HEADER + 2 * n_targets + int(carray(settings, (HEADER,))[2])
    _numbers(
        carray(outputs, (n_rows, n_targets)),
        carray(rows, (n_rows,)),
        carray(settings, (size,)),
        carray(losses, (n_rows,)),
        carray(slopes, (n_rows, n_targets)),
    )


@cache
def number_kernel(signature: Any) -> Any:
    """The compiled function of the built-in losses of numbers."""
    return _numbers if INTERPRETED else callback(_numbers_by_pointer, signature, True)


@cache
def own_number_kernel(own: CustomLoss, signature: Any) -> Any:
    """The compiled function of a loss of the user's."""
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

    def by_pointer(
        outputs: Any,
        rows: Any,
        n_rows: int,
        n_targets: int,
        settings: Any,
        losses: Any,
        slopes: Any,
    ) -> None:
        size = HEADER + 2 * n_targets + int(carray(settings, (HEADER,))[2])
        evaluate(
            carray(outputs, (n_rows, n_targets)),
            carray(rows, (n_rows,)),
            carray(settings, (size,)),
            carray(losses, (n_rows,)),
            carray(slopes, (n_rows, n_targets)),
        )

    return evaluate if INTERPRETED else callback(by_pointer, signature, keep=False)
