"""What only a cluster can do: lose a worker, lose a client, refuse who does not fit."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from runner_helpers import dask, fake_job, free_port, soon_gone, steady

from experiments.core.job import Limits
from experiments.core.store import Store
from experiments.runner.executors.cluster import ClusterLostError, DaskExecutor, differing
from experiments.runner.executors.local import InlineExecutor
from experiments.runner.queue import Queue
from experiments.runner.session import run_session

LIMITS = Limits(seconds=30.0)

pytestmark = pytest.mark.usefixtures("fakes")


@pytest.fixture
def scheduler(fakes: None) -> Iterator[str]:
    port = free_port()
    with dask("scheduler", "--host", "127.0.0.1", "--port", str(port)):
        yield f"tcp://127.0.0.1:{port}"
    assert soon_gone()


class KillWhenBusy:
    """A listener that kills a cluster process while its job runs."""

    def __init__(self, victim: int) -> None:
        self._victim = psutil.Process(victim)
        self.killed = False

    def started(self, job: object) -> None:
        pass

    def finished(self, record: object) -> None:
        pass

    def tick(self, running: object) -> None:
        children = self._victim.children(recursive=True) if not self.killed else []
        if any("executors.worker" in " ".join(child.cmdline()) for child in children):
            time.sleep(0.3)
            self._victim.send_signal(signal.SIGKILL)
            self.killed = True

    def close(self) -> None:
        pass


def test_a_lost_worker_loses_no_job(scheduler: str, tmp_path: Path) -> None:
    jobs = [fake_job("good", trial, seconds=0.5) for trial in range(10)]
    with dask("worker", scheduler, "--nthreads", "1", "--no-nanny") as victim:  # noqa: SIM117
        with dask("worker", scheduler, "--nthreads", "1", "--no-nanny"):
            executor = DaskExecutor(scheduler, LIMITS)
            while executor.free() < 2:
                time.sleep(0.2)
            killer = KillWhenBusy(victim.pid)
            queue = Queue(jobs, give_up=False)
            summary = run_session(queue, Store(tmp_path / "cluster"), executor, [killer])
    assert killer.killed
    assert summary.statuses == {"ok": 10}
    run_session(Queue(jobs), Store(tmp_path / "here"), InlineExecutor())
    assert outcome(tmp_path / "cluster") == outcome(tmp_path / "here")
    assert Store(tmp_path / "cluster").environments()


def test_all_workers_lost_and_others_come(scheduler: str, tmp_path: Path) -> None:
    """The jobs of processes that are gone for good are given to those that come later."""
    jobs = [fake_job("good", trial, seconds=0.2) for trial in range(4)]
    executor = DaskExecutor(scheduler, LIMITS)
    with dask("worker", scheduler, "--nthreads", "1", "--no-nanny"):
        while not executor.free():
            time.sleep(0.2)
        executor.start(jobs[0])
    with dask("worker", scheduler, "--nthreads", "1", "--no-nanny"):
        outcomes = []
        while executor.running():
            outcomes += executor.wait(0.5)
        assert [one.record.key for one in outcomes] == [jobs[0].key]
        assert outcomes[0].record.status == "ok"
        executor.close()


def outcome(folder: Path) -> dict[str, object]:
    return {key: steady(record) for key, record in Store(folder).latest().items()}


def test_other_versions_are_named() -> None:
    ours = {"python": "3.11.7", "numpy": "2.4.6"}
    assert differing(ours, dict(ours)) == ""
    text = differing(ours, {"python": "3.11.7", "numpy": "1.26.4", "scipy": "1.11"})
    assert text == "numpy is 1.26.4 there, 2.4.6 here, scipy is 1.11 there, missing here"


def test_no_scheduler_no_work() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.runner.executors.cluster.CONNECT_SECONDS", 1)
        with pytest.raises(ClusterLostError, match="start one with `dask scheduler`"):
            DaskExecutor(f"tcp://127.0.0.1:{free_port()}", LIMITS)
