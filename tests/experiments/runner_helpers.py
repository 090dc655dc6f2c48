"""What the tests of the runner share: jobs of the fake learners, and where processes are."""

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import psutil

from experiments.runner.executors import Executor
from experiments.runner.executors.supervisor import python_environment
from experiments.runner.experiments import identity_of
from experiments.runner.run_job import Outcome
from experiments.runs import archive
from experiments.runs.schema import COLUMNS, Job
from experiments.runs.store import Store

FAKES = Path(__file__).with_name("fake_learners.py")
TOKEN = "RUNNER_TEST_TOKEN"


def fake_job(method: str, trial: int = 0, dataset: str = "fake-two", **params: Any) -> Job:
    return job_of(f"fake-{method}", dataset, trial, **params)


def job_of(slug: str, dataset: str, trial: int = 0, protocol: str = "paper", **params: Any) -> Job:
    what = (protocol, "default", dataset, slug, Job.freeze(params), trial, 42)
    return Job(*what, **identity_of(protocol, dataset, slug))


def run_all(executor: Executor, jobs: Iterable[Job]) -> dict[str, Outcome]:
    """Push jobs through an executor as fast as it takes them; outcomes by key."""
    waiting = list(jobs)
    outcomes: dict[str, Outcome] = {}
    while waiting or executor.running():
        while waiting and executor.free():
            executor.start(waiting.pop(0))
        for outcome in executor.wait(0.5):
            assert outcome.run["key"] not in outcomes, "a job ended twice"
            outcomes[outcome.run["key"]] = outcome
    return outcomes


def steady(run: dict[str, Any]) -> dict[str, Any]:
    """A row without what may differ between two runs of the same job."""
    lasting = [c.name for c in COLUMNS if c.kind in ("identity", "score")]
    return {name: run.get(name) for name in (*lasting, "status", "reason", "extra")}


def archived(store: Store, folder: Path) -> Path:
    """The runs, plan and facts of a store as an archive of Parquet files."""
    facts = {kind: dict(store.facts(kind)) for kind in archive.KINDS}
    archive.write(folder, store.frame("runs"), store.frame("planned"), facts)
    return folder


def descendants_left() -> list[psutil.Process]:
    """Living processes that inherited this test's token, or are called sleep."""
    token = os.environ[TOKEN]
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.status() == psutil.STATUS_ZOMBIE or process.pid == os.getpid():
                continue
            if process.environ().get(TOKEN) == token or process.cmdline() == ["sleep", "3600"]:
                found.append(process)
    return found


def soon_gone(seconds: float = 10.0) -> bool:
    """Whether every process of this test ends by itself; the clock stands still while one of them
    uses the processor, as one does that starts and ends once it is up.
    """
    began = since = time.monotonic()
    spent = -1.0
    while left := descendants_left():
        before, spent = spent, 0.0
        for process in left:
            with contextlib.suppress(psutil.Error):
                spent += sum(process.cpu_times()[:2])
        now = time.monotonic()
        since = since if spent == before else now
        if now - since > seconds or now - began > 12 * seconds:
            return False
        time.sleep(0.1)
    return True


@contextlib.contextmanager
def dask(role: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A scheduler or a worker, started as users start them."""
    command = [sys.executable, "-m", "dask", role, *arguments, "--no-dashboard"]
    process = subprocess.Popen(
        command, env=python_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
