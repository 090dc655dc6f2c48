"""Gathering trees: from what the store kept, or fitted again where it kept none."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from baselines import learner
from experiments.commands import trees
from experiments.core import predictions
from experiments.core.record import RunRecord
from experiments.runner.catalogue import jobs_of
from experiments.runner.perform import packed, timed_fit
from experiments.runner.scores import measure

COLUMNS = ["sepal length", "sepal width", "petal length", "petal width"]


@pytest.fixture
def split(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Made-up flowers in place of Iris, so that no data is needed."""
    generator = np.random.default_rng(0)
    raw = pd.DataFrame(generator.uniform(0, 10, size=(120, 4)).round(1), columns=COLUMNS)
    labels = np.digitize(raw["petal width"], [3, 6])
    scaler = StandardScaler().set_output(transform="pandas").fit(raw.iloc[:80])
    matrix = scaler.transform(raw).to_numpy()
    parts = {"train": slice(0, 60), "valid": slice(60, 80), "test": slice(80, 120)}
    made = SimpleNamespace(
        **{f"X_{name}": matrix[part] for name, part in parts.items()},
        **{f"y_{name}": labels[part] for name, part in parts.items()},
        X_train_valid=matrix[:80],
        y_train_valid=labels[:80],
        weights_train=None,
        weights_train_valid=None,
        provenance=SimpleNamespace(trial=0),
        as_authors=True,
        n_features=4,
        n_classes=3,
        task="multi",
        class_names=("small", "middling", "large"),
        feature_names=tuple(COLUMNS),
        preprocessing=scaler,
        rows=SimpleNamespace(train=np.arange(60)),
    )
    monkeypatch.setattr(trees, "load_split", lambda dataset, protocol, trial: made)
    monkeypatch.setattr(trees, "load_dataset", lambda dataset: SimpleNamespace(X=raw))
    return made


def test_a_kept_tree_is_described_with_the_score_of_its_record(split: Any, tmp_path: Path) -> None:
    (job,) = jobs_of("tuned", "paper", ["iris"], ["cart"], [0])
    fitted, _, _ = timed_fit(learner("cart"), split, job)
    record = RunRecord.of(job, "ok", test_f1=0.123)
    predictions.save(tmp_path, record, packed(measure(fitted, split), fitted.tree))
    found = trees.gather("iris", {job.key: record}, tmp_path, methods=["cart"])
    (entry,) = found.trees
    assert entry["test_f1"] == 0.123
    assert {column for column, _, _ in entry["splits"].values()} == {"petal width"}
    assert found.curves == ()


def test_without_a_kept_tree_the_learner_is_fitted_again(split: Any, tmp_path: Path) -> None:
    found = trees.gather("iris", {}, tmp_path, methods=["cart"])
    (entry,) = found.trees
    assert entry["method"] == "cart"
    assert entry["test_f1"] > 0.9
    assert entry["class_names"] == ["small", "middling", "large"]


def test_a_run_that_failed_has_no_tree(split: Any, tmp_path: Path) -> None:
    (job,) = jobs_of("tuned", "paper", ["iris"], ["cart"], [0])
    failed = RunRecord.of(job, "timeout", reason="too slow")
    assert trees.gather("iris", {job.key: failed}, tmp_path, methods=["cart"]).trees == ()


def test_training_histories_come_with_the_tree(
    split: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (job,) = jobs_of("tuned", "paper", ["iris"], ["cart"], [0])
    fitted, _, _ = timed_fit(learner("cart"), split, job)
    runs = [
        SimpleNamespace(
            train_loss=np.array([1.0, 0.5]), valid_loss=np.array([1.0, 0.7]), best_epoch=1
        )
        for _ in range(2)
    ]
    trained = SimpleNamespace(
        estimator=SimpleNamespace(history_=runs, best_run_=1), tree=fitted.tree
    )
    monkeypatch.setattr(trees, "_fit", lambda job: trained)
    monkeypatch.setattr(
        trees, "_measured", lambda job, fitted: RunRecord.of(job, "ok", test_f1=0.5)
    )
    found = trees.gather("iris", {}, tmp_path, methods=["gradtree"], curves=True)
    assert [(curve.dataset, curve.run, curve.chosen) for curve in found.curves] == [
        ("Iris", 0, False),
        ("Iris", 1, True),
    ]
    assert found.curves[0].valid == [1.0, 0.7]
    assert len(found.trees) == 1
