"""Check and score what a fitted learner predicts."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from experiments.running import metrics

if TYPE_CHECKING:
    from baselines.contract import Fitted
    from datasets.split import Split
    from gradtree.trees.tree import Tree


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
        "test_f1": metrics.macro_f1(truth, predicted, n_classes),
        "test_accuracy": metrics.accuracy(truth, predicted),
        "test_balanced_accuracy": metrics.balanced_accuracy(truth, predicted, n_classes),
        "test_roc_auc": metrics.roc_auc(truth, proba),
        "test_log_loss": metrics.log_loss(truth, proba),
        "tree_size": _count(fitted.size),
        "epochs": _count(fitted.epochs),
        **shape_of(fitted.tree),
    }
    return Measurement(scores, truth, predicted, proba)


def f1_on(estimator: Any, X: NDArray[np.float64], y: NDArray[np.int64], n_classes: int) -> float:
    return metrics.macro_f1(y, predict(estimator, X, n_classes), n_classes)


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


def shape_of(tree: Tree | None) -> dict[str, int]:
    """Depth and leaves of a canonical tree; nothing for a learner that is no tree."""
    if tree is None:
        return {}
    return {"depth": tree.depth, "leaves": tree.n_leaves}
