"""Promises about writing: one process at a time writes to a store, and nothing is ever lost."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fake_learners import LOG_VARIABLE
from runner_helpers import fake_job
from test_runner_store import make_record

from experiments.__main__ import main
from experiments.core import files
from experiments.core.files import LOCK, StoreBusyError, StoreWriteError, locked, write_whole
from experiments.core.merging import compact
from experiments.core.outcome import Running
from experiments.core.store import Store
from experiments.runner.executors.launch import ROOT, python_environment
from experiments.runner.queue import Queue
from experiments.runner.refresh import Refresher

HOLDER = """
import sys, time
from pathlib import Path
from experiments.core.files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


@contextlib.contextmanager
def held_by_another(folder: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)],
        env=python_environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_second_writer_is_refused_with_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By name of process and host; and a killed holder holds nothing."""
    Store(tmp_path / "other").append(make_record("other"))
    run = ["run", "--store", str(tmp_path), "--profile", "smoke", "--dataset", "iris"]
    merge = ["merge", str(tmp_path / "other"), "--into", str(tmp_path), "--compact"]
    with held_by_another(tmp_path) as holder:
        for words in ([*run, "--method", "cart", "--inline"], merge):
            assert main(words) == 3
            told = capsys.readouterr().err
            assert f"{tmp_path} is in use by process {holder.pid} on {os.uname().nodename}" in told
            assert "merge afterwards" in told
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert main(merge) == 0


def test_two_threads_of_one_process_are_two_writers(tmp_path: Path) -> None:
    """The kernel would let both in, and the second to leave would take the first one's lock."""
    refused: list[BaseException] = []

    def second() -> None:
        try:
            with locked(tmp_path):
                pass
        except StoreBusyError as problem:
            refused.append(problem)

    with locked(tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
        assert len(refused) == 1
        with held_by_another_refused(tmp_path):
            pass
    with locked(tmp_path):
        pass


@contextlib.contextmanager
def held_by_another_refused(folder: Path) -> Iterator[None]:
    done = subprocess.run(
        [sys.executable, "-c", HOLDER, str(folder)],
        env=python_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "StoreBusyError" in done.stderr
    yield


def test_a_file_system_without_locks_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_locks(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "lockf", no_locks)
    with locked(tmp_path):
        pass
    assert "file system without locks (No locks available)" in capsys.readouterr().err


def test_a_strange_lock_file_harms_nobody(tmp_path: Path) -> None:
    (tmp_path / LOCK).write_bytes(b"\xff\x00\x1b[2J" * 100)
    with locked(tmp_path):
        pass


def test_a_lock_that_leads_elsewhere_empties_no_file(tmp_path: Path) -> None:
    precious, store = tmp_path / "precious", tmp_path / "store"
    precious.write_text("mine")
    store.mkdir()
    (store / LOCK).symlink_to(precious)
    with pytest.raises(StoreWriteError, match="cannot write to"), locked(store):
        pass
    assert precious.read_text() == "mine"


APPENDER = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from test_runner_store import make_record
from experiments.core.files import StoreBusyError, locked
from experiments.core.store import Store
for i in range(int(sys.argv[2])):
    while True:
        try:
            with locked(Path(sys.argv[1])):
                Store(sys.argv[1]).append(make_record(f"k{i}"))
            break
        except StoreBusyError:
            time.sleep(0.001)
"""


def test_compacting_in_a_loop_loses_no_record(tmp_path: Path) -> None:
    here = str(Path(__file__).parents[1] / "experiments")
    writer = subprocess.Popen(
        [sys.executable, "-c", APPENDER, str(tmp_path), "100", here], env=python_environment()
    )
    compacted = refused = 0
    while writer.poll() is None:
        try:
            with locked(tmp_path):
                compact(Store(tmp_path))
            compacted += 1
        except StoreBusyError:
            refused += 1
        time.sleep(0.002)
    assert writer.returncode == 0
    assert compacted > 0
    assert len(Store(tmp_path).records()) == 100


COMPACTER = """
import sys
from experiments.core import merging, store
from experiments.core.store import Store
store.ROLL_AT_BYTES = merging.ROLL_AT_BYTES = 3000
print("ready", flush=True)
while True:
    merging.compact(Store(sys.argv[1]))
"""


def test_a_kill_while_compacting_loses_no_record(tmp_path: Path) -> None:
    """The files of a dataset change their borders all the time."""
    store, chance = Store(tmp_path), random.Random(0)
    expected: set[str] = set()
    for kill in range(4):
        for number in range(10):
            record = make_record(f"k{kill}-{number}", trial=chance.randrange(10))
            store.append(record)
            expected.add(record.key)
        process = subprocess.Popen(
            [sys.executable, "-c", COMPACTER, str(tmp_path)],
            env=python_environment(),
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.random() * 0.3)
        process.kill()
        process.communicate()
        assert Store(tmp_path).latest().keys() == expected


def test_temporary_names_are_never_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def note(self: Path, target: Path) -> Path:
        seen.append(self.name)
        return real(self, target)

    real = Path.replace
    monkeypatch.setattr(Path, "replace", note)
    for _ in range(20):
        write_whole(tmp_path / "a", b"x")
    assert len(set(seen)) == 20
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


# Jobs that are measured alone overlap nothing.


@pytest.mark.usefixtures("fakes")
def test_a_job_measured_alone_overlaps_no_job() -> None:
    shared = [fake_job("good", trial) for trial in range(3)]
    alone = [replace(job, measured="alone") for job in shared]
    queue, out = Queue([*alone, *shared], give_up=False), []
    while queue or out:
        while (job := queue.take()) is not None:
            out.append(job)
            kinds = {each.measured for each in out}
            assert kinds == {"shared"} or len(out) == 1
        queue.finish(replace(make_record(), key=out.pop(0).key))


@pytest.mark.usefixtures("fakes")
def test_a_job_measured_alone_overlaps_no_refreshing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
    monkeypatch.setattr(Refresher, "_command", lambda self, verb: sleep)
    job = fake_job("good")
    timed = replace(job, measured="alone")
    refresher = Refresher(["tables"], [job], tmp_path)
    refresher.finished(replace(make_record(), key=job.key))
    refresher.tick([])
    process = refresher._process
    assert process is not None
    assert process.poll() is None
    refresher.started(timed)
    assert process.poll() is not None, "it was ended before the job began"
    refresher._began = -1e9
    refresher.tick([Running(timed, 1.0, "worker 1")])
    assert refresher._process is process, "nothing was begun beside the job"
    refresher.tick([])
    assert refresher._process is not process, "it goes on afterwards"
    refresher.close()


# Two runs at once.


def double_run(store: Path, delay: float) -> None:
    """Start the same run twice at almost the same time, resume until all is done."""
    command = [sys.executable, "-m", "experiments", "run", "--store", str(store), "--plain"]
    command += ["--dataset", "fake-two,fake-three", "--method", "fake-good,fake-steady"]
    command += ["--experiment", "default", "--protocol", "paper", "--workers", "2"]
    env = {**python_environment(), LOG_VARIABLE: f"{store}.log"}
    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    runs = []
    for _ in range(2):
        runs.append(subprocess.Popen(command, cwd=ROOT, env=env, **quiet))  # type: ignore[call-overload]
        time.sleep(delay)
    said = [run.communicate(timeout=300)[0] for run in runs]
    statuses = sorted(run.returncode for run in runs)
    assert statuses in ([0, 0], [0, 3]), said
    if statuses == [0, 3]:
        assert sum("is in use by process" in text for text in said) == 1, said
    records = Store(store).contents()
    assert (records.problems, records.torn) == ([], 0)
    keys = Counter(record.key for record in records.history)
    assert len(keys) == 40
    assert set(keys.values()) == {1}
    fits = Counter(Path(f"{store}.log").read_text().splitlines())
    assert len(fits) == 40
    assert set(fits.values()) == {1}, "a job was done twice"
    assert len(list(store.glob("predictions/*/*/*.npz"))) == 40


@pytest.mark.usefixtures("fakes")
@pytest.mark.parametrize("delay", [0.0, 1.0])
def test_double_runs_do_every_job_once(delay: float, tmp_path: Path) -> None:
    double_run(tmp_path / "store", delay)


@pytest.mark.slow
@pytest.mark.usefixtures("fakes")
def test_20_double_runs_do_every_job_once(tmp_path: Path) -> None:
    for number in range(20):
        double_run(tmp_path / str(number), delay=0.15 * number)


def test_the_lock_names_host_and_process(tmp_path: Path) -> None:
    with locked(tmp_path):
        pid, host, _ = (tmp_path / LOCK).read_text().split(maxsplit=2)
        assert (int(pid), host) == (os.getpid(), os.uname().nodename)
    assert files._held == set()
