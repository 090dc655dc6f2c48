"""One worker process as its supervisor sees it: a socket, a log, and a way to end it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from multiprocessing.connection import Connection
from typing import Any

import psutil

from experiments.runner.executors import cleanup
from experiments.runner.executors.launch import worker_environment

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
                env={**worker_environment(threads), cleanup.VARIABLE: marker},
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
        cleanup.kill_members(self.marker)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        """Kill, then let go of socket and log."""
        self.kill()
        self.connection.close()
        os.close(self._log)
