"""Promises about long runs: nobody needs to watch, and whatever ends early can be resumed.

A closed pipe or terminal ends the display and not the run. A store that cannot be written to is
noticed at the start, or stops a run cleanly. What learners say is made fit to be stored and shown.
"""

from __future__ import annotations

import errno
import os
import pty
import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from runner_helpers import fake_job, soon_gone
from test_runner_store import make_record

from experiments.__main__ import main
from experiments.core import files
from experiments.core.checks import clean_text
from experiments.core.files import append_line, read_lines, write_whole
from experiments.core.record import TEXTS
from experiments.core.store import Store
from experiments.runner.executors.local import InlineExecutor
from experiments.runner.executors.process import ROOT, python_environment
from experiments.runner.perform import failure, perform
from experiments.runner.queue import Queue
from experiments.runner.session import run_session

pytestmark = pytest.mark.usefixtures("fakes")
JOBS = 20


def command(store: Path, *more: str) -> list[str]:
    words = [sys.executable, "-m", "experiments", "run", "--store", str(store)]
    words += ["--dataset", "fake-two,fake-three", "--method", "fake-good"]
    return [*words, "--experiment", "default", "--protocol", "paper", "--workers", "2", *more]


def start(words: list[str], **how: Any) -> subprocess.Popen[str]:
    env = {**python_environment(), "TERM": "xterm"}
    return subprocess.Popen(words, cwd=ROOT, env=env, text=True, **how)


