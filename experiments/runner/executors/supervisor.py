"""One place where jobs run, in a worker with hard limits that is replaced when need be."""

import base64
import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

from experiments.runner.executors.worker import UnreadableError, frame, take_frame
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
"""For a keeper to end a runner, before it is ended itself."""
LOOK_SECONDS = 0.05
"""How often limits are checked while nothing is heard."""
FAMILY_SECONDS = 1.0
"""How often the memory of a runner's children is added, which costs more than its own."""
NEARLY = 0.8
"""A runner that dies with this share of its memory limit in use died of it."""
LOG_BYTES = 1 << 16
NOISE = b"Extension modules:"
"""After the Python stack of a crash comes one long line that names every compiled module."""


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
    """A place with a name where one job at a time runs, within limits. Nothing here waits for a
    worker, and whatever is no answer to the present job ends that job as a crash.
    """

    def __init__(self, name: str, limits: Limits) -> None:
        self.name, self.limits = name, limits
        self.job: Job | None = None
        self.last: Job | None = None
        self._keeper: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._log, self._log_end = os.pipe()
        os.set_blocking(self._log, False)
        self._tail = bytearray()
        self._forks, self._ready = 0, False
        self._forget_runner()

    def _forget_runner(self) -> None:
        self._channel: socket.socket | None = None
        self._process: psutil.Process | None = None
        self._ended: int | None = None
        self._said = bytearray()

    @property
    def seconds(self) -> float:
        """How long the present job has been running."""
        return time.monotonic() - self._since

    def start(self, job: Job) -> None:
        """Hand a job to the runner, or to a new one if there is none."""
        self._drain_log()
        self._tail.clear()
        self.job = self.last = job
        self._since, self._peak_mb, self._next_family = time.monotonic(), 0.0, 0.0
        self._hear_keeper()
        if self._ended is not None or not self._keeper_lives():
            self._drop_runner()  # it died between two jobs
        work = frame({"job": asdict(job), "limits": asdict(self.limits)})
        for _ in range(2):
            with contextlib.suppress(OSError):  # it dies just now
                channel = self._channel or self._fork(job)
                channel.settimeout(KEEPER_SECONDS)
                channel.sendall(work)
                channel.setblocking(False)
                return
            self._drop_runner()

    def poll(self) -> Outcome | None:
        """The outcome of the present job if it has ended, by itself or by our hand."""
        if self.job is None:
            return None
        self._drain_log()
        self._hear_keeper()
        outcome = self._hear_runner() or self._enforce()
        if outcome is not None:
            self.job = None
        return outcome

    def close(self, wait: bool = True) -> None:
        """Stop whatever runs here; the keeper ends all of it when its socket closes."""
        self.job = None
        self._drop_runner(tell=False)
        if self._control is not None:
            self._control.close()
            self._control = None
        if wait and self._keeper is not None:
            try:
                self._keeper.wait(KEEPER_SECONDS)
            except subprocess.TimeoutExpired:  # it was stopped, and so cannot end its children
                with contextlib.suppress(psutil.Error):
                    keeper = psutil.Process(self._keeper.pid)
                    for each in (*keeper.children(recursive=True), keeper):
                        with contextlib.suppress(psutil.NoSuchProcess):
                            each.kill()
                self._keeper.wait()
            self._keeper = None

    def __del__(self) -> None:
        for descriptor in (self._log, self._log_end):
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def _keeper_lives(self) -> bool:
        return self._keeper is not None and self._keeper.poll() is None

    def _fork(self, job: Job) -> socket.socket:
        """Ask the keeper for a runner, which gets its ends of a new socket and of the log."""
        if not self._keeper_lives():
            self.close()
            self.job, self._ready, self._news = job, False, bytearray()
            self._control, theirs = socket.socketpair()
            with theirs:
                program = f"from {frame.__module__} import main; main({theirs.fileno()})"
                self._keeper = subprocess.Popen(
                    [sys.executable, "-c", program],
                    stdin=subprocess.DEVNULL,
                    stdout=self._log_end,
                    stderr=self._log_end,
                    pass_fds=[theirs.fileno()],
                    env=worker_environment(),
                    start_new_session=True,
                )
            self._control.setblocking(False)
        assert self._control is not None
        self._forget_runner()
        self._forks += 1
        self._channel, theirs = socket.socketpair()
        split = (job.dataset, job.protocol, job.trial)
        command = {"do": "fork", "number": self._forks, "method": job.method, "split": split}
        with theirs:
            socket.send_fds(self._control, [frame(command)], [theirs.fileno(), self._log_end])
        return self._channel

    def _drop_runner(self, tell: bool = True) -> None:
        """Let the keeper end the runner and all that it started."""
        if self._channel is not None:
            self._channel.close()
            if tell and self._control is not None and self._ended is None:
                with contextlib.suppress(OSError):
                    self._control.sendall(frame({"do": "kill"}))
            self._forget_runner()

    def _hear_keeper(self) -> None:
        if self._control is None:
            return
        with contextlib.suppress(BlockingIOError, ConnectionError):
            self._news += self._control.recv(1 << 16)
        while (news := take_frame(self._news)) is not None:
            if "ready" in news:
                self._ready, self._since = True, time.monotonic()
            elif news.get("began") == self._forks:
                with contextlib.suppress(psutil.Error):
                    self._process = psutil.Process(news["pid"])
            elif news.get("ended") == self._forks:
                self._ended = news["status"]

    def _hear_runner(self) -> Outcome | None:
        if self._channel is not None:
            with contextlib.suppress(BlockingIOError, ConnectionError):
                while got := self._channel.recv(1 << 20):
                    self._said += got
        try:
            found = take_frame(self._said)
        except UnreadableError as problem:
            return self._end("crash", f"sent something unreadable: {problem}")
        if found is not None:
            return self._accept(found)
        if self._keeper_lives() and self._channel is not None and self._ended is None:
            return None
        if self._ended is None:
            return self._end("crash", "the worker is gone")
        if self._ended >= 0:
            return self._end("crash", f"exited with status {self._ended}")
        names = {number.value: number.name for number in signal.Signals}
        cause = f"killed by {names.get(-self._ended, f'signal {-self._ended}')}"
        if self._peak_mb > NEARLY * self.limits.memory_mb:
            return self._end("memory", f"{cause} with {self._peak_mb:,.0f} MB in use")
        hint = ", perhaps by the system for want of memory"
        return self._end("crash", cause + hint * (-self._ended == signal.SIGKILL))

    def _accept(self, message: dict[str, Any]) -> Outcome:
        assert self.job is not None
        run, environment = message.get("run"), message.get("environment")
        packed = None
        with contextlib.suppress(TypeError, ValueError):
            packed = base64.b64decode(message.get("predictions") or b"") or None
        if not isinstance(run, dict) or run.get("key") != self.job.key or self._said:
            return self._end("crash", "sent something that is no answer to its job")
        if run.get("status") != "ok":
            self._drain_log()
            run["log_tail"] = run.get("log_tail") or self._log_tail()
        worn_out = _memory_of(self._process, "rss") > self.limits.memory_mb / 2
        if not message.get("reusable") or worn_out:
            self._drop_runner()
        known = isinstance(environment, dict) and environment.get("id") == run.get("environment")
        return Outcome(run, packed, environment if known else None)

    def _enforce(self) -> Outcome | None:
        if not self._ready:
            late = f"the worker did not start in {STARTUP_SECONDS:.0f} s"
            return self._end("crash", late) if self.seconds > STARTUP_SECONDS else None
        # The runner's own memory at every look; that of all it started, now and then. Pages that
        # several of them share are counted once, where that makes a difference.
        family = [self._process]
        if time.monotonic() > self._next_family and self._process is not None:
            self._next_family = time.monotonic() + FAMILY_SECONDS
            with contextlib.suppress(psutil.Error):
                family += self._process.children(recursive=True)
        used = sum(_memory_of(each, "rss") for each in family)
        if used > self.limits.memory_mb and len(family) > 1:
            used = sum(_memory_of(each, "pss") for each in family)
        self._peak_mb = max(self._peak_mb, used)
        if used > self.limits.memory_mb:
            return self._end("memory", f"more than {self.limits.memory_mb:,.0f} MB")
        if self.seconds <= self.limits.seconds:
            return None
        if self._said:
            return self._end("crash", "sent half an answer")
        return self._end("timeout", f"more than {duration(self.limits.seconds)}")

    def _end(self, status: Status, reason: str) -> Outcome:
        """End the present job and its runner: by its keeper or, if that takes long, with it."""
        assert self.job is not None
        job, deadline = self.job, time.monotonic() + KEEPER_SECONDS
        running = self._ended is None
        self._drop_runner()
        while running and self._control is not None:
            self._hear_keeper()
            running = self._ended is None
            if running and time.monotonic() > deadline:
                self.close()
            elif running:
                select.select([self._control], [], [], LOOK_SECONDS)
        self._drain_log()
        limit = {"timeout": self.limits.seconds, "memory": self.limits.memory_mb}.get(status)
        used = {"log_tail": self._log_tail(), "peak_memory_mb": round(self._peak_mb, 1) or None}
        return ended(job, status, reason, limit_value=limit, **used)

    def _drain_log(self) -> None:
        """Take what was printed, keeping the end of it only, and not for ever."""
        with contextlib.suppress(BlockingIOError):
            for _ in range(16):
                self._tail += os.read(self._log, LOG_BYTES)
                del self._tail[:-LOG_BYTES]

    def _log_tail(self) -> str:
        lines = bytes(self._tail).splitlines(keepends=True)
        kept = b"".join(line for line in lines if not line.startswith(NOISE))
        return clean(kept.decode(errors="replace"), "log_tail")


def _memory_of(process: psutil.Process | None, kind: str) -> float:
    """MiB of a process, which may be gone, or not tell its proportional share."""
    with contextlib.suppress(psutil.Error, AttributeError):
        if process is not None:
            info = process.memory_full_info() if kind == "pss" else process.memory_info()
            return float(getattr(info, kind)) / 2**20
    return 0.0


def wait_for_news(supervisors: list[Supervisor], seconds: float) -> None:
    """Sleep until some worker says something or time is up."""
    poll = select.poll()
    for one in supervisors:
        for source in (one._log, one._control, one._channel):
            if source is not None:
                poll.register(source, select.POLLIN)
    poll.poll(1000 * max(0.0, seconds))
