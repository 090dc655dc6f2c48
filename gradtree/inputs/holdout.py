"""Rows to stop by: a stratified part of the training rows that is not trained on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def hold_out(y: NDArray[np.int64], fraction: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """Ascending positions of validation rows: a fraction of each class, of which one row is left.

    None, if the classes have too few rows to spare any.
    """
    counts = np.bincount(y)
    spare, ideal = np.maximum(counts - 1, 0), fraction * counts
    # Rounded down, then the rest by the largest remainders.
    wanted = np.minimum(ideal.astype(np.intp), spare)
    rest = round(fraction * int(counts.sum())) - int(wanted.sum())
    candidates = np.argsort(wanted - ideal, kind="stable")
    eligible = candidates[wanted[candidates] < spare[candidates]]
    wanted[eligible[: max(rest, 0)]] += 1
    order = rng.permutation(len(y))
    drawn = [order[y[order] == label][:number] for label, number in enumerate(wanted)]
    return np.sort(np.concatenate(drawn))
