"""What the runner adds to a job, when workers are warm and however many records there are."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from runner_helpers import fake_job, run_all

from experiments.core.job import Job, Limits
from experiments.core.store import Store
from experiments.runner.executors.local import ProcessExecutor
from experiments.runner.queue import Queue
from experiments.runner.session import run_session

ALLOWED_SECONDS = 0.020
numbers = itertools.count()


class KeptOpen:
    """An executor that survives its session, so that workers stay warm for the next."""

    def __init__(self, executor: ProcessExecutor) -> None:
        self._executor = executor

    def __getattr__(self, name: str) -> object:
        return getattr(self._executor, name)

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def executor() -> Iterator[ProcessExecutor]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADTREE_PLUGINS", "fake_learners")
        executor = ProcessExecutor(2, Limits(seconds=60))
        run_all(executor, trivial(20))
        yield executor
        executor.close()


def trivial(count: int) -> list[Job]:
    return [fake_job("trivial", i % 10, n=next(numbers)) for i in range(count)]


def seconds_per_job(executor: ProcessExecutor, store: Path, count: int) -> float:
    jobs = trivial(count)
    began = time.perf_counter()
    summary = run_session(Queue(jobs, give_up=False), Store(store), KeptOpen(executor))  # type: ignore[arg-type]
    assert summary.statuses == {"ok": count}
    return (time.perf_counter() - began) / count


@pytest.mark.usefixtures("fakes")
def test_a_trivial_job_takes_under_20_ms(executor: ProcessExecutor, tmp_path: Path) -> None:
    # The best of a few batches: what the runner costs, not what else the machine was doing.
    assert min(seconds_per_job(executor, tmp_path, 60) for _ in range(4)) < ALLOWED_SECONDS


@pytest.mark.slow
@pytest.mark.usefixtures("fakes")
def test_ten_thousand_trivial_jobs(executor: ProcessExecutor, tmp_path: Path) -> None:
    batches = [seconds_per_job(executor, tmp_path, 1000) for _ in range(10)]
    print(f"\n{1000 * sum(batches) / 10:.1f} ms a job;", [f"{1000 * b:.1f}" for b in batches])
    assert sum(batches) / 10 < ALLOWED_SECONDS
    first, last = min(batches[:3]), min(batches[-3:])
    assert last < 1.5 * first, "the cost of a job grows with the number of records"
