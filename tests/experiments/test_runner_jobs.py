"""One job in this process: what is measured, kept, skipped, and repeated to the last bit."""

import os
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from runner_helpers import fake_job, job_of
from sklearn import metrics

import datasets
from experiments.runner import machine, registry, run_job, scores
from experiments.runs import archive
from experiments.runs.archive import Prediction
from experiments.runs.schema import check
from experiments.runs.store import Store
from gradtree.trees.tree import Tree


@given(st.integers(2, 6), st.integers(1, 40), st.integers(0, 10**6))
def test_scores_are_those_of_scikit_learn(n_classes, rows, seed):
    draws = np.random.default_rng(seed)
    truth, predicted = draws.integers(0, n_classes, (2, rows))
    proba = np.round(draws.dirichlet(np.ones(n_classes), rows), 1) + 0.01
    share = proba / proba.sum(axis=1, keepdims=True)
    ours = scores.scores_of(truth, predicted, proba, n_classes)
    labels = range(n_classes)
    theirs = {
        "test_f1": metrics.f1_score(truth, predicted, average="macro"),
        "test_accuracy": metrics.accuracy_score(truth, predicted),
        "test_balanced_accuracy": metrics.recall_score(
            truth, predicted, labels=np.unique(truth), average="macro"
        ),
        "test_log_loss": metrics.log_loss(truth, share, labels=labels),
        "test_brier": np.mean(((share - np.eye(n_classes)[truth]) ** 2).sum(axis=1)),
    }
    present = [c for c in ([1] if n_classes == 2 else labels) if 0 < (truth == c).sum() < rows]
    areas = [metrics.roc_auc_score(truth == c, proba[:, c]) for c in present]
    theirs["test_roc_auc"] = np.mean(areas) if areas else None
    for name, value in theirs.items():
        assert ours[name] == (None if value is None else pytest.approx(value, abs=1e-12)), name


