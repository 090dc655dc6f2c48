"""Promises of a run: whatever stops it, nothing is lost, nothing is done twice, nobody is left."""

import contextlib
import os
import pty
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from fake_learners import LOG_VARIABLE
from runner_helpers import fake_job, soon_gone

from experiments.runner.executors import InlineExecutor
from experiments.runner.executors.supervisor import ROOT, python_environment
from experiments.runner.plan import Queue
from experiments.runner.session import Session
from experiments.runs.schema import Job, check
from experiments.runs.store import Store

JOBS = 24


pytestmark = pytest.mark.usefixtures("fakes")


def jobs(seconds: float, count: int = JOBS) -> list[Job]:
    return [fake_job("good", n % 10, shift=n // 10, seconds=seconds) for n in range(count)]


def pending(store: Path, wanted: list[Job]) -> list[Job]:
    done = Store(store).statuses()
    return [job for job in wanted if job.key not in done]


def in_a_child(store: Path, wanted: list[Job]) -> int:
    """A session in a process of its own; its number."""
    pid = os.fork()
    if not pid:
        status = 1
        with contextlib.suppress(BaseException):
            Session(
                Queue(pending(store, wanted), give_up=False), Store(store), InlineExecutor()
            ).run()
            status = 0
        os._exit(status)
    return pid


def test_twenty_kills_lose_nothing_and_repeat_little(tmp_path, monkeypatch):
    log = tmp_path / "fits"
    monkeypatch.setenv(LOG_VARIABLE, str(log))
    wanted, draws = jobs(0.02, 60), random.Random(0)
    before: dict[str, Any] = {}
    for kill in range(20):
        pid = in_a_child(tmp_path / "store", wanted)
        time.sleep(draws.uniform(0.01, 0.12))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        if kill == 0 and not Store(tmp_path / "store").exists:
            continue
        found = {run["key"]: run for run in rows(tmp_path / "store")}
        assert before.items() <= found.items(), "what was kept stays as it was"
        assert found.keys() == Store(tmp_path / "store").predicted_keys(), "one transaction"
        before = found
    os.waitpid(in_a_child(tmp_path / "store", wanted), 0)
    kept = rows(tmp_path / "store")
    assert {run["key"] for run in kept} == {job.key for job in wanted}
    assert all(check(run)["status"] == "ok" for run in kept)
    fits = log.read_text().splitlines()
    assert len(wanted) <= len(fits) <= len(wanted) + 20, "a kill costs one fit at most"


def rows(store: Path) -> list[dict[str, Any]]:
    opened = Store(store)
    return [run for key in opened.statuses() if (run := opened.run(key)) is not None]


def test_three_sessions_on_one_store_do_every_job_once(tmp_path, monkeypatch):
    log = tmp_path / "fits"
    monkeypatch.setenv(LOG_VARIABLE, str(log))
    wanted = jobs(0.05)
    children = [in_a_child(tmp_path / "store", wanted) for _ in range(3)]
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0, 0, 0]
    assert {run["status"] for run in rows(tmp_path / "store")} == {"ok"}
    assert len(rows(tmp_path / "store")) == JOBS
    assert len(log.read_text().splitlines()) == JOBS


# Real runs: supervised workers, a terminal or a pipe, signals.

PROGRAM = f"""
import argparse, sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_runner_survives import jobs, pending
from experiments.runner.plan import make_plan
from experiments.runner.session import drive, sum_up
from experiments.runs.schema import Limits
from experiments.runs.store import Store
store = Path(sys.argv[1])
wanted = jobs(float(sys.argv[2]))
args = argparse.Namespace(
    store=store, scheduler=None, inline=False, workers=2
)
limits = Limits(seconds=60)
plan = make_plan(wanted, Store(store).statuses(), limits)
summary = drive(args, plan, give_up=False)
raise SystemExit(sum_up(wanted, Store(store), limits, summary))
"""


def start(store: Path, seconds: float = 0.1, **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, str(store), str(seconds)]
    return subprocess.Popen(command, cwd=ROOT, env=python_environment(), text=True, **options)


def until_some_are_done(store: Path, least: int = 3) -> None:
    deadline = time.monotonic() + 120
    while not Store(store).exists or len(Store(store).statuses()) < least:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_kill_9_leaves_no_process_and_the_next_run_goes_on(tmp_path):
    process = start(tmp_path, stdout=subprocess.DEVNULL)
    until_some_are_done(tmp_path)
    process.kill()
    process.wait()
    assert soon_gone()
    done = Counter(run["status"] for run in rows(tmp_path))
    assert set(done) == {"ok"}
    assert start(tmp_path, 0.1, stdout=subprocess.DEVNULL).wait(timeout=120) == 0
    assert len(rows(tmp_path)) == JOBS


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_polite_end_says_how_to_go_on(number, tmp_path):
    process = start(tmp_path, 0.3, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    until_some_are_done(tmp_path)
    process.send_signal(number)
    said = process.communicate(timeout=60)[0]
    assert process.returncode == 3, said
    assert "Stopped. Finished jobs are kept." in said
    assert "Resume with: " in said
    assert "Traceback" not in said
    assert soon_gone()


def test_a_closed_terminal_ends_the_display_and_not_the_run(tmp_path):
    ours, theirs = pty.openpty()
    process = start(tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    os.read(ours, 1)  # lines begin
    os.close(ours)  # whoever watched is gone, and the terminal hangs up
    assert process.wait(timeout=120) == 0
    assert len(rows(tmp_path)) == JOBS
    assert soon_gone()


def test_a_reader_that_goes_away_does_not_end_the_run(tmp_path):
    process = start(tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    assert process.wait(timeout=120) == 0, errors
    assert "Traceback" not in errors
    assert len(rows(tmp_path)) == JOBS


def test_a_disk_that_fills_up_stops_the_run_cleanly(tmp_path):
    """With a limit on the size of files in the place of a full disk."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))

    process = start(
        tmp_path, 0.0, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limit
    )
    said = process.communicate(timeout=120)[0]
    assert process.returncode == 3, said
    assert f"Stopped: cannot write to {tmp_path}" in said
    assert "Traceback" not in said
    done = len(rows(tmp_path))
    assert 0 < done < JOBS
    assert soon_gone()
    assert start(tmp_path, 0.0, stdout=subprocess.DEVNULL).wait(timeout=120) == 0
    assert len(rows(tmp_path)) == JOBS