def test_a_closed_pipe_ends_the_display_and_not_the_run(tmp_path: Path) -> None:
    """``run | head -2``."""
    process = start(command(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    for _ in range(2):
        process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    assert process.wait(timeout=120) == 0, errors
    assert "Traceback" not in errors
    assert len(Store(tmp_path).records()) == JOBS
    assert soon_gone()


def test_a_closed_terminal_ends_the_display_and_not_the_run(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = start(
        command(tmp_path), stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    seen = b""
    while b"profile paper" not in seen:  # the title of the live display
        seen += os.read(ours, 1000)
    os.close(ours)  # whoever watched is gone, and the terminal hangs up
    assert process.wait(timeout=120) == 0
    assert len(Store(tmp_path).records()) == JOBS
    assert soon_gone()


def test_a_run_without_any_output_works(tmp_path: Path) -> None:
    words = ["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *command(tmp_path)]
    assert start(words).wait(timeout=120) == 0
    assert len(Store(tmp_path).records()) == JOBS


def test_a_narrow_alphabet_ends_nothing(tmp_path: Path) -> None:
    Store(tmp_path).append(make_record(status="error", test_f1=None, reason="naïve – … ✗"))
    env = {**python_environment(), "PYTHONIOENCODING": "ascii"}
    words = [sys.executable, "-m", "experiments", "failures", "--store", str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "na?ve" in done.stdout
    assert done.stderr == ""


# A disk that is full, or a store that cannot be written to.


def test_an_unwritable_store_is_noticed_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert main(command(tmp_path, "--inline")[3:]) == 3
    assert f"cannot write to {tmp_path}: No space left on device" in capsys.readouterr().err
    assert list(tmp_path.rglob("*.jsonl")) == []
    file = tmp_path / "file"
    file.write_text("")
    assert main(["merge", str(tmp_path), "--into", str(file / "below")]) == 3
    assert "Not a directory" in capsys.readouterr().err


def test_a_disk_that_fills_up_in_mid_run_stops_it_cleanly(tmp_path: Path) -> None:
    """With a limit on the size of files in the place of a full disk."""
    room = files.PROBE_BYTES + 20_000
    before = fill(tmp_path / "paper" / "fake-three.jsonl", room - 2000)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    process = start(
        command(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limit
    )
    said = process.communicate(timeout=120)[0]
    assert process.returncode == 3, said
    assert f"Stopped: cannot write to {tmp_path}: File too large" in said
    assert "Finished jobs are kept." in said
    assert "Resume with: " in said
    assert " still to run." in said
    assert "Traceback" not in said
    contents = Store(tmp_path).contents()
    assert (contents.problems, contents.torn) == ([], 0)
    done = len(contents.history)
    assert before < done < before + JOBS
    assert unfinished_files(tmp_path) == []
    assert soon_gone()
    assert start(command(tmp_path), stdout=subprocess.DEVNULL).wait(timeout=120) == 0
    assert len(Store(tmp_path).records()) == before + JOBS


def fill(path: Path, size: int) -> int:
    """A file of good records of about this size; how many there are."""
    number = 0
    while not path.exists() or path.stat().st_size < size:
        record = make_record(f"k{number}", dataset="fake-three", log_tail="x" * 500)
        append_line(path, record.to_dict())
        number += 1
    return number


def unfinished_files(folder: Path) -> list[Path]:
    """What a writer that failed may have left behind."""
    return [
        path
        for path in folder.rglob("*")
        if path.is_file()
        and path.name != files.LOCK
        and (path.name.startswith(".") or path.suffix == ".part" or not path.stat().st_size)
    ]


def test_half_a_line_and_half_a_file_are_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    append_line(path, {"n": 1})

    def half(descriptor: int, data: bytes) -> int:
        if len(data) > 4:
            return int(real(descriptor, data[:4]))
        raise OSError(errno.ENOSPC, "No space left on device")

    real = os.write
    monkeypatch.setattr(os, "write", half)
    with pytest.raises(OSError, match="No space"):
        append_line(path, {"n": 2})
    monkeypatch.undo()
    append_line(path, {"n": 3})
    assert [value for _, value in read_lines(path).values] == [{"n": 1}, {"n": 3}]

    def no_rename(self: Path, target: Path) -> Path:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "replace", no_rename)
    with pytest.raises(OSError, match="Read-only"):
        write_whole(tmp_path / "b", b"x")
    assert [p.name for p in tmp_path.iterdir()] == ["a.jsonl"]


# What learners say.

MESSAGES = {
    "a lone surrogate": "half a pair: \ud800",
    "control characters": "\x1b[2J\x1b[31mred\x07\r\x00\x9b",
    "five megabytes": "x" * 5_000_000,
    "text turned around": "abc\u202edef\u2028ghi",
    "only line ends": "\n\n\n",
    "nothing": "",
}


class SilentError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("cannot speak")


@pytest.mark.parametrize("kind", [*MESSAGES, "cannot be made"])
def test_any_message_is_made_fit_for_store_terminal_and_report(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problem = SilentError() if kind == "cannot be made" else ValueError(MESSAGES[kind])
    job = fake_job("raises")
    record = failure(job, problem)
    assert 0 < len(record.reason) <= TEXTS["reason"]
    assert record.reason.isprintable()
    assert len(record.traceback) <= TEXTS["traceback"]
    for text in (record.reason, record.traceback):
        assert text == clean_text(text, TEXTS["traceback"])
        text.encode()
    Store(tmp_path).append(record)
    assert Store(tmp_path).contents().problems == []
    assert main(["failures", "--store", str(tmp_path), "--log"]) == 1
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize("kind", MESSAGES)
def test_a_store_that_holds_such_a_message_can_be_read(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Written by an older version, which did not clean what it was told."""
    values = make_record(status="error", test_f1=None).to_dict()
    message = MESSAGES[kind]
    append_line(
        tmp_path / "paper" / "iris.jsonl",
        {**values, "reason": message, "traceback": message, "log_tail": message},
    )
    (record,) = Store(tmp_path).records()
    record.reason.encode()
    assert len(record.reason) <= TEXTS["reason"]
    assert main(["failures", "--store", str(tmp_path), "--log"]) == 1
    assert "\x1b" not in capsys.readouterr().out


def test_a_record_that_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    """A learner's odd numbers end in an error, not in a job that is done for ever anew."""

    class Odd(InlineExecutor):
        def wait(self, seconds: float) -> list[Any]:

            return [
                replace(one, record=replace(one.record, tree_size=0))
                for one in super().wait(seconds)
            ]

    job = fake_job("good")
    assert perform(job).record.status == "ok"
    summary = run_session(Queue([job]), Store(tmp_path), Odd())
    assert summary.statuses == {"error": 1}
    contents = Store(tmp_path).contents()
    assert contents.problems == []
    assert "tree_size is 0" in contents.history[0].reason
    assert list(tmp_path.glob("predictions/**/*.npz")) == []


def test_what_is_done_is_kept_when_a_display_fails(tmp_path: Path) -> None:
    class Broken:
        def started(self, job: object) -> None:
            raise OSError(errno.EIO, "Input/output error")

        finished = tick = started

        def close(self) -> None:
            raise ValueError("I/O operation on closed file")

    jobs = [fake_job("good", trial) for trial in range(3)]
    began = time.monotonic()
    summary = run_session(Queue(jobs), Store(tmp_path), InlineExecutor(), [Broken()])  # type: ignore[list-item]
    assert summary.statuses == {"ok": 3}
    assert time.monotonic() - began < 60
