"""The quirk of the paper's ST Gumbel-softmax: noise on the choices of the pruned tree."""

import math
from dataclasses import replace
from functools import partial

import learner_splits
import numpy as np
import pytest
from learner_splits import made_up_split

import baselines
from baselines.algorithms.noisy_prediction import NoisyPrediction
from datasets.split import Split
from gradtree import PAPER, GradTreeClassifier

QUICK = {"depth": 5, "epochs": 80, "patience": 40, "restarts": 1, "lr_leaf": 0.1}
TASKS = {"binary": 2, "multi": 3}


def trained(split: Split) -> GradTreeClassifier:
    model = GradTreeClassifier(**{**PAPER, **QUICK, "selector": "gumbel"}, random_state=3)
    model.fit(split.X_train, split.y_train, X_valid=split.X_valid, y_valid=split.y_valid)
    assert model.tree_.node_count > 5
    return model


@pytest.mark.parametrize("task", TASKS)
def test_every_512_rows_have_noise_of_their_own_and_without_it_the_tree_predicts(task, monkeypatch):
    split = made_up_split(TASKS[task], n_rows=300)
    model = trained(split)
    rows = np.random.default_rng(1).normal(size=(1200, 4))  # blocks of 512, 512 and 176 rows
    noisy = NoisyPrediction(model, split.X_train, (42, 0))
    before, noise = noisy.apply(rows), noisy.noise
    assert np.mean(before != model.tree_.apply(rows)) > 0.1
    np.testing.assert_array_equal(noisy.predict(rows), noisy.predict_proba(rows).argmax(axis=1))
    monkeypatch.setattr(noisy, "noise", lambda block: noise(block) * (block != 1))
    expected = np.append(before[:512], [*model.tree_.apply(rows[512:1024]), *before[1024:]])
    np.testing.assert_array_equal(noisy.apply(rows), expected)


def test_a_node_keeps_its_feature_as_often_as_the_noise_lets_it():
    split = made_up_split(2)
    noisy = NoisyPrediction(trained(split), split.X_train, (42, 0))
    kept = [noisy.splits(block)[0] == noisy.own_features_ for block in range(2000)]
    expected = math.e / (math.e + 3)  # of four features
    error = math.sqrt(expected * (1 - expected) / np.size(kept))
    assert abs(np.mean(kept) - expected) < 4 * error


fit = partial(learner_splits.fit, **QUICK)


def test_the_learner_predicts_so_where_it_does_as_the_authors_did():
    split = made_up_split(2)
    quirky, plain = (fit(f"gradtree-gumbel{end}", split) for end in ("", "-noise-free"))
    clean = fit("gradtree-gumbel", made_up_split(2, protocol="clean"))
    assert quirky.tree == plain.tree == clean.tree
    assert quirky.size == plain.size
    assert isinstance(quirky.estimator, NoisyPrediction)
    expected = plain.tree.predict(split.X_test)
    np.testing.assert_array_equal(plain.estimator.predict(split.X_test), expected)
    np.testing.assert_array_equal(clean.estimator.predict(split.X_test), expected)
    again = fit("gradtree-gumbel", split).estimator
    for rows in (split.X_train, split.X_test):
        np.testing.assert_array_equal(quirky.estimator.predict(rows), again.predict(rows))
    elsewhere = replace(split, provenance=replace(split.provenance, trial=1))
    other = fit("gradtree-gumbel", elsewhere)
    assert other.tree == quirky.tree
    assert (other.estimator.noise(0) != quirky.estimator.noise(0)).all()


@pytest.mark.parametrize("first", ["gradtree-gumbel", "gradtree-gumbel-noise-free"])
def test_prediction_with_and_without_noise_share_a_training(first):
    (second,) = {"gradtree-gumbel", "gradtree-gumbel-noise-free"} - {first}
    assert baselines.learner(first).family == baselines.learner(second).family is not None
    split = made_up_split(2)
    alone = fit(second, split)
    split = replace(split)  # another split as far as sharing goes
    trained, shared, again = (fit(slug, split) for slug in (first, second, second))
    assert trained.shared_seconds == alone.shared_seconds == again.shared_seconds == 0
    assert shared.shared_seconds > 0
    assert shared.tree == alone.tree == again.tree
    for rows in (split.X_train, split.X_test):
        expected = alone.estimator.predict_proba(rows)
        np.testing.assert_array_equal(shared.estimator.predict_proba(rows), expected)
