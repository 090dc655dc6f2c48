"""What the suite asks of learners beyond their own parameters: moved rows, weights."""

from dataclasses import replace
from typing import Any

import learner_splits
import numpy as np
import pytest
from learner_splits import made_up_split
from sklearn.tree import DecisionTreeClassifier

import baselines
from baselines.gradtree_learner import moved
from datasets.split import Split
from gradtree import GradTreeClassifier

QUICK: dict[str, dict[str, Any]] = {
    "gradtree": {"depth": 4, "epochs": 60, "patience": 30, "restarts": 0, "lr_leaf": 0.1},
    "dndt": {"epochs": 40},
    "cart": {"max_depth": 2},
}
PERTURBED = {"perturbation": 1}


def fit(slug: str, split: Split, **more: Any) -> Any:
    return learner_splits.fit(slug, split, **QUICK[slug], **more)


def test_every_value_moves_by_one_unit_of_float32():
    X = np.random.default_rng(0).normal(size=(200, 5))
    X[0] = 0.0
    seen = X.astype(np.float32)
    one = moved(X, 1, 0).astype(np.float32)
    up, down = (np.nextafter(seen, np.float32(to)) for to in (np.inf, -np.inf))
    assert ((one == up) | (one == down)).all()
    assert 0.4 < np.mean(one == up) < 0.6
    np.testing.assert_array_equal(moved(X, 1, 0), one)
    for number, trial in ((2, 0), (1, 1)):
        assert 0.4 < np.mean(moved(X, number, trial) == one) < 0.6


def test_gradtree_trains_on_moved_rows_and_says_so():
    split = made_up_split(2)
    plain, again, shaken = (fit("gradtree", split, **more) for more in ({}, {}, PERTURBED))
    assert plain.tree == again.tree
    assert shaken.shared_seconds == 0
    np.testing.assert_array_equal(plain.X_fit, split.X_train)
    np.testing.assert_array_equal(shaken.X_fit, moved(split.X_train, 1, 0))
    assert not np.array_equal(shaken.estimator.dense_.thresholds, plain.estimator.dense_.thresholds)
    assert shaken.estimator.get_params() == plain.estimator.get_params()


def weighted(split: Split) -> Split:
    return replace(split, class_weights=(1.0, 25.0))


@pytest.mark.parametrize("slug", ["gradtree", "dndt", "cart"])
def test_class_weights_reach_the_learners_that_take_them(slug):
    assert baselines.learner(slug).takes_weights
    split = made_up_split(2)
    shares = [
        np.mean(fit(slug, part).estimator.predict(split.X_train))
        for part in (split, weighted(split))
    ]
    assert shares[1] > shares[0]


def test_weights_of_cart_count_training_rows_only():
    split = weighted(made_up_split(2))
    weights = np.append(np.where(split.y_train == 1, 25.0, 1.0), np.ones(len(split.y_valid)))
    X, y = split.X_train_valid, split.y_train_valid
    expected = DecisionTreeClassifier(max_depth=2, random_state=42).fit(X, y, weights)
    found = fit("cart", split).estimator
    np.testing.assert_array_equal(found.tree_.threshold, expected.tree_.threshold)
    np.testing.assert_array_equal(found.tree_.value, expected.tree_.value)


def test_a_weight_of_two_does_in_dndt_what_a_second_copy_does():
    pytest.importorskip("tensorflow")
    from baselines.algorithms.dndt import DNDTClassifier
    from baselines.algorithms.dndt_training import initial_weights, train

    split = made_up_split(2)
    X, y = split.X_train, split.y_train
    twice = np.concatenate([np.arange(len(y)), np.flatnonzero(y == 1)])
    schedule = DNDTClassifier(0.05, 0.5, batch_size=1000, epochs=30, patience=1000)
    start = initial_weights(42, split.n_features, 2)
    valid = (split.X_valid, split.y_valid)
    by_weight = train(X, y, *valid, start, schedule, np.where(y == 1, 2.0, 1.0))
    by_copy = train(X[twice], y[twice], *valid, start, schedule)
    plain = train(X, y, *valid, start, schedule)
    np.testing.assert_allclose(by_weight.weights[0], by_copy.weights[0], rtol=1e-4)
    np.testing.assert_allclose(by_weight.weights[1], by_copy.weights[1], rtol=1e-3)
    assert abs(plain.weights[1] - by_copy.weights[1]).max() > 0.01


def test_gradtree_gets_the_weight_of_each_training_row():
    split = weighted(made_up_split(2))
    found = fit("gradtree", split).estimator
    weight = np.where(split.y_train == 1, 25.0, 1.0)
    given = {"sample_weight": weight, "X_valid": split.X_valid, "y_valid": split.y_valid}
    expected = GradTreeClassifier(**found.get_params()).fit(split.X_train, split.y_train, **given)
    assert found.tree_ == expected.tree_
