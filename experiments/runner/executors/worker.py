"""The two processes of a worker: a keeper, and the runner that it forks to do jobs.

The keeper imports what most jobs need and runs no learner, so that every runner begins clean and at
once. It holds each job to its limits, and is the reaper of all that its runner starts: whatever a
learner left, in whatever session, ends with its runner, and all of it with the supervisor, whose
socket then closes. They exchange lines of JSON: nothing that a learner may have written is ever
unpickled.
"""

import base64
import contextlib
import ctypes
import faulthandler
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from typing import Any, NoReturn

import psutil

from experiments.runner import machine, registry
from experiments.runner.run_job import clean, ended, failure, load_split, run_job
from experiments.runs.schema import Job, Limits, Status
from experiments.text import duration

LOOK_SECONDS = 0.05
"""How often limits are checked while nothing is heard."""
FAMILY_SECONDS = 1.0
"""How often the memory of a runner's children is added, which costs more than its own."""
NEARLY = 0.8
"""A runner that dies with this share of its memory limit in use died of it."""
LOG_BYTES = 1 << 16
NOISE = b"Extension modules:"
"""After the Python stack of a crash comes one long line that names every compiled module."""
LARGEST_FRAME = 1 << 28
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def frame(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def take_frame(buffer: bytearray) -> dict[str, Any] | None:
    """Cut the first message off a buffer; ``None`` while it is not complete."""
    line, end, _ = buffer.partition(b"\n")
    try:
        if len(line) > LARGEST_FRAME or not b"{".startswith(line[:1]):
            raise ValueError
        if not end:
            return None
        del buffer[: len(line) + 1]
        return dict(json.loads(line))
    except (ValueError, RecursionError):
        raise ValueError(f"{bytes(line[:20])!r}") from None


# The runner.


def run_jobs(channel: socket.socket) -> NoReturn:
    """Do the jobs that come, one after the other, until there are no more."""
    faulthandler.enable()
    for line in channel.makefile("rb"):
        found = json.loads(line)
        job, limits = Job(**found["job"]), Limits(**found["limits"])
        limit_memory(limits.memory_mb)
        outcome = run_job(job)
        run, plugin = outcome.run, job.method in registry.from_plugins("learner")
        if run["status"] == "memory":
            run["limit_value"] = limits.memory_mb
        flush()
        reusable = run["status"] != "memory" and not plugin and not has_children()
        packed = base64.b64encode(outcome.predictions or b"").decode()
        try:
            data = frame({"reusable": reusable, "run": run, "predictions": packed})
        except (TypeError, ValueError) as problem:  # a learner's object among the numbers
            data = frame({"reusable": reusable, "run": failure(job, problem)})
        channel.sendall(data)
    os._exit(0)


def limit_memory(memory_mb: float) -> None:
    """A backstop for sudden allocations; the keeper watches what is really used. Half as much
    again as the limit, on top of what libraries have taken: more is reserved than is used.
    """
    taken = getattr(psutil.Process().memory_info(), "data", 0)  # known on Linux
    soft, (_, hard) = taken + int(1.5 * memory_mb * 2**20), resource.getrlimit(resource.RLIMIT_DATA)
    if hard == resource.RLIM_INFINITY or soft < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def has_children() -> bool:
    """Whether this process has any; those that have ended are reaped on the way."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True  # there are children, none of them has ended
    return False


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    ctypes.CDLL(None).fflush(None)


# The keeper.


class Keeper:
    """Has jobs done by a runner, each within its limits, and ends it with all that it started."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._log, self._log_end = os.pipe()
        os.set_blocking(self._log, False)
        self._tail = bytearray()
        self._runner: psutil.Process | None = None

    def serve(self) -> None:
        self._control.sendall(frame({"ready": True}))
        for line in self._control.makefile("rb"):
            found = json.loads(line)
            answer = self._do(Job(**found["job"]), Limits(**found["limits"]), line)
            self._control.sendall(frame(answer))
        self._end_runner()

    def _do(self, job: Job, limits: Limits, line: bytes) -> dict[str, Any]:
        """What the runner answers to a job, or how the job ended without an answer."""
        self._drain_log()
        self._tail.clear()
        if self._runner is None or self._exit_status() is not None:
            self._end_runner()
            self._fork(job)
        with contextlib.suppress(OSError):  # it dies just now
            self._channel.sendall(line)
        self._said, self._began = bytearray(), time.monotonic()
        self._peak_mb = self._next_family = 0.0
        end: tuple[Status, str] | None = None
        while end is None:
            sources: list[Any] = [self._control, self._channel, self._log]
            if self._control in select.select(sources, [], [], LOOK_SECONDS)[0]:
                self._end_runner()  # the supervisor is gone
                os._exit(0)
            status = self._exit_status()
            self._drain_log()
            self._hear()
            try:
                found = take_frame(self._said)
            except ValueError as problem:
                end = "crash", f"sent something unreadable: {problem}"
                continue
            if found is None:
                end = self._overstepped(limits) if status is None else self._cause(status, limits)
            elif self._answers(job, found):
                worn_out = _memory_of(self._runner, "rss") > limits.memory_mb / 2
                if worn_out or not found.get("reusable") or status is not None:
                    self._end_runner()
                if found["run"].get("status") != "ok":
                    found["run"]["log_tail"] = found["run"].get("log_tail") or self._log_tail()
                return found
            else:
                end = "crash", "sent something that is no answer to its job"
        self._end_runner()
        self._drain_log()
        told: dict[str, Any] = {"log_tail": self._log_tail()}
        told["limit_value"] = {"timeout": limits.seconds, "memory": limits.memory_mb}.get(end[0])
        told["peak_memory_mb"] = round(self._peak_mb, 1) or None
        return {"run": ended(job, *end, **told).run}

    def _hear(self) -> None:
        with contextlib.suppress(BlockingIOError, ConnectionError):
            while got := self._channel.recv(1 << 20):
                self._said += got
            time.sleep(LOOK_SECONDS / 10)  # it closed the channel, and so will end soon

    def _answers(self, job: Job, found: dict[str, Any]) -> bool:
        """Whether a message is an answer to this very job, and all that was said."""
        with contextlib.suppress(TypeError, ValueError):
            base64.b64decode(found.get("predictions") or b"")
            run = found.get("run")
            return isinstance(run, dict) and run.get("key") == job.key and not self._said
        return False

    def _overstepped(self, limits: Limits) -> tuple[Status, str] | None:
        if self._memory(limits) > limits.memory_mb:
            return "memory", f"more than {limits.memory_mb:,.0f} MB"
        if time.monotonic() - self._began <= limits.seconds:
            return None
        if self._said:
            return "crash", "sent half an answer"
        return "timeout", f"more than {duration(limits.seconds)}"

    def _cause(self, status: int, limits: Limits) -> tuple[Status, str]:
        """Of a runner's end, by its exit status."""
        if status >= 0:
            return "crash", f"exited with status {status}"
        names = {number.value: number.name for number in signal.Signals}
        cause = f"killed by {names.get(-status, f'signal {-status}')}"
        if self._peak_mb > NEARLY * limits.memory_mb:
            return "memory", f"{cause} with {self._peak_mb:,.0f} MB in use"
        hint = ", perhaps by the system for want of memory"
        return "crash", cause + hint * (-status == signal.SIGKILL)

    def _memory(self, limits: Limits) -> float:
        """The runner's own memory at every look; that of all it started, now and then. Pages that
        several of them share are counted once, where that makes a difference.
        """
        family = [self._runner]
        if time.monotonic() > self._next_family and self._runner is not None:
            self._next_family = time.monotonic() + FAMILY_SECONDS
            with contextlib.suppress(psutil.Error):
                family += self._runner.children(recursive=True)
        used = sum(_memory_of(each, "rss") for each in family)
        if len(family) > 1 and used > limits.memory_mb:
            used = sum(_memory_of(each, "pss") for each in family)
        self._peak_mb = max(self._peak_mb, used)
        return used

    def _fork(self, job: Job) -> None:
        with contextlib.suppress(Exception):  # the job itself will say what is wrong
            if job.method in registry.from_plugins("learner"):  # each gets a runner
                load_split(job.dataset, job.protocol, job.trial)
        self._channel, theirs = socket.socketpair()
        pid = os.fork()
        if not pid:
            self._become_runner(theirs)
        theirs.close()
        self._channel.setblocking(False)
        self._runner = psutil.Process(pid)

    def _become_runner(self, channel: socket.socket) -> NoReturn:
        try:
            adopt(die_with_parent=True)
            for descriptor in (1, 2):
                os.dup2(self._log_end, descriptor)
            ours = self._control.detach(), self._channel.detach(), self._log, self._log_end
            for descriptor in ours:
                os.close(descriptor)
            run_jobs(channel)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            flush()
            os._exit(70)

    def _exit_status(self) -> int | None:
        """Of the runner, once it has ended."""
        assert self._runner is not None
        pid, status = os.waitpid(self._runner.pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status) if pid else None

    def _end_runner(self) -> None:
        """And all that it started."""
        if self._runner is not None:
            end_children()
            self._channel.close()
            self._runner = None

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


def adopt(die_with_parent: bool = False) -> None:
    """Let orphans among the descendants come to this process."""
    if sys.platform.startswith("linux"):
        prctl = ctypes.CDLL(None).prctl
        prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        if die_with_parent:
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def end_children() -> None:
    """Kill all descendants; those in sessions of their own have come here as orphans."""
    while has_children():
        found = psutil.Process().children(recursive=True)
        for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped first, none forks its way out
            for child in found:
                with contextlib.suppress(psutil.Error):
                    child.send_signal(number)
        select.select([], [], [], 0.002)


def main(descriptor: int) -> None:
    control = socket.socket(fileno=descriptor)
    control.set_inheritable(False)
    adopt()
    # Imported here once for all runners, before the clock of the first job starts.
    for name in ("pandas", "sklearn.tree", "gradtree"):
        importlib.import_module(name)
    registry.entries("learner")
    machine.describe()
    machine.commit()
    gc.collect()
    gc.freeze()  # what all runners share is then not copied for each
    Keeper(control).serve()
