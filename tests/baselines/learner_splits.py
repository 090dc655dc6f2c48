"""Small made-up splits for the tests of learners."""

from typing import Any

import numpy as np
import pytest

import baselines
from baselines import Fitted
from datasets.split import Provenance, Split


def fit(slug: str, split: Split, **params: Any) -> Fitted:
    """A learner with its own defaults but for ``params``, if its libraries are installed."""
    learner = baselines.learner(slug)
    if learner.missing():
        pytest.skip(str(learner.absence()))
    return learner.fit(split, {**learner.defaults(split.task), **params}, 42)


def made_up_split(
    n_classes: int,
    *,
    n_features: int = 4,
    n_rows: int = 150,
    protocol: str = "paper",
    seed: int = 0,
) -> Split:
    """Three features that matter in a noisy tree-like way, and others that do not."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, n_features))
    X[:, -1] = random.integers(0, 3, n_rows)
    score = (X[:, 0] > 0.3) * 2 + (X[:, 1] > -0.2) + 0.6 * random.normal(size=n_rows)
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    return split_of(X, y.astype(np.int64), n_classes, protocol)


def made_up_numbers(n_rows: int = 150, seed: int = 0) -> Split:
    """A number that two of four features tell in a tree-like way, with noise."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 4))
    y = 5.0 * (X[:, 0] > 0.3) + 2.0 * (X[:, 1] > -0.2) + 0.5 * random.normal(size=n_rows)
    return split_of(X, y, 0, "clean")


def split_of(X: np.ndarray, y: np.ndarray, n_classes: int, protocol: str) -> Split:
    """The first 60 % of the rows, the next 20 %, the rest."""
    first, second = int(0.6 * len(X)), int(0.8 * len(X))
    return Split(
        X_train=X[:first],
        y_train=y[:first],
        X_valid=X[first:second],
        y_valid=y[first:second],
        X_test=X[second:],
        y_test=y[second:],
        feature_names=tuple(f"x{i}" for i in range(X.shape[1])),
        class_names=tuple(f"c{i}" for i in range(n_classes)),
        provenance=Provenance("made-up", "", protocol, "1", 0, 42, "test", "none", first),
        bins_from_test=protocol == "paper",
        as_authors=protocol == "paper",
    )
