"""Check what a fitted learner predicts, and score it, with the paper's macro F1 first.

Metrics are written on the confusion matrix and on ranks: the runner takes all
of them for every job, and scikit-learn's checks would cost more than the sums.
The tests hold them equal to scikit-learn's.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from baselines.contract import Fitted
    from datasets.split import Split
    from gradtree.trees.tree import Tree


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


def brier(truth: Labels, proba: Probabilities) -> float:
    """Mean squared distance of the normalised probabilities from what happened, 0 to 2."""
    share = proba / proba.sum(axis=1, keepdims=True)
    share[np.arange(len(truth)), truth] -= 1
    return float(np.mean((share**2).sum(axis=1)))


class PredictionError(ValueError):
    """A learner predicted something that is no prediction."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """Scores by record field, and the test predictions they were taken from."""

    scores: dict[str, Any]
    truth: NDArray[np.int64]
    predicted: NDArray[np.int64]
    proba: NDArray[np.float64]


def measure(fitted: Fitted, split: Split) -> Measurement:
    """Every score of the record, from checked predictions."""
    n_classes = split.n_classes
    truth = split.y_test
    predicted = predict(fitted.estimator, split.X_test, n_classes)
    proba = predict_proba(fitted.estimator, split.X_test, n_classes)
    scores: dict[str, Any] = {
        "train_f1": f1_on(fitted.estimator, fitted.X_fit, fitted.y_fit, n_classes),
        "valid_f1": f1_on(fitted.estimator, split.X_valid, split.y_valid, n_classes),
        "test_f1": macro_f1(truth, predicted, n_classes),
        "test_accuracy": accuracy(truth, predicted),
        "test_balanced_accuracy": balanced_accuracy(truth, predicted, n_classes),
        "test_roc_auc": roc_auc(truth, proba),
        "test_log_loss": log_loss(truth, proba),
        "test_brier": brier(truth, proba),
        "tree_size": _count(fitted.size),
        "epochs": _count(fitted.epochs),
        **shape_of(fitted.tree, split.X_test),
    }
    return Measurement(scores, truth, predicted, proba)


def f1_on(estimator: Any, X: NDArray[np.float64], y: NDArray[np.int64], n_classes: int) -> float:
    return macro_f1(y, predict(estimator, X, n_classes), n_classes)


def predict(estimator: Any, X: NDArray[np.float64], n_classes: int) -> NDArray[np.int64]:
    """Class indices, one per row, or an error that says what came instead."""
    answer = np.asarray(estimator.predict(X))
    if answer.shape != (len(X),):
        raise PredictionError(f"predict returned shape {answer.shape} for {len(X)} rows")
    if not np.issubdtype(answer.dtype, np.number) or not np.isfinite(answer).all():
        raise PredictionError("predict returned values that are no class indices")
    labels = answer.astype(np.int64)
    if (labels != answer).any() or (labels < 0).any() or (labels >= n_classes).any():
        raise PredictionError(f"predict returned labels outside 0..{n_classes - 1}")
    return labels


def predict_proba(estimator: Any, X: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Probabilities of shape (rows, n_classes); classes unseen in training get zero."""
    answer = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    classes = np.asarray(getattr(estimator, "classes_", np.arange(n_classes)))
    if answer.shape != (len(X), len(classes)):
        raise PredictionError(
            f"predict_proba returned shape {answer.shape} for {len(X)} rows, {len(classes)} classes"
        )
    if not np.isfinite(answer).all() or (answer < 0).any() or (answer.sum(axis=1) <= 0).any():
        raise PredictionError("predict_proba returned values that are no probabilities")
    full = np.zeros((len(X), n_classes))
    full[:, classes.astype(np.int64)] = answer
    return full


def _count(value: Any) -> int | None:
    """A size or a number of epochs as a plain number, whatever kind of integer a learner has."""
    return None if value is None else operator.index(value)


def shape_of(tree: Tree | None, X: NDArray[np.float64]) -> dict[str, int | float]:
    """Depth, leaves and mean path of a canonical tree; nothing for a learner that is no tree."""
    if tree is None:
        return {}
    from gradtree.trees.traversal import node_depths

    depths = node_depths(tree.children_left, tree.children_right)
    path = float(np.mean(depths[tree.apply(X)]))
    return {"depth": tree.depth, "leaves": tree.n_leaves, "path_length": path}
