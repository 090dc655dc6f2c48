"""The quirk of the paper's ST Gumbel-softmax: noise on the choices of the pruned tree."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

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


class Slow:
    """Pruning and prediction as the protocol tells them, one row and one node at a time."""

    def __init__(self, model: GradTreeClassifier, X: np.ndarray) -> None:
        self.dense = model.dense_
        self.n_inner = len(self.dense.logits)
        self.numbers: list[int] = []
        self.root = self.pruned(0, list(X))
        self.number(self.root)

    def pruned(self, place: int, rows: list[np.ndarray]) -> Any:
        """A leaf's scores, or a node as (place in the heap, left, right)."""
        if place >= self.n_inner:
            return self.dense.leaves[place - self.n_inner]
        feature = int(np.argmax(self.dense.logits[place]))
        threshold = self.dense.thresholds[place, feature]
        left = [row for row in rows if row[feature] <= threshold]
        right = [row for row in rows if row[feature] > threshold]
        branches = [self.pruned(2 * place + 1, left), self.pruned(2 * place + 2, right)]
        if left and right:
            return (place, *branches)
        return branches[0] if left else branches[1]

    def number(self, node: Any) -> None:
        if isinstance(node, tuple):
            self.numbers.append(node[0])
            self.number(node[1])
            self.number(node[2])

    def predict(self, X: np.ndarray, noise: Any) -> list[int]:
        return [self.class_of(row, noise(i // 512)) for i, row in enumerate(X)]

    def class_of(self, row: np.ndarray, noise: np.ndarray) -> int:
        node = self.root
        while isinstance(node, tuple):
            place, left, right = node
            own = int(np.argmax(self.dense.logits[place]))
            best, most = 0, -math.inf
            for feature, extra in enumerate(noise[self.numbers.index(place)]):
                if (feature == own) + extra > most:
                    best, most = feature, (feature == own) + extra
            below = np.float32(row[best]) < self.dense.thresholds[place, best]
            node = left if below else right
        if self.dense.leaves.ndim == 1:
            return int(1 / (1 + math.exp(-float(node))) > 0.5)
        return int(np.argmax(node))


@pytest.mark.parametrize("task", TASKS)
def test_it_predicts_what_a_slow_plain_version_predicts(task: str) -> None:
    split = made_up_split(TASKS[task], n_rows=300)
    model = trained(split)
    rows = np.random.default_rng(1).normal(size=(1200, 4))  # blocks of 512, 512 and 176 rows
    noisy = NoisyPrediction(model, split.X_train, (42, 0))
    slow = Slow(model, split.X_train)
    predicted = noisy.predict(rows)
    assert predicted.tolist() == slow.predict(rows, noisy.noise)
    assert np.mean(predicted != model.predict(rows)) > 0.1
    np.testing.assert_array_equal(noisy.predict_proba(rows).argmax(axis=1), predicted)


def test_without_noise_the_tree_itself_predicts(monkeypatch: pytest.MonkeyPatch) -> None:
    split = made_up_split(3)
    model = trained(split)
    noisy = NoisyPrediction(model, split.X_train, (42, 0))
    monkeypatch.setattr(noisy, "noise", lambda block: np.zeros(noisy.thresholds_.shape))
    for rows in (split.X_train, split.X_test):
        np.testing.assert_array_equal(noisy.apply(rows), model.tree_.apply(rows))


def test_a_node_keeps_its_feature_as_often_as_the_noise_lets_it() -> None:
    split = made_up_split(2)
    noisy = NoisyPrediction(trained(split), split.X_train, (42, 0))
    kept = [noisy.splits(block)[0] == noisy.own_features_ for block in range(2000)]
    expected = math.e / (math.e + 3)  # of four features
    error = math.sqrt(expected * (1 - expected) / np.size(kept))
    assert abs(np.mean(kept) - expected) < 4 * error


def test_noise_depends_on_its_entropy_and_block_alone() -> None:
    split = made_up_split(2)
    model = trained(split)
    one, again = (NoisyPrediction(model, split.X_train, (42, 0)) for _ in range(2))
    other = NoisyPrediction(model, split.X_train, (42, 1))
    np.testing.assert_array_equal(one.noise(3), again.noise(3))
    assert (one.noise(3) != one.noise(4)).all()
    assert (one.noise(3) != other.noise(3)).all()


def fit(slug: str, split: Split) -> Any:
    learner = baselines.learner(slug)
    return learner.fit(split, {**learner.defaults(split.task), **QUICK}, 42)


def test_the_learner_predicts_so_where_it_does_as_the_authors_did() -> None:
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
def test_prediction_with_and_without_noise_share_a_training(first: str) -> None:
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
