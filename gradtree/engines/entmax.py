"""Entmax 1.5 of one row of logits, exactly and without sorting.

``entmax(x)_f = max(x_f / 2 - tau, 0)**2`` where ``tau`` makes the entries sum to one
(Peters, Niculae & Martins, ACL 2019). Both the value and its Jacobian
``diag(r) - r r' / sum(r)`` are functions of ``r = sqrt(entmax(x))``.
"""

import numpy as np

from gradtree.compiling import Floats, Real, kernel

_PASSES = 64
"""More than any row needs: Newton's method doubles its digits with every pass."""


@kernel()
def _keep_above(excess: Floats, count: int, step: Real) -> tuple[int, Real, Real, Real]:
    """Lower the first ``count`` entries by ``step`` and keep, at the front, those above zero.

    Returns how many are kept, their sum, their sum of squares and the least of them.
    """
    zero, one = excess.dtype.type(0), excess.dtype.type(1)
    kept, total, squares, least = 0, zero, zero, one
    for i in range(count):
        above = max(excess[i] - step, zero)
        excess[kept] = above
        kept += above > zero
        total += above
        squares += above * above
        least = min(least, above if above > zero else one)
    return kept, total, squares, least


@kernel(inline="always")
def _threshold(row: Floats, largest: Real, scale: Real, excess: Floats) -> Real:
    """``tau``, as a distance from the largest entry of ``scale * row``.

    The sum of squares above ``tau`` falls convexly in ``tau``, so Newton's method started left of
    the solution stays there, and entries that have dropped below ``tau`` can be forgotten. Once the
    entries left are the support, ``tau`` is the root of a quadratic equation; that is the case when
    this root is below all of them.
    """
    one = excess.dtype.type(1)
    for f in range(len(row)):
        excess[f] = (row[f] - largest) * scale
    tau = -one
    count, total, squares, least = _keep_above(excess, len(row), tau)
    for _ in range(_PASSES):
        surplus = squares - one
        spread = total * total - count * surplus
        if spread >= 0:
            root = surplus / (total + np.sqrt(spread))
            if root < least:
                return tau + root
        # Both bound tau from below; the second is Jensen's inequality.
        step = max(surplus / (total + total), total / count - one / np.sqrt(count * one))
        if tau + step <= tau:
            break
        tau += step
        count, total, squares, least = _keep_above(excess, count, step)
    return tau


@kernel()
def entmax_root(row: Floats, largest: Real, temperature: float, root: Floats) -> Real:
    """Fill ``root`` with the square roots of ``entmax(row / temperature)``; their sum."""
    real = root.dtype.type
    scale = real(0.5) / real(temperature)
    tau = _threshold(row, largest, scale, root)
    zero = real(0)
    total = zero
    for f in range(len(row)):
        root[f] = max((row[f] - largest) * scale - tau, zero)
        total += root[f]
    return total


@kernel()
def fill_entmax(row: Floats, largest: Real, temperature: float, out: Floats) -> None:
    """Fill ``out`` with ``entmax(row / temperature)``."""
    entmax_root(row, largest, temperature, out)
    for f in range(len(row)):
        out[f] *= out[f]
