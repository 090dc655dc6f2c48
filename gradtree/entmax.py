"""Entmax 1.5 of one row of logits, exactly and without sorting.

``entmax(x)_f = max(x_f / 2 - tau, 0)**2`` where ``tau`` makes the entries sum to one
(Peters, Niculae & Martins, ACL 2019). Both the value and its Jacobian
``diag(r) - r r' / sum(r)`` are functions of ``r = sqrt(entmax(x))``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

_PASSES = 64
"""More than any row needs: Newton's method doubles its digits with every pass."""


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "nsz"})
def _excess(row, largest, scale, tau, root):  # type: ignore[no-untyped-def]
    """Fill ``root`` with ``max(scale * (row - largest) - tau, 0)``.

    Returns the number of positive entries, their sum and their sum of squares.
    """
    zero = root.dtype.type(0)
    count, total, squares = 0, zero, zero
    for f in range(len(row)):
        above = max((row[f] - largest) * scale - tau, zero)
        root[f] = above
        count += above > zero
        total += above
        squares += above * above
    return count, total, squares


@njit(cache=True, nogil=True, error_model="numpy")
def entmax_root(row, largest, temperature, root):  # type: ignore[no-untyped-def]
    """Fill ``root`` with the square roots of ``entmax(row / temperature)``; their sum.

    The sum of squares above ``tau`` falls convexly in ``tau``, so Newton's method approaches the
    solution from the left if it starts there (1 below the largest entry). As soon as the support
    is right the solution is that of a quadratic equation, which is tried after Newton's steps.
    """
    real = root.dtype.type
    one = real(1)
    scale = real(0.5) / real(temperature)
    tau = -one
    solved_for = -1
    for _ in range(_PASSES):
        count, total, squares = _excess(row, largest, scale, tau, root)
        if count == solved_for or count == 0:
            break
        spread = total * total - count * (squares - one)
        if solved_for < 0 and spread >= 0:
            step = (squares - one) / (total + np.sqrt(spread))
            solved_for = count
        else:
            step = (squares - one) / (total + total)
            solved_for = -1
        if tau + step == tau:
            break
        tau += step
    return total


def entmax15(logits: NDArray[Any], temperature: float = 1.0) -> NDArray[Any]:
    """Entmax 1.5 of every row of ``logits / temperature``. Shape as given."""
    root = np.empty_like(logits)
    for row, out in zip(logits, root, strict=True):
        entmax_root(row, row.max(), temperature, out)
    return root**2
