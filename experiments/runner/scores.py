"""Check what a fitted learner predicts, and score it: classes by the paper's macro F1 first,
numbers by R².

Metrics are written on the confusion matrix and on ranks: the runner takes all of them for every
job, and scikit-learn's checks would cost more than the sums. Tests hold them equal to its own.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.contract import QUANTILES, Fitted
from datasets.split import Split
from experiments.runs.archive import NO_PROBABILITIES, Prediction
from gradtree.engines.scores import macro_f1
from gradtree.trees.traversal import node_depths
from gradtree.trees.tree import Tree

Labels = NDArray[np.int64]
Probabilities = NDArray[np.float64]
Numbers = NDArray[np.float64]


class PredictionError(ValueError):
    """A learner predicted something that is no prediction."""


def roc_auc(truth: Labels, proba: Probabilities) -> float | None:
    """Area under the ROC curve; with many classes the mean of one against the rest.

    Classes that do not occur in the truth, or are all of it, have no curve and are left out;
    ``None`` where no class has one.
    """
    areas = []
    for c in [1] if proba.shape[1] == 2 else range(proba.shape[1]):
        positive = truth == c
        many = int(positive.sum())
        others = len(truth) - many
        if many and others:
            _, place, count = np.unique(proba[:, c], return_inverse=True, return_counts=True)
            mean_rank = np.cumsum(count) - (count - 1) / 2  # shared by equal scores
            ranks = mean_rank[place][positive].sum()
            areas.append(float((ranks - many * (many + 1) / 2) / (many * others)))
    return float(np.mean(areas)) if areas else None


def scores_of(
    truth: Labels, predicted: Labels, proba: Probabilities | None, n_classes: int
) -> dict[str, float | None]:
    """Every score of the test rows, from predictions alone.

    Balanced accuracy is the mean recall of the classes that occur; log loss and Brier score (0
    to 2) are of normalised probabilities.
    """
    rows = np.bincount(truth, minlength=n_classes)
    hits = np.bincount(truth[truth == predicted], minlength=n_classes)
    scores: dict[str, float | None] = {
        "test_f1": macro_f1(truth, predicted),
        "test_accuracy": float(np.mean(truth == predicted)),
        "test_balanced_accuracy": float(np.mean(hits[rows > 0] / rows[rows > 0])),
    }
    if proba is not None:
        share, at = proba / proba.sum(axis=1, keepdims=True), (np.arange(len(truth)), truth)
        epsilon = np.finfo(proba.dtype).eps
        scores["test_roc_auc"] = roc_auc(truth, proba)
        scores["test_log_loss"] = float(-np.mean(np.log(np.clip(share[at], epsilon, 1 - epsilon))))
        share[at] -= 1
        scores["test_brier"] = float(np.mean((share**2).sum(axis=1)))
    return scores


def number_scores(
    truth: Numbers, predicted: Numbers, quantiles: Numbers | None
) -> dict[str, float]:
    """Every score of test rows with numbers: R², mean absolute error and, of quantiles, pinball
    losses. Where all rows have the same number, R² is 1 or 0, as scikit-learn has it.
    """
    off, spread = truth - predicted, float(np.mean((truth - truth.mean()) ** 2))
    error = float(np.mean(off**2))
    scores = {
        "test_r2": 1 - error / spread if spread > 0 else float(error == 0),
        "test_mae": float(np.mean(np.abs(off))),
    }
    if quantiles is not None:
        for share, told in zip(QUANTILES, quantiles.T, strict=True):
            losses = np.maximum(share * (truth - told), (share - 1) * (truth - told))
            scores[f"test_pinball_{100 * share:.0f}"] = float(np.mean(losses))
    return scores


def measure(fitted: Fitted, split: Split) -> tuple[dict[str, Any], Prediction, dict[str, Any]]:
    """Every score of a run by column, checked predictions, and remarks for ``extra``."""
    kept, remarks, scores = (_numbers if split.task == "regression" else _classes)(fitted, split)
    scores["tree_size"] = None if fitted.size is None else operator.index(fitted.size)
    scores["epochs"] = None if fitted.epochs is None else operator.index(fitted.epochs)
    if fitted.tree is not None:
        scores |= shape_of(fitted.tree, split.X_test)
    return scores, kept, remarks


Measured = tuple[Prediction, dict[str, Any], dict[str, Any]]
"""Predictions, remarks and scores."""


def _classes(fitted: Fitted, split: Split) -> Measured:
    n_classes, estimator = split.n_classes, fitted.estimator
    predicted = predict(estimator, split.X_test, n_classes)
    proba, remarks = None, dict[str, Any]()
    if callable(getattr(estimator, "predict_proba", None)):
        proba = predict_proba(estimator, split.X_test, n_classes)
    else:
        remarks[NO_PROBABILITIES] = f"{type(estimator).__name__:.80} has no predict_proba"
    scores = {
        "train_f1": f1_on(estimator, fitted.X_fit, fitted.y_fit, n_classes),
        "valid_f1": f1_on(estimator, split.X_valid, split.y_valid, n_classes),
        **scores_of(split.y_test, predicted, proba, n_classes),
    }
    return Prediction(split.y_test, predicted, proba), remarks, scores


def _numbers(fitted: Fitted, split: Split) -> Measured:
    predicted, quantiles = predict_numbers(fitted.estimator.predict, split.X_test, ()), None
    if callable(asked := getattr(fitted.estimator, "predict_quantiles", None)):
        quantiles = predict_numbers(asked, split.X_test, (len(QUANTILES),))
    train = predict_numbers(fitted.estimator.predict, fitted.X_fit, ())
    scores: dict[str, Any] = {**number_scores(split.y_test, predicted, quantiles)}
    scores["train_r2"] = number_scores(fitted.y_fit, train, None)["test_r2"]
    return Prediction(split.y_test, predicted, quantiles), {}, scores


def f1_on(estimator: Any, X: NDArray[np.float64], y: Labels, n_classes: int) -> float:
    return macro_f1(y, predict(estimator, X, n_classes))


def predict(estimator: Any, X: NDArray[np.float64], n_classes: int) -> Labels:
    """Class indices, one per row, or an error that says what came instead."""
    labels = _class_indices(predict_numbers(estimator.predict, X, ()), n_classes)
    if labels is None:
        raise PredictionError(f"predict returned values that are no classes 0..{n_classes - 1}")
    return labels


def predict_numbers(
    asked: Callable[[Numbers], Any], X: NDArray[np.float64], columns: tuple[int, ...]
) -> Numbers:
    """Finite numbers of shape (rows, *columns), or an error that says what came instead."""
    answer, name = np.asarray(asked(X)), getattr(asked, "__name__", "predict")
    if answer.shape != (len(X), *columns):
        raise PredictionError(f"{name} returned shape {answer.shape} for {len(X)} rows")
    if not np.issubdtype(answer.dtype, np.number) or not np.isfinite(answer).all():
        raise PredictionError(f"{name} returned values that are no finite numbers")
    return answer.astype(np.float64)


def predict_proba(estimator: Any, X: NDArray[np.float64], n_classes: int) -> Probabilities:
    """Probabilities of shape (rows, n_classes); classes unseen in training get zero."""
    given = np.asarray(getattr(estimator, "classes_", np.arange(n_classes)))
    classes = _class_indices(given, n_classes)
    if classes is None or given.ndim != 1 or len(np.unique(classes)) < len(classes):
        raise PredictionError(f"classes_ are not distinct classes 0..{n_classes - 1}")
    answer = predict_numbers(estimator.predict_proba, X, (len(classes),))
    with np.errstate(over="ignore"):
        sums = answer.sum(axis=1)
    if not np.isfinite(sums).all() or (answer < 0).any() or (sums <= 0).any():
        raise PredictionError("predict_proba returned values that are no probabilities")
    full = np.zeros((len(X), n_classes))
    full[:, classes] = answer
    return full


def _class_indices(values: NDArray[Any], n_classes: int) -> Labels | None:
    """The values as class indices, or ``None`` where one of them is none."""
    if not np.issubdtype(values.dtype, np.number) or not np.isin(values, range(n_classes)).all():
        return None
    return values.astype(np.int64)


def shape_of(tree: Tree, X: NDArray[np.float64]) -> dict[str, int | float]:
    """Depth, leaves and mean path of a canonical tree."""
    depths = node_depths(tree.children_left, tree.children_right)
    path = float(np.mean(depths[tree.apply(X)]))
    return {"depth": tree.depth, "leaves": tree.n_leaves, "path_length": path}
