"""Which run and epoch is kept, where thresholds start and lie, and that threads change nothing."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest
from engine_runs import random_tree, rows_of
from sklearn.metrics import f1_score
from small_problems import boxes, quick, revised

from gradtree.engines.scores import macro_f1
from gradtree.inputs.arrays import class_weights
from gradtree.training.beginning import at_quantiles, sorted_columns
from gradtree.training.choosing import judged
from gradtree.training.rounding import Grid

RNG = np.random.default_rng(5)


def test_macro_f1_is_that_of_scikit_learn():
    for n_classes in (2, 3, 6):
        y, guess = RNG.integers(0, n_classes, (2, 50))
        guess[guess == 1] = 0
        weight = RNG.uniform(0.1, 2, 50)
        expected = f1_score(y, guess, average="macro", sample_weight=weight)
        assert macro_f1(y, guess, weight) == pytest.approx(expected, rel=1e-12)
        expected = f1_score(y, guess, average="macro")
        assert macro_f1(y, guess) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_tree_is_judged_by_other_rows_than_the_one_predicted(n_classes):
    X, y = RNG.normal(size=(60, 3)), RNG.integers(0, n_classes, 60)
    tree = random_tree(RNG, 3, 3, n_classes, "float64")
    train, valid = rows_of(X[:40], y[:40], "float64"), rows_of(X[40:], y[40:], "float64")
    leaf = tree.leaf_of(X)
    prior = np.bincount(y, minlength=n_classes) / 60

    def vote(voters, at):
        return int(
            (np.bincount(y[voters][leaf[voters] == at], minlength=n_classes) + prior).argmax()
        )

    everyone = np.arange(60)
    left_out = [vote(np.delete(everyone, row), leaf[row]) for row in everyone]
    held_out = [vote(everyone[:40], leaf[row]) for row in everyone[40:]]
    expected = f1_score(y, left_out, average="macro") + f1_score(y[40:], held_out, average="macro")
    assert judged(tree, train, valid, 1.0, "f1")[0] == pytest.approx(expected)


def test_the_f1_of_an_epoch_is_that_of_its_tree():
    X, y = boxes(200, n_classes=3)
    model = revised(restarts=0, epochs=5, patience=5).fit(X[:150], y[:150], None, X[150:], y[150:])
    assert model.history_[0].valid_f1.shape == (5,)
    assert 0 <= model.history_[0].valid_f1.min() <= model.history_[0].valid_f1.max() <= 1
    by_loss = quick(epochs=5).fit(X, y)
    assert np.isnan(by_loss.history_[0].valid_f1).all()


def test_both_engines_choose_alike():
    pytest.importorskip("tensorflow")
    X, y = boxes(90, n_classes=3)
    fast, plain = (
        revised(epochs=4, depth=3, restarts=1, engine=engine, ccp_alpha=0.0).fit(X, y)
        for engine in ("compiled", "tensorflow")
    )
    for ours, theirs in zip(fast.history_, plain.history_, strict=True):
        np.testing.assert_allclose(ours.valid_f1, theirs.valid_f1, atol=1e-6)
    assert fast.best_run_ == plain.best_run_
    np.testing.assert_array_equal(fast.predict(X), plain.predict(X))


def test_a_budget_of_row_visits_ends_a_run():
    X, y = boxes(100)
    model = revised(max_row_visits=900, epochs=50, restarts=0, validation_fraction=0.1).fit(X, y)
    assert model.n_epochs_ == 10


def test_threads_change_nothing():
    X, y = boxes(300, n_classes=3)
    for build in (quick, revised):
        one, two = (build(restarts=3, epochs=40, n_jobs=n).fit(X, y) for n in (1, 2))
        assert one.tree_ == two.tree_
        assert one.best_run_ == two.best_run_
        assert [run.seed for run in one.history_] == [run.seed for run in two.history_]


@pytest.mark.slow
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two processors")
def test_two_threads_are_nearly_twice_as_fast():
    X, y = boxes(4000, n_features=20)
    seconds = {}
    for n_jobs in (1, 1, 2):
        began = time.perf_counter()
        revised(restarts=15, epochs=150, patience=150, depth=7, n_jobs=n_jobs).fit(X, y)
        seconds[n_jobs] = time.perf_counter() - began
    assert seconds[1] / seconds[2] > 1.7


def test_an_error_in_one_run_ends_all():
    X, y = boxes(200)

    def broken(p, label, gradient):
        gradient[label] = np.nan
        return np.nan

    with pytest.raises(FloatingPointError, match=r"epoch 1.*loss of your own"):
        quick(loss=broken, restarts=5, epochs=10_000, patience=10_000, n_jobs=2).fit(X, y)


def test_first_thresholds_lie_between_values():
    X = np.repeat(RNG.normal(size=(20, 3)), 2, axis=0)
    start = random_tree(RNG, 4, 3, 2, "float64")
    tree = at_quantiles(start, sorted_columns(X, np.arange(40)), seed=1)
    assert (tree.thresholds >= X.min(axis=0)).all()
    assert (tree.thresholds <= X.max(axis=0)).all()
    assert (tree.logits == start.logits).all()
    again = at_quantiles(start, sorted_columns(X, np.arange(40)), seed=2)
    assert (again.thresholds != tree.thresholds).any()


def test_thresholds_between_validation_values_split_as_in_training():
    X, few = RNG.normal(size=(500, 3)), RNG.normal(size=(12, 3))
    grid, tree = Grid(few), random_tree(RNG, 4, 3, 3, "float64")
    rounded = grid.rounded(X)
    assert set(rounded[:, 0]) <= set(few[:, 0])
    nearest = few[np.abs(X[:, :1] - few[:, 0]).argmin(axis=1), 0]
    np.testing.assert_array_equal(rounded[:, 0], nearest)
    np.testing.assert_array_equal(grid.between(tree).leaf_of(X), tree.leaf_of(rounded))


def test_powers_of_class_weights():
    y, classes = np.repeat([0, 1, 2], [10, 40, 50]), np.arange(3)
    balanced = class_weights("balanced", y, classes)
    np.testing.assert_allclose(class_weights(1.0, y, classes), balanced)
    np.testing.assert_allclose(class_weights("sqrt-balanced", y, classes), balanced**0.5)
    np.testing.assert_allclose(class_weights(0.0, y, classes), 1.0)
    for wrong in (-1.0, np.nan, np.inf, {0: -1.0, 1: 1.0, 2: 1.0}, {0: np.nan, 1: 1.0, 2: 1.0}):
        with pytest.raises(ValueError, match="class_weight"):
            class_weights(wrong, y, classes)
