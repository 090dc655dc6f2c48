"""DL8.5 and the optimal tree over thresholds."""

import importlib.util
import time
from typing import Any

import numpy as np
import pytest
from learner_splits import made_up_split, split_of
from searched_problems import hard_problem
from sklearn.utils.estimator_checks import parametrize_with_checks

import baselines

pytest.importorskip("pystreed", reason="pystreed is not installed")

from baselines.algorithms.binarise import paper_binariser
from baselines.algorithms.dl85 import DL85Classifier
from baselines.algorithms.searched import OptimalTreeClassifier, SolverTreeClassifier
from baselines.algorithms.solvers import by_streed

NEEDS_LIBRARY = pytest.mark.skipif(
    importlib.util.find_spec("pydl85") is None, reason="pydl8.5 is not installed"
)
LIBRARY = pytest.param("pydl8.5", marks=NEEDS_LIBRARY)


def errors(model: Any, X: np.ndarray, y: np.ndarray) -> int:
    return int(np.sum(model.predict(X) != y))


def fewest_errors(columns: np.ndarray, y: np.ndarray, depth: int) -> int:
    """By trying all trees."""
    best = len(y) - int(np.bincount(y).max()) if len(y) else 0
    if depth == 0 or best == 0:
        return best
    for column in columns.T:
        sides = [fewest_errors(columns[side], y[side], depth - 1) for side in (column, ~column)]
        best = min(best, sum(sides))
    return best


@pytest.mark.parametrize("n_classes", [2, 3])
def test_no_tree_of_that_depth_has_fewer_errors(n_classes):
    split = made_up_split(n_classes)
    X, y = split.X_train, split.y_train
    dl85 = DL85Classifier(max_depth=2).fit(X, y)
    columns = paper_binariser(X).transform(X)
    expected = fewest_errors(columns, y, 2)
    assert dl85.error_ == errors(dl85, X, y) == by_streed(columns, y, 2).error == expected
    assert dl85.proved_
    optimal = OptimalTreeClassifier(max_depth=2, n_thresholds=4).fit(X, y)
    assert errors(optimal, X, y) == fewest_errors(optimal.binariser_.transform(X), y, 2)


def test_bins_are_made_from_the_test_rows_too_in_protocol_paper_only():
    learner = baselines.learner("dl85")
    params = {**learner.defaults("binary"), "max_depth": 2}
    for protocol, sees_test in (("paper", True), ("clean", False)):
        split = made_up_split(2, protocol=protocol)
        rows = [split.X_train_valid] + [split.X_test] * sees_test
        expected = paper_binariser(np.concatenate(rows))
        found = learner.fit(split, params, 42).estimator
        np.testing.assert_array_equal(found.binariser_.low, expected.low)
        assert found.renumber is not sees_test


def test_a_class_without_rows_spoils_leaves_as_it_did_for_the_authors():
    X = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], 25, axis=0)
    y = X.sum(axis=1).astype(np.int64) + 1  # classes 1, 2 and 3 of 0 to 3
    classes = np.arange(4)
    assert errors(DL85Classifier().fit(X, y, classes=classes), X, y) == 0
    as_authors = DL85Classifier(renumber=False).fit(X, y, classes=classes)
    assert errors(as_authors, X, y) == 25
    assert as_authors.error_ == 0
    order = np.random.default_rng(0).permutation(100)
    learner = baselines.learner("dl85")
    for protocol, wrong in (("paper", True), ("clean", False)):
        split = split_of(X[order], y[order], 4, protocol)
        fitted = learner.fit(split, learner.defaults("multi"), 42)
        assert (errors(fitted.estimator, fitted.X_fit, fitted.y_fit) > 0) is wrong


@pytest.mark.parametrize("solver", ["compiled", LIBRARY])
def test_a_time_limit_is_kept(solver):
    columns, y = hard_problem()
    X = columns.astype(float)
    started = time.monotonic()
    limited = DL85Classifier(max_depth=4, time_limit=2.5, solver=solver).fit(X, y)
    assert time.monotonic() - started < 30
    assert not limited.proved_
    assert errors(limited, X, y) < min(np.bincount(y))


SLOW = {"solver": "pydl8.5", "time_limit": 0.5}


@pytest.mark.parametrize(
    ("wrong", "error", "told"),
    [
        pytest.param(SLOW, TimeoutError, "raise time_limit", marks=NEEDS_LIBRARY),
        *[
            ({name: value}, ValueError, f"{name} must be a whole number")
            for name, value in (("max_depth", 0), ("max_depth", 2.5), ("min_sup", 0))
        ],
        ({"solver": "cplex"}, ValueError, r"one of \['compiled', 'pydl8.5', .*\], not 'cplex'"),
    ],
)
def test_impossible_parameters_are_errors_that_name_the_remedy(wrong, error, told):
    split = made_up_split(2)
    with pytest.raises(error, match=told):
        DL85Classifier(**wrong).fit(split.X_train, split.y_train)


def test_labels_must_be_among_the_classes():
    split = made_up_split(3)
    with pytest.raises(ValueError, match=r"labels \[2\] are not among the classes \[0, 1\]"):
        OptimalTreeClassifier().fit(split.X_train, split.y_train, classes=[0, 1])


def test_without_anything_to_split_the_largest_class_is_predicted():
    X, y = np.ones((5, 2)), np.array([0, 1, 1, 1, 0])
    for model in (OptimalTreeClassifier(), DL85Classifier()):
        assert model.fit(X, y).predict(X).tolist() == [1] * 5
        assert model.size_ == 1


@parametrize_with_checks(
    [
        OptimalTreeClassifier(),
        DL85Classifier(),
        SolverTreeClassifier("dl85", max_depth=3, complexity=0.005),
        SolverTreeClassifier("streed", max_depth=2),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)
