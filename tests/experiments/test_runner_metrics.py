"""Scores equal scikit-learn's, and predictions that are none are refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as reference

from experiments.runner import scores


@pytest.mark.parametrize("seed", range(30))
def test_equal_to_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 7))
    rows = int(rng.integers(5, 200))
    present = rng.choice(n_classes, size=int(rng.integers(1, n_classes + 1)), replace=False)
    truth = rng.choice(present, size=rows).astype(np.int64)
    predicted = rng.integers(n_classes, size=rows)
    assert scores.macro_f1(truth, predicted, n_classes) == pytest.approx(
        reference.f1_score(truth, predicted, average="macro"), abs=1e-12
    )
    assert scores.accuracy(truth, predicted) == reference.accuracy_score(truth, predicted)
    with np.errstate(all="ignore"):
        recalls = [np.mean(predicted[truth == c] == c) for c in np.unique(truth)]
    assert scores.balanced_accuracy(truth, predicted, n_classes) == pytest.approx(np.mean(recalls))


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_curve_and_likelihood(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    truth = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=150)])
    proba = rng.dirichlet(np.ones(n_classes), size=len(truth)).round(1) + 1e-3  # many ties
    proba /= proba.sum(axis=1, keepdims=True)
    ranked = proba[:, 1] if n_classes == 2 else proba
    assert scores.roc_auc(truth, proba) == pytest.approx(
        reference.roc_auc_score(truth, ranked, multi_class="ovr"), abs=1e-12
    )
    assert scores.log_loss(truth, proba) == pytest.approx(
        reference.log_loss(truth, proba, labels=np.arange(n_classes)), abs=1e-12
    )
    if n_classes == 2:
        assert scores.brier(truth, proba) == pytest.approx(
            2 * reference.brier_score_loss(truth, proba[:, 1]), abs=1e-12
        )


def test_certain_and_wrong_is_finite() -> None:
    truth = np.array([0, 1])
    proba = np.array([[0.0, 1.0], [0.0, 1.0]])
    expected = reference.log_loss(truth, proba)
    assert scores.log_loss(truth, proba) == pytest.approx(expected)


def test_no_curve_without_two_sides() -> None:
    truth = np.zeros(5, dtype=np.int64)
    assert scores.roc_auc(truth, np.full((5, 2), 0.5)) is None
    some = scores.roc_auc(
        np.array([0, 1, 0]), np.array([[0.9, 0.1, 0], [0.2, 0.8, 0], [0.8, 0.2, 0]])
    )
    assert some == 1.0
