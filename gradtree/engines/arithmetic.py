"""Elementary functions that the compiler can vectorise.

For ``float32`` they are short polynomials, within two units in the last place of the true value
and the same on every machine; for ``float64`` they are those of the C library.
"""

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from gradtree.compiling import Floats, Real, kernel
from gradtree.settings.splits import SPLITS

_single = np.float32
SOFTSIGN = SPLITS["softsign"]


@kernel()
def _exp32(x: Real) -> Real:
    # exp(x) = 2**k exp(r) with |r| <= log(2) / 2, where log(2) is subtracted in two parts.
    x = min(max(x, _single(-87.0)), _single(88.0))
    k = np.floor(x * _single(1.4426950408889634) + _single(0.5))
    r = (x - k * _single(0.693359375)) + k * _single(2.1219444005469057e-4)
    p = _single(0.0013926919)
    p = p * r + _single(0.008363767)
    p = p * r + _single(0.04166655)
    p = p * r + _single(0.16666573)
    p = p * r + _single(0.5)
    p = p * r * r + r + _single(1.0)
    exponent = (np.int32(k) + np.int32(127)) << np.int32(23)
    return p * np.int32(exponent).view(np.float32)


@kernel()
def _log1p32(x: Real) -> Real:
    # log(1 + x) = 2 atanh(x / (2 + x)), for 0 <= x <= 1
    s = x / (x + _single(2.0))
    w = s * s
    p = _single(0.10393808)
    p = p * w + _single(0.08732351)
    p = p * w + _single(0.11132356)
    p = p * w + _single(0.14285153)
    p = p * w + _single(0.20000005)
    p = p * w + _single(0.33333334)
    return _single(2.0) * (s + s * w * p)


def exp(x: Any) -> Any:
    """Exponential function in the type of ``x``, for kernels."""


def log1p(x: Any) -> Any:
    """``log(1 + x)`` for ``0 <= x <= 1`` in the type of ``x``, for kernels."""


@overload(exp)
def _exp(x):  # type: ignore[no-untyped-def]
    return (lambda x: _exp32(x)) if x == types.float32 else (lambda x: math.exp(x))


@overload(log1p)
def _log1p(x):  # type: ignore[no-untyped-def]
    return (lambda x: _log1p32(x)) if x == types.float32 else (lambda x: math.log1p(x))


@kernel()
def sigmoid(x: Real) -> Real:
    """Logistic function, without overflow."""
    e = exp(-abs(x))
    one = type(e)(1)
    return (one if x >= 0 else e) / (one + e)


@kernel()
def split_slopes(z: Floats, code: int, steepness: Real, slopes: Floats) -> None:
    """Derivative of a split function of ``SPLITS`` at every entry of the flat array ``z``."""
    one = z.dtype.type(1)
    if code == SOFTSIGN:
        half = steepness / (one + one)
        for i in range(len(z)):
            distance = one + abs(steepness * z[i])
            slopes[i] = half / (distance * distance)
        return
    for i in range(len(z)):
        # With a steepness of one both products are exact: these are the paper's slopes to the bit.
        e = exp(-abs(steepness * z[i]))
        slopes[i] = steepness * e / ((one + e) * (one + e))
