"""Who survives and who becomes a parent."""

from __future__ import annotations

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

SMALLEST_SHARE = 1e-7


def fittest(fitness: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """The ``n`` best, the first of equals first after every swap: partial selection sort.

    NumPy's own partial sort did just this for up to three elements, and today
    orders equals differently from one processor to the next.
    """
    order = np.arange(len(fitness))
    for place in range(min(n, len(order))):
        best = place + int(fitness[order[place:]].argmax())
        order[[place, best]] = order[[best, place]]
    return order[:n]


def select(fitness: NDArray[np.float64], n: int, random: RandomState) -> NDArray[np.int64]:
    """Stochastic universal selection: ``n`` equidistant pointers on the stacked fitness shares.

    Returns
    -------
    ndarray of int64
        Indices of the selected: each one once, in order, then the repetitions.
    """
    edges = np.cumsum(_shares(fitness))
    steps = np.full(n, 1 / n)
    steps[0] = random.random_sample() * steps[0]
    chosen = np.searchsorted(edges / edges[-1], np.minimum(np.cumsum(steps), 1.0))
    repeated = np.concatenate([[False], chosen[1:] == chosen[:-1]])
    return np.concatenate([chosen[~repeated], chosen[repeated]])


def _shares(fitness: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fitness made positive; none for what must not be selected."""
    smallest = np.abs(fitness).min() or SMALLEST_SHARE
    return np.where(np.isfinite(fitness), np.maximum(fitness, smallest), 0.0)
