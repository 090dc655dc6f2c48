"""What can be done about a training part in which a class is rare."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from datasets.split import Rebalancing

SMOTE_NEIGHBOURS = 5


def has_rare_class(y: NDArray[np.int64]) -> bool:
    """Whether the smallest of the c classes present has a share of at most 0.25/(c-1)."""
    counts = _counts(y)
    return bool(counts.min() / len(y) <= 0.25 / max(len(counts) - 1, 1))


def oversample(
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    smote_stream: np.random.RandomState | None,
    seed: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64], Rebalancing]:
    """Bring every class up to the largest one.

    New rows are interpolated by SMOTE, which draws from ``smote_stream``. Without a stream,
    or where a class has too few rows to have SMOTE's neighbours, rows are repeated at random.
    """
    # Most datasets need no rebalancing, and this import takes longer than their preparation.
    from imblearn.over_sampling import SMOTE, RandomOverSampler

    if smote_stream is not None and _counts(y).min() > SMOTE_NEIGHBOURS:
        sampler = SMOTE(k_neighbors=SMOTE_NEIGHBOURS, random_state=smote_stream)
        return *sampler.fit_resample(X, y), "smote"
    return *RandomOverSampler(random_state=seed).fit_resample(X, y), "random-oversampling"


def balancing_weights(y: NDArray[np.int64], n_classes: int) -> tuple[float, ...]:
    """One weight per class that does in expectation what oversampling does.

    Rows of the largest class weigh 1, and every class present weighs as much as it in sum.
    """
    counts = np.bincount(y, minlength=n_classes)
    return tuple(float(counts.max() / count) if count else 1.0 for count in counts)


def _counts(y: NDArray[np.int64]) -> NDArray[np.int64]:
    counts = np.bincount(y)
    return counts[counts > 0]
