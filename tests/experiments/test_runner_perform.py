"""One job in this process: what is measured, kept, skipped, and repeated to the last bit."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from runner_helpers import fake_job

from experiments.core import predictions
from experiments.core.checks import UserError
from experiments.core.record import RunRecord
from experiments.runner import perform, plugins
from experiments.runner.catalogue import jobs_of


@pytest.mark.usefixtures("fakes")
class TestPerform:
    def test_predictions_are_kept_so_that_metrics_need_no_rerun(self, tmp_path: Path) -> None:
        outcome = perform.perform(fake_job("good"))
        assert outcome.predictions is not None
        predictions.save(tmp_path, outcome.record, outcome.predictions)
        kept = predictions.load(tmp_path, outcome.record)
        assert kept is not None
        assert np.mean(kept["truth"] == kept["predicted"]) == outcome.record.test_accuracy
        assert kept["proba"].shape == (12, 2)
        assert predictions.load(tmp_path, RunRecord.of(fake_job("good", 1), "ok")) is None

    def test_twice_the_same(self) -> None:
        a, b = (perform.perform(fake_job("good")) for _ in range(2))
        assert a.predictions == b.predictions
        assert a.record.test_f1 == b.record.test_f1

    def test_runtime_jobs_are_warmed_up_and_calibrated(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        calls = []
        good = plugins.learner("fake-good")

        def fit(split: Any, params: Any, seed: int) -> Any:
            calls.append(len(split.X_train))
            time.sleep(0.2 if len(calls) == 1 else 0.0)  # the first call "compiles"
            return good.fit(split, params, seed)

        monkeypatch.setattr(plugins, "learner", lambda slug: replace(good, fit=fit))
        monkeypatch.setattr(perform, "_WARM", set())
        job = replace(fake_job("good", dataset="fake-three"), measured="alone")
        record = perform.perform(job).record
        assert record.status == "ok"
        assert record.wall_seconds is not None
        assert record.wall_seconds < 0.2
        assert record.extra["calibration_ms"] > 0
        assert len(calls) == 2
        perform.perform(job)
        assert len(calls) == 3

    def test_what_other_fits_did_for_this_one_is_on_record(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        good = plugins.learner("fake-good")

        def fit(split: Any, params: Any, seed: int) -> Any:
            return replace(good.fit(split, params, seed), shared_seconds=2.0)

        assert perform.perform(fake_job("good")).record.extra == {}
        monkeypatch.setattr(plugins, "learner", lambda slug: replace(good, fit=fit))
        record = perform.perform(fake_job("good")).record
        assert record.extra == {"shared_seconds": 2.0}
        assert record.cpu_seconds is not None
        assert record.cpu_seconds_alone == record.cpu_seconds + 2
        assert record.cpu_seconds < 2

    def test_an_unavailable_dataset_is_a_skip_that_says_what_to_do(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import datasets

        asked = []

        def unavailable(slug: str) -> Any:
            asked.append(slug)
            raise datasets.DatasetUnavailable("Titanic", (), "fetch it with `make data`")

        monkeypatch.setattr(datasets, "load_dataset", unavailable)
        monkeypatch.setattr(perform, "UNAVAILABLE", {})
        perform.load_dataset.cache_clear()
        perform.load_split.cache_clear()
        for job in jobs_of("tuned", "paper", ["titanic"], ["cart"], range(3)):
            record = perform.perform(job).record
            assert (record.status, record.reason) == ("skipped", "no data")
            assert "Remedy: fetch it" in record.log_tail
        assert asked == ["titanic"], "asked for once, not once per job"

    def test_peak_memory_is_that_of_the_job(self) -> None:
        small = perform.perform(fake_job("trivial")).record.peak_memory_mb
        block = np.ones(2**24)
        del block
        again = perform.perform(fake_job("trivial", 1)).record.peak_memory_mb
        assert small is not None
        assert again is not None
        assert again < small + 64


def test_nobody_sees_the_fakes_without_asking() -> None:
    assert not plugins.extras().learners
    assert not [slug for slug in plugins.method_slugs() if slug.startswith("fake")]
    with pytest.raises(KeyError):
        plugins.learner("fake-good")


def test_a_missing_plugin_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(plugins.VARIABLE, "a_plugin_nobody_has")
    with pytest.raises(UserError, match="no plug-in module 'a_plugin_nobody_has'"):
        plugins.extras()


def test_a_plugin_cannot_pose_as_the_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    import fake_learners

    impostor = replace(fake_learners.LEARNERS[0], slug="cart")
    monkeypatch.setitem(sys.modules, "impostor", SimpleNamespace(LEARNERS=[impostor]))
    monkeypatch.setenv(plugins.VARIABLE, "impostor")
    with pytest.raises(UserError, match="calls its learner 'cart', as the suite does"):
        plugins.extras()


def test_a_plugin_adds_its_learners(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(plugins.VARIABLE, raising=False)
    plugins.use(["fake_learners"])
    assert "fake-good" in plugins.method_slugs()
    assert plugins.resolve_dataset("fake-two") == "fake-two"
    monkeypatch.delenv(plugins.VARIABLE)
