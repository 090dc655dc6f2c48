"""What the tests of the runner share: jobs of the fake benchmark, and where processes are."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import psutil

from experiments.core.job import Job
from experiments.core.record import VOLATILE, Outcome, RunRecord
from experiments.runner import plugins
from experiments.runner.executors.local import Executor
from experiments.runner.executors.process import python_environment

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


def soon_gone(seconds: float = 5.0) -> bool:
    """Whether every process of this test ends by itself within a few seconds."""
    deadline = time.monotonic() + seconds
    while descendants_left():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


@contextlib.contextmanager
def local_cluster(workers: int) -> Iterator[str]:
    """A Dask scheduler and worker processes of one thread, started as users start them."""
    with contextlib.ExitStack() as stack:
        port = free_port()
        address = f"tcp://127.0.0.1:{port}"
        stack.enter_context(dask("scheduler", "--host", "127.0.0.1", "--port", str(port)))
        for _ in range(workers):
            stack.enter_context(dask("worker", address, "--nthreads", "1", "--no-nanny"))
        yield address


@contextlib.contextmanager
def dask(role: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
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
