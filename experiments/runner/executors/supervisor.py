"""One place where jobs run, in a worker that is replaced when need be."""

import base64
import contextlib
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

import psutil

from experiments.runner import machine
from experiments.runner.executors.worker import LOOK_SECONDS as LOOK_SECONDS
from experiments.runner.executors.worker import frame, take_frame
from experiments.runner.run_job import Outcome, clean, ended
from experiments.runs.schema import Job, Limits, Status
from experiments.text import duration

ROOT = Path(__file__).resolve().parents[3]
THREAD_VARIABLES = (
    *(f"{name}_NUM_THREADS" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA")),
    *("VECLIB_MAXIMUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"),
)
STARTUP_SECONDS = 180.0
"""For a keeper to import what it needs; no job's clock runs meanwhile."""
KEEPER_SECONDS = 5.0
"""For a keeper to end a job at its limits, or itself, before it is ended."""


def python_environment() -> dict[str, str]:
    """This process's environment, with every module it can import importable there too."""
    path = [str(ROOT), *[entry for entry in sys.path if entry]]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(path))}


def worker_environment() -> dict[str, str]:
    """For a worker: numerical libraries use one thread, output is unbuffered, hashes repeat."""
    pinned = dict.fromkeys(THREAD_VARIABLES, "1")
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "2", "PYTHONUNBUFFERED": "1", "PYTHONHASHSEED": "0"}
    return {**python_environment(), **pinned, **quiet}


class Supervisor:
    """A place where one job at a time runs, within limits, which its keeper enforces.
    Nothing here waits for a worker; one that is gone or does not answer in time is replaced.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.job: Job | None = None
        self.last: Job | None = None
        self._keeper: subprocess.Popen[bytes] | None = None
        self._control: socket.socket
        self._ready, self._said = False, bytearray()

    @property
    def seconds(self) -> float:
        """How long the present job has been running."""
        return time.monotonic() - self._since

    def start(self, job: Job) -> None:
        """Hand a job to the keeper, or to a new one if there is none."""
        if self._keeper is None or self._keeper.poll() is not None:
            self.close()
            self._open()
        self.job = self.last = job
        self._since = time.monotonic()
        with contextlib.suppress(OSError):  # it dies just now
            self._control.sendall(frame({"job": asdict(job), "limits": asdict(self.limits)}))

    def poll(self) -> Outcome | None:
        """The outcome of the present job if it has ended, by itself or by our hand."""
        if self.job is None or self._keeper is None:
            return None
        gone = self._keeper.poll() is not None
        with contextlib.suppress(BlockingIOError, ConnectionError):
            while got := self._control.recv(1 << 20):
                self._said += got
        while (found := take_frame(self._said)) is not None:
            if "run" in found:
                self.job = None
                packed = base64.b64decode(found.get("predictions", "")) or None
                return Outcome(found["run"], packed, machine.describe())
            self._ready, self._since = True, time.monotonic()
        if gone:
            return self._give_up("crash", "the worker is gone")
        if self._ready and self.seconds > self.limits.seconds + KEEPER_SECONDS:
            most = self.limits.seconds
            return self._give_up("timeout", f"more than {duration(most)}", most)
        if not self._ready and self.seconds > STARTUP_SECONDS:
            return self._give_up("crash", f"the worker did not start in {STARTUP_SECONDS:.0f} s")
        return None

    def close(self) -> None:
        """Stop whatever runs here; the keeper ends all of it when its socket closes."""
        self.job = None
        if self._keeper is None:
            return
        self._control.close()
        try:
            self._keeper.wait(KEEPER_SECONDS)
        except subprocess.TimeoutExpired:  # it was stopped, and so cannot end its children
            with contextlib.suppress(psutil.Error):
                keeper = psutil.Process(self._keeper.pid)
                for each in (*keeper.children(recursive=True), keeper):
                    with contextlib.suppress(psutil.NoSuchProcess):
                        each.kill()
            self._keeper.wait()
        self._printed.close()
        self._keeper = None

    def _open(self) -> None:
        """Start a keeper, in a process group of its own, which Ctrl-C does not reach."""
        self._ready, self._said = False, bytearray()
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115 - until the next one
        self._control, theirs = socket.socketpair()
        with theirs:
            program = f"from {frame.__module__} import main; main({theirs.fileno()})"
            self._keeper = subprocess.Popen(
                [sys.executable, "-c", program],
                stdin=subprocess.DEVNULL,
                stdout=self._printed,
                stderr=self._printed,
                pass_fds=[theirs.fileno()],
                env=worker_environment(),
                process_group=0,
            )
        self._control.setblocking(False)

    def _give_up(self, status: Status, reason: str, limit: float | None = None) -> Outcome:
        """End the present job together with its keeper."""
        assert self.job is not None
        self._printed.seek(0)
        printed = clean(self._printed.read().decode(errors="replace"), "log_tail")
        outcome = ended(self.job, status, reason, limit_value=limit, log_tail=printed)
        self.close()
        return outcome


def wait_for_news(supervisors: list[Supervisor], seconds: float) -> None:
    """Sleep until some worker says something or time is up."""
    sources = [one._control for one in supervisors if one._keeper is not None]
    select.select(sources, [], [], max(0.0, seconds))
