"""Rows to stop by: a stratified part of the training rows that is not trained on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def hold_out(y: NDArray[np.int64], fraction: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw validation rows, each class in proportion, leaving every class at least one row.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Class indices.
    fraction : float
        Share of rows to draw, below 1.
    rng : numpy Generator

    Returns
    -------
    ndarray of int
        Ascending positions; empty if the classes have too few rows to spare any.
    """
    counts = np.bincount(y)
    wanted = _allotted(counts, fraction)
    order = rng.permutation(len(y))
    drawn = [order[y[order] == label][:number] for label, number in enumerate(wanted)]
    return np.sort(np.concatenate(drawn))


def _allotted(counts: NDArray[np.intp], fraction: float) -> NDArray[np.intp]:
    """Rows per class: rounded down, then the rest by the largest remainders."""
    spare = np.maximum(counts - 1, 0)
    ideal = fraction * counts
    wanted = np.minimum(ideal.astype(np.intp), spare)
    rest = round(fraction * int(counts.sum())) - int(wanted.sum())
    candidates = np.argsort(wanted - ideal, kind="stable")
    eligible = candidates[wanted[candidates] < spare[candidates]]
    wanted[eligible[: max(rest, 0)]] += 1
    return wanted
