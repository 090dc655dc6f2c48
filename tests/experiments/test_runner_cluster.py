"""Promises about clusters: who is gone is named, who does not fit is refused by name, and the
same command goes on later.
"""

import contextlib
import subprocess
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from fake_learners import OTHER_VARIABLE
from runner_helpers import dask, fake_job, free_port, soon_gone, steady

from experiments.errors import CannotGoOnError
from experiments.runner.executors import InlineExecutor
from experiments.runner.executors import dask as cluster
from experiments.runner.executors.dask import DaskExecutor
from experiments.runner.plan import Queue
from experiments.runner.session import Session
from experiments.runs.schema import Limits
from experiments.runs.store import Store

LIMITS = Limits(seconds=60.0)
WORKER = ("--nthreads", "1", "--no-nanny")


@pytest.fixture
def address() -> str:
    return f"tcp://127.0.0.1:{free_port()}"


@pytest.fixture(autouse=True)
def impatient(fakes: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The same promises in less time."""
    monkeypatch.setattr(cluster, "PATIENCE_SECONDS", 3.0)
    monkeypatch.setattr(cluster, "LOOK_SECONDS", 0.3)
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 5)
    yield
    assert soon_gone()


def scheduler(address: str) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    host, port = address.removeprefix("tcp://").split(":")
    return dask("scheduler", "--host", host, "--port", port)


def connected(address: str, monkeypatch: pytest.MonkeyPatch, workers: int = 1) -> DaskExecutor:
    """An executor on a cluster whose workers are up, however slow the machine."""
    with monkeypatch.context() as patient:
        patient.setattr(cluster, "PATIENCE_SECONDS", 120.0)
        patient.setattr(cluster, "CONNECT_SECONDS", 60)
        executor = DaskExecutor(address, LIMITS)
        wait_until(lambda: executor.free() >= workers)
    return executor


def wait_until(condition: Callable[[], object], seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_lost_worker_is_named_and_loses_no_job(address, tmp_path, monkeypatch, capsys):
    jobs = [fake_job("good", trial, seconds=0.5) for trial in range(6)]
    with scheduler(address), dask("worker", address, *WORKER) as victim:  # noqa: SIM117
        with dask("worker", address, *WORKER):
            executor = connected(address, monkeypatch, 2)
            monkeypatch.setattr(cluster, "PATIENCE_SECONDS", 60.0)
            threading.Timer(1.0, victim.kill).start()
            summary = Session(Queue(jobs, give_up=False), Store(tmp_path / "a"), executor).run()
    assert summary.statuses == {"ok": 6}
    assert " is gone; what it was doing is started again elsewhere" in capsys.readouterr().out
    Session(Queue(jobs), Store(tmp_path / "b"), InlineExecutor()).run()
    for job in jobs:
        there, here = (Store(tmp_path / name).run(job.key) for name in "ab")
        assert steady(there) == steady(here)
    assert Store(tmp_path / "a").facts("environment")


def test_a_scheduler_that_goes_stops_the_run_and_loses_nothing(address, tmp_path, monkeypatch):
    with scheduler(address) as process, dask("worker", address, *WORKER):
        executor = connected(address, monkeypatch)
        jobs = [fake_job("good", trial, seconds=2.0) for trial in range(10)]
        threading.Timer(8.0, process.kill).start()
        summary = Session(Queue(jobs, give_up=False), Store(tmp_path), executor).run()
    assert summary.interrupted
    assert f"at {address}" in summary.problem
    kept = Store(tmp_path).statuses()
    assert {run["status"] for run in kept.values()} <= {"ok"}
    assert len(kept) == summary.statuses["ok"] < 10


def test_jobs_of_lost_workers_wait_for_others_but_not_for_ever(address, monkeypatch):
    with scheduler(address):
        with dask("worker", address, *WORKER):
            executor = connected(address, monkeypatch)
            executor.start(fake_job("good", seconds=30.0))
        with pytest.raises(CannotGoOnError, match="no workers at"):
            wait_until(lambda: executor.wait(0.2) or len(executor.running()) != 1)
        assert len(executor._waiting) == 1
        executor.close()


def test_nobody_answers_at_the_address(address):
    with pytest.raises(CannotGoOnError, match=f"no Dask scheduler answers at {address}"):
        DaskExecutor(address, LIMITS)


def test_a_process_with_other_data_is_refused_by_name(address, monkeypatch, capsys):
    """One that fits works beside it."""
    with scheduler(address), contextlib.ExitStack() as stack:
        with monkeypatch.context() as there:
            there.setenv(OTHER_VARIABLE, "1")
            stack.enter_context(dask("worker", address, *WORKER))
        stack.enter_context(dask("worker", address, *WORKER))
        executor = connected(address, monkeypatch)
        monkeypatch.setattr(cluster, "PATIENCE_SECONDS", 60.0)
        wait_until(lambda: executor.free() == 1 and sum(map(bool, executor.refused.values())) == 1)
        executor.close()
    said = capsys.readouterr().out
    assert "is given no work: dataset fake-three is " in said


def test_a_process_may_use_no_more_memory_than_its_own_limit(address, monkeypatch):
    with scheduler(address), dask("worker", address, *WORKER, "--memory-limit", "400MiB"):
        executor = connected(address, monkeypatch)
        executor.start(fake_job("allocates-natively"))
        ended = []
        wait_until(lambda: ended.extend(executor.wait(0.5)) or ended)
        executor.close()
    assert (ended[0].run["status"], ended[0].run["limit_value"]) == ("memory", 400.0)
