"""What the tests of the runner share: jobs of the fake benchmark, and where processes are."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import psutil

from experiments import plugins
from experiments.executors.contract import Executor
from experiments.jobs import Job
from experiments.perform import Outcome
from experiments.record import VOLATILE, RunRecord

TOKEN = "RUNNER_TEST_TOKEN"


def fake_job(method: str, trial: int = 0, dataset: str = "fake-two", **params: Any) -> Job:
    slug = f"fake-{method}"
    return Job(
        protocol="paper",
        experiment="default",
        dataset=dataset,
        method=slug,
        params_json=Job.freeze(params),
        trial=trial,
        seed=42,
        content_hash=plugins.facts(dataset).content_hash,
        protocol_version=plugins.protocol_version("paper"),
        method_version=plugins.learner(slug).version,
    )


def run_all(executor: Executor, jobs: Iterable[Job]) -> dict[str, Outcome]:
    """Push jobs through an executor as fast as it takes them; outcomes by key."""
    waiting = list(jobs)
    outcomes: dict[str, Outcome] = {}
    while waiting or executor.running():
        while waiting and executor.free():
            executor.start(waiting.pop(0))
        for outcome in executor.wait(0.5):
            assert outcome.record.key not in outcomes, "a job ended twice"
            outcomes[outcome.record.key] = outcome
    return outcomes


def steady(record: RunRecord) -> RunRecord:
    """A record without what may differ between two runs of the same job."""
    return replace(
        record, **{name: RunRecord.__dataclass_fields__[name].default for name in VOLATILE}
    )


def descendants_left() -> list[psutil.Process]:
    """Living processes that inherited this test's token, wherever they fled."""
    token = os.environ[TOKEN]
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            alive = process.status() != psutil.STATUS_ZOMBIE
            if alive and process.environ().get(TOKEN) == token and process.pid != os.getpid():
                found.append(process)
    return found
