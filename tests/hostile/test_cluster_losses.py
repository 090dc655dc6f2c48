"""Promises about clusters: who is gone is told, who does not fit is refused by name, and the same
command goes on later.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_learners import HASH_VARIABLE
from runner_helpers import dask, fake_job, free_port, soon_gone

from experiments.core.job import Limits
from experiments.core.store import Store
from experiments.runner.executors import cluster
from experiments.runner.executors.cluster import ClusterLostError, DaskExecutor
from experiments.runner.executors.process import ROOT, python_environment
from experiments.runner.queue import Queue
from experiments.runner.session import run_session

LIMITS = Limits(seconds=60.0)
WORKER = ("--nthreads", "1", "--no-nanny")

pytestmark = pytest.mark.usefixtures("fakes")


@pytest.fixture
def address() -> str:
    return f"tcp://127.0.0.1:{free_port()}"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The same promises in less time."""
    monkeypatch.setattr(cluster, "PATIENCE_SECONDS", 3.0)
    monkeypatch.setattr(cluster, "LOOK_SECONDS", 0.3)
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 5)
    yield
    assert soon_gone()


def scheduler(address: str) -> contextlib.AbstractContextManager[subprocess.Popen[bytes]]:
    host, port = address.removeprefix("tcp://").split(":")
    return dask("scheduler", "--host", host, "--port", port)


def test_a_scheduler_that_goes_stops_the_run_and_loses_nothing(
    address: str, tmp_path: Path
) -> None:
    with scheduler(address) as process, dask("worker", address, *WORKER):
        executor = DaskExecutor(address, LIMITS)
        jobs = [fake_job("good", trial, seconds=1.0) for trial in range(10)]
        threading.Timer(8.0, process.kill).start()
        summary = run_session(Queue(jobs, give_up=False), Store(tmp_path), executor)
    assert summary.interrupted
    assert f"at {address}" in summary.problem
    kept = Store(tmp_path).records()
    assert {record.status for record in kept} <= {"ok"}
    assert len(kept) == summary.done
    assert summary.done + summary.left == 10
    assert summary.left > 0


def test_the_verb_says_how_to_go_on(address: str, tmp_path: Path) -> None:
    """Exit status 3, a sentence and no traceback."""
    command = [sys.executable, "-m", "experiments", "run", "--store", str(tmp_path)]
    command += ["--dataset", "fake-two", "--method", "fake-steady", "--experiment", "default"]
    command += ["--protocol", "paper", "--scheduler", address]
    program = f"""
import sys
from experiments.runner.executors import cluster
from experiments.__main__ import main
cluster.PATIENCE_SECONDS, cluster.LOOK_SECONDS, cluster.CONNECT_SECONDS = 3.0, 0.3, 5
sys.argv = ["__main__.py", *{command[3:]!r}]
raise SystemExit(main())
"""
    with scheduler(address):
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env=python_environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 3, done.stdout + done.stderr
    assert f"Stopped: no workers at {address} for 3.0 s" in done.stdout
    assert f"start some with `dask worker {address}`" in done.stdout
    assert "10 still to run." in done.stdout
    assert "Resume with: " in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_a_scheduler_that_comes_back_without_workers_is_left_after_a_while(
    address: str, tmp_path: Path
) -> None:
    """Jobs that were out are not sent out again and again, but wait."""
    with scheduler(address):
        with dask("worker", address, *WORKER):
            executor = DaskExecutor(address, LIMITS)
            wait_until(lambda: executor.free() == 1)
            executor.start(fake_job("good", seconds=30.0))
        with pytest.raises(ClusterLostError, match="no workers at"):
            wait_until(lambda: executor.wait(0.2) or len(executor.running()) != 1)
        assert executor.running()[0].where == "waiting"
        executor.close()


def wait_until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_process_with_other_data_is_refused_by_name(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with scheduler(address), contextlib.ExitStack() as stack:
        with monkeypatch.context() as there:
            there.setenv(HASH_VARIABLE, "other bytes")
            stack.enter_context(dask("worker", address, *WORKER))
        executor = DaskExecutor(address, LIMITS)
        with pytest.raises(ClusterLostError) as lost:
            wait_until(lambda: executor.free() > 0)
        executor.close()
    said = capsys.readouterr().out
    assert "is given no work: dataset fake-three is other bytes there, hash of fake" in said
    assert "given no work: dataset fake-three" in str(lost.value)


def test_a_process_with_other_versions_is_refused_by_name(
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One that fits works beside it."""
    facts = tmp_path / "optuna-0.0.1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: optuna\nVersion: 0.0.1\n")
    with scheduler(address), contextlib.ExitStack() as stack:
        with monkeypatch.context() as there:
            there.syspath_prepend(str(tmp_path))
            stack.enter_context(dask("worker", address, *WORKER))
        stack.enter_context(dask("worker", address, *WORKER))
        executor = DaskExecutor(address, LIMITS)
        wait_until(lambda: executor.free() == 1 and len(executor._refused) == 1)
        executor.close()
    assert "is given no work: optuna is 0.0.1 there, " in capsys.readouterr().out


def test_the_readme_says_what_dask_trusts() -> None:
    text = " ".join((ROOT / "experiments" / "README.md").read_text().split())
    for word in ("--host", "--tls-cert", "private network"):
        assert word in text
