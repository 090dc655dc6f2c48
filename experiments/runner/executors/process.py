"""Worker processes from outside: the environment they start in, socket and log, and a sure end.

Each worker carries a marker in its environment, which its descendants
inherit even when they change their session or lose their parents. Run as a
program, this module is the janitor: it waits for the end of its input, which
comes when the supervisor is gone for whatever reason, and then ends every
process that carries the marker.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parents[3]
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_NUM_INTEROP_THREADS",
)


def python_environment() -> dict[str, str]:
    """This process's environment, with every module it can import importable there too."""
    path = [str(ROOT), *[entry for entry in sys.path if entry]]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(path))}


def worker_environment(threads: int) -> dict[str, str]:
    """For a worker: thread counts pinned, output unbuffered, nothing left to chance."""
    pinned = dict.fromkeys(THREAD_VARIABLES, str(threads))
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "2", "PYTHONUNBUFFERED": "1", "PYTHONHASHSEED": "0"}
    return {**python_environment(), **pinned, **quiet}


VARIABLE = "GRADTREE_WORKER"
MARKER_LENGTH = 32


def new_marker() -> str:
    return uuid.uuid4().hex


def members(marker: str) -> set[psutil.Process]:
    """The living processes whose marker starts with ``marker``, and their descendants.

    A process that is just turning into another program has no environment for a moment, but it
    has a parent.
    """
    if len(marker) < MARKER_LENGTH:
        raise ValueError(f"{marker!r} is no marker: it would name processes of others")
    parent_of: dict[psutil.Process, int] = {}
    found = set()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.status() == psutil.STATUS_ZOMBIE:
                continue
            parent_of[process] = process.ppid()
            if process.environ().get(VARIABLE, "").startswith(marker):
                found.add(process)
    while children := {
        process
        for process, parent in parent_of.items()
        if process not in found and parent in {member.pid for member in found}
    }:
        found |= children
    return found


def kill_members(marker: str) -> None:
    """End all members. They are stopped first, so that none can fork its way out."""
    stopped: set[psutil.Process] = set()
    while new := members(marker) - stopped:
        for process in new:
            _signal(process, signal.SIGSTOP)
        stopped |= new
    for process in stopped:
        _signal(process, signal.SIGKILL)


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    with contextlib.suppress(psutil.Error):
        process.send_signal(number)


FAREWELL = b"."
"""Sent by a supervisor that has cleaned up itself."""


def hire(marker: str) -> subprocess.Popen[bytes]:
    """Start a janitor for the workers of a marker; it lives as long as its input is open."""
    return subprocess.Popen(
        [sys.executable, "-m", "experiments.runner.executors.process", marker],
        stdin=subprocess.PIPE,
        env=python_environment(),
        start_new_session=True,
    )


def dismiss(janitor: subprocess.Popen[bytes]) -> None:
    """Let a janitor go, there being nothing left to clean."""
    if janitor.poll() is None:
        janitor.communicate(FAREWELL)
    janitor.wait()


LOG_KEPT_BYTES = 1 << 16
CHUNKS_AT_A_TIME = 16
LOG_TAIL_CHARACTERS = 4000
NOISE = "Extension modules:"
"""After the Python stack of a crash comes one long line that names every compiled module."""


class WorkerProcess:
    """Starts a worker and keeps its ends of the socket and of the log.

    Parameters
    ----------
    marker : what all descendants of this worker can be found by.
    threads : threads of every numerical library in it.
    """

    def __init__(self, marker: str, threads: int) -> None:
        self.marker = marker
        ours, theirs = socket.socketpair()
        self._log, log_end = os.pipe()
        os.set_blocking(self._log, False)
        self._tail = bytearray()
        self._log_ended = False
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "experiments.runner.executors.worker", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=log_end,
                stderr=log_end,
                pass_fds=[theirs.fileno()],
                env={**worker_environment(threads), VARIABLE: marker},
                start_new_session=True,
            )
        finally:
            theirs.close()
            os.close(log_end)
        self.connection: Connection[Any, Any] = Connection(ours.detach())
        self._watched = psutil.Process(self._process.pid)

    @property
    def channels(self) -> list[Any]:
        """What to wait on for news of this worker."""
        return [self.connection] if self._log_ended else [self.connection, self._log]

    def exit_status(self) -> int | None:
        """``None`` while it lives; negative numbers are signals."""
        return self._process.poll()

    def patient_exit_status(self) -> int | None:
        """The same, a second later if need be: a socket may close before its process has ended."""
        for _ in range(20):
            if (status := self.exit_status()) is not None:
                return status
            time.sleep(0.05)
        return None

    def resident_mb(self) -> float:
        """Memory in use now; zero if the process is gone."""
        try:
            return float(self._watched.memory_info().rss / 2**20)
        except psutil.Error:
            return 0.0

    def total_mb(self) -> float:
        """Memory in use now by the worker and its living descendants."""
        total = self.resident_mb()
        with contextlib.suppress(psutil.Error):
            for child in self._watched.children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    total += child.memory_info().rss / 2**20
        return total

    def drain_log(self) -> None:
        """Take what was printed, keeping the end of it only.

        Not for ever: a worker that never stops printing must not keep its
        supervisor from looking at the clock.
        """
        with contextlib.suppress(BlockingIOError):
            for _ in range(CHUNKS_AT_A_TIME):
                chunk = os.read(self._log, LOG_KEPT_BYTES)
                if not chunk:
                    self._log_ended = True
                    return
                self._tail += chunk
                del self._tail[:-LOG_KEPT_BYTES]

    def log_tail(self) -> str:
        """The last lines that were printed."""
        self.drain_log()
        lines = self._tail.decode(errors="replace").splitlines(keepends=True)
        text = "".join(line for line in lines if not line.startswith(NOISE))
        if len(text) <= LOG_TAIL_CHARACTERS:
            return text
        tail = text[-LOG_TAIL_CHARACTERS:]
        return tail.partition("\n")[2] or tail

    def forget_log(self) -> None:
        self.drain_log()
        self._tail.clear()

    def kill(self) -> None:
        """End the worker and everything it started; returns when the worker is gone."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGSTOP)
        kill_members(self.marker)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        """Kill, then let go of socket and log."""
        self.kill()
        self.connection.close()
        os.close(self._log)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def cause_of(status: int | None) -> str:
    """What an exit status says of a worker's end; ``None`` while it has none."""
    if status is None:
        return "the worker closed its connection"
    if status < 0:
        hint = ", perhaps by the system for want of memory" if -status == signal.SIGKILL else ""
        return f"killed by {_signal_name(-status)}{hint}"
    return f"exited with status {status}"


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.stdin.buffer.read() != FAREWELL:
        kill_members(sys.argv[1])


if __name__ == "__main__":
    main()
