"""Scores of one set of predictions, with the paper's macro F1 first.

Written on the confusion matrix and on ranks: the runner takes all of them for
every job, and scikit-learn's checks would cost more than the sums. The tests
hold them equal to scikit-learn's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.int64]
Probabilities = NDArray[np.float64]


def confusion(truth: Labels, predicted: Labels, n_classes: int) -> NDArray[np.int64]:
    """Counts of shape (n_classes, n_classes): row true class, column predicted class."""
    counts = np.bincount(truth * n_classes + predicted, minlength=n_classes * n_classes)
    return counts.reshape(n_classes, n_classes)


def macro_f1(truth: Labels, predicted: Labels, n_classes: int) -> float:
    """Mean F1 over the classes that occur in the truth or among the predictions."""
    counts = confusion(truth, predicted, n_classes)
    hits = np.diag(counts)
    occurrences = counts.sum(axis=0) + counts.sum(axis=1)
    seen = occurrences > 0
    return float(np.mean(2 * hits[seen] / occurrences[seen]))


def accuracy(truth: Labels, predicted: Labels) -> float:
    return float(np.mean(truth == predicted))


def balanced_accuracy(truth: Labels, predicted: Labels, n_classes: int) -> float:
    """Mean recall over the classes that occur in the truth."""
    counts = confusion(truth, predicted, n_classes)
    rows = counts.sum(axis=1)
    seen = rows > 0
    return float(np.mean(np.diag(counts)[seen] / rows[seen]))


def roc_auc(truth: Labels, proba: Probabilities) -> float | None:
    """Area under the ROC curve; with many classes the mean of one against the rest.

    Classes that do not occur in the truth, or are all of it, have no curve and
    are left out; ``None`` where no class has one.
    """
    n_classes = proba.shape[1]
    against = [1] if n_classes == 2 else range(n_classes)
    areas = [_binary_auc(truth == c, proba[:, c]) for c in against]
    known = [area for area in areas if area is not None]
    return float(np.mean(known)) if known else None


def _binary_auc(positive: NDArray[np.bool_], score: NDArray[np.float64]) -> float | None:
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    if not n_positive or not n_negative:
        return None
    _, place, count = np.unique(score, return_inverse=True, return_counts=True)
    mean_rank = np.cumsum(count) - (count - 1) / 2  # equal scores share the mean of their ranks
    ranks = mean_rank[place][positive].sum()
    return float((ranks - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))


def log_loss(truth: Labels, proba: Probabilities) -> float:
    """Mean negative log-likelihood of the normalised, clipped probabilities."""
    epsilon = np.finfo(proba.dtype).eps
    share = proba / proba.sum(axis=1, keepdims=True)
    likelihood = np.clip(share[np.arange(len(truth)), truth], epsilon, 1 - epsilon)
    return float(-np.mean(np.log(likelihood)))