@given(st.integers(2, 5), st.integers(1, 30), st.booleans(), st.booleans(), st.integers(0, 10**6))
def test_predictions_are_kept_to_the_bit(n_classes, rows, of_numbers, with_more, seed):
    """Classes with probabilities, or numbers with quantiles."""
    draws = np.random.default_rng(seed)
    truth, predicted = draws.integers(0, n_classes, (2, rows))
    if of_numbers:
        truth, predicted = draws.normal(size=rows), draws.normal(size=n_classes)[predicted]
    more = draws.dirichlet(np.ones(n_classes), 3)[draws.integers(0, 3, rows)]
    kept = Prediction(truth, predicted, more if with_more else None)
    packed = archive.pack(kept)
    assert packed == archive.pack(kept)
    found = archive.unpack(packed)
    assert found.of_numbers == of_numbers
    assert (found.truth == truth).all()
    assert (found.predicted == predicted).all()
    assert found.proba is None if not with_more else (found.proba == more).all()
    for cut in (b"", packed[: len(packed) // 2], b"x" + packed[1:]):
        assert archive.unpack(cut) is None


def test_a_learner_may_give_every_row_an_answer_of_its_own():
    share = np.linspace(0.1, 0.9, 70_000)
    truth = np.zeros(70_000, dtype=np.int64)
    kept = Prediction(truth, truth, np.column_stack([share, 1 - share]))
    found = archive.unpack(archive.pack(kept))
    assert (found.proba[:, 0] == share).all()


def test_an_archive_of_predictions_is_small_and_always_the_same(tmp_path):
    draws = np.random.default_rng(0)
    truth = draws.integers(0, 3, 50)
    leaves = draws.dirichlet(np.ones(3), 5)[draws.integers(0, 5, 50)]
    place = ("paper", "iris", 0)
    kept = [
        (place, f"{n:020x}", Prediction(truth, np.full(50, n), leaves if n else None))
        for n in range(3)
    ]
    first = archive.write_predictions(tmp_path / "a", kept).read_bytes()
    assert archive.write_predictions(tmp_path / "b", kept[::-1]).read_bytes() == first
    for _, key, prediction in kept:
        found = archive.prediction_of(tmp_path / "a", key)
        assert (found.truth == truth).all()
        assert (found.predicted == prediction.predicted).all()
    without, both = (archive.prediction_of(tmp_path / "a", key) for _, key, _ in kept[:2])
    assert without.proba is None
    assert (both.proba == leaves).all()
    other = [*kept, (place, "f" * 20, Prediction(truth[::-1], truth))]
    with pytest.raises(ValueError, match="two runs were scored on different test rows"):
        archive.write_predictions(tmp_path / "c", other)


@pytest.mark.usefixtures("fakes")
class TestRunJob:
    @pytest.mark.parametrize("method", ["cart", "gradtree-estimator"])  # whose tree has columns
    def test_scores_can_be_had_from_what_is_kept(self, method, tmp_path):
        depth = {"max_depth": 3} if method == "cart" else {"depth": 2, "epochs": 5, "restarts": 0}
        outcome = run_job.run_job(job_of(method, "fake-three", **depth))
        store = Store(tmp_path)
        store.add([outcome.run], {outcome.run["key"]: outcome.predictions or b""})
        found = archive.prediction_of(store, outcome.run["key"])
        again = scores.scores_of(found.truth, found.predicted, found.proba, 3)
        assert again == {name: outcome.run[name] for name in again}
        parts = archive.tree_parts(outcome.predictions or b"")
        assert Tree(**parts).n_leaves == outcome.run["leaves"]
        path = archive.write_predictions(tmp_path, archive.kept_predictions(store, store.frame()))
        kept = archive.prediction_of(path.parent, outcome.run["key"])
        assert (kept.proba == found.proba).all()

    def test_where_seconds_are_the_result_learners_are_warm(self, monkeypatch):
        calls = []
        good = registry.learner("fake-good")

        def fit(split: Any, params: Any, seed: int) -> Any:
            calls.append(len(split.X_train))
            time.sleep(0.3 if len(calls) == 1 else 0.0)  # the first call "compiles"
            return replace(good.fit(split, params, seed), shared_seconds=2.0)

        monkeypatch.setattr(registry, "learner", lambda slug: replace(good, fit=fit))
        monkeypatch.setattr(run_job, "_warm", set())
        job = replace(fake_job("good", dataset="fake-three"), measured="alone")
        run = run_job.run_job(job).run
        assert run["wall_seconds"] < 0.3
        assert run["shared_seconds"] == 2.0
        run_job.run_job(job)
        assert len(calls) == 3

    def test_an_unavailable_dataset_is_a_skip_that_says_what_to_do(self, monkeypatch):
        asked = []

        def unavailable(*what: Any) -> Any:
            asked.append(what)
            raise datasets.DatasetUnavailable("Titanic", (), "fetch it with `make data`")

        monkeypatch.setattr(registry, "make_split", unavailable)
        monkeypatch.setattr(run_job, "_unavailable", {})
        run_job.load_split.cache_clear()
        for trial in range(3):
            run = check(run_job.run_job(job_of("cart", "titanic", trial)).run)
            assert (run["status"], run["reason"]) == ("skipped", "no data")
            assert "Remedy: fetch it" in run["log_tail"]
        assert len(asked) == 1, "asked for once, not once per job"

    def test_peak_memory_is_that_of_the_job(self):
        small = run_job.run_job(fake_job("trivial")).run["peak_memory_mb"]
        block = np.ones(2**24)
        del block
        assert run_job.run_job(fake_job("trivial", 1)).run["peak_memory_mb"] < small + 64

    def test_learners_see_no_test_labels_and_one_object_per_split(self):
        split = run_job.load_split("fake-two", "paper", 0)
        seen = run_job.for_learners(split)
        assert run_job.for_learners(run_job.load_split("fake-two", "paper", 0)) is seen
        assert not {"y_test", "rows", "preprocessing"} & set(vars(seen))
        assert (seen.X_train_valid == split.X_train_valid).all()
        columns = run_job._frozen(np.asfortranarray(split.X_train))
        assert columns.flags.f_contiguous
        assert (columns == split.X_train).all()


MESSAGES = {
    "a lone surrogate": "half a pair: \ud800",
    "control characters": "\x1b[2J\x1b[31mred\x07\r\x00\x9b",
    "five megabytes": "x" * 5_000_000,
    "text turned around": "abc\u202edef\u2028ghi",
    "only line ends": "\n\n\n",
    "nothing": "",
}


class SilentError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("cannot speak")


@pytest.mark.usefixtures("fakes")
@pytest.mark.parametrize("kind", [*MESSAGES, "cannot be made"])
def test_any_message_is_made_fit_for_store_and_terminal(kind):
    problem = SilentError() if kind == "cannot be made" else ValueError(MESSAGES[kind])
    run = check(run_job.failure(fake_job("raises"), problem))
    assert run["reason"].isprintable()
    assert "\x1b" not in run["traceback"]
    (run["reason"] + run["traceback"]).encode()


def test_the_machine_is_what_this_process_may_use(tmp_path):
    names = ("pyarrow", "scikit-learn", "pystreed")
    assert set(names) <= set(machine.versions())
    assert {"pycontree", "pytrees-rs", "licketysplit"} <= set(machine.PACKAGES)
    assert machine.cores() <= len(os.sched_getaffinity(0))
    files = {
        "proc/self/cgroup": "3:cpu,memory:/slurm/job\n0::/slurm/job\n",
        "sys/fs/cgroup/slurm/job/memory.max": "max",
        "sys/fs/cgroup/slurm/memory.max": "1073741824",
        "sys/fs/cgroup/memory/slurm/job/memory.limit_in_bytes": "2147483648",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert set(machine.limits_of_container(tmp_path)) == {2**30, 2**31}
    assert list(machine.limits_of_container(tmp_path / "another system")) == []
