"""The two processes of a worker: a keeper, and the runner that it forks to do jobs.

The keeper imports what most jobs need and runs no learner, so that every runner begins clean and at
once. It is the reaper of all that its runner starts: whatever a learner left, in whatever session,
ends with its runner, and all of it with the supervisor, whose socket then closes. They exchange
lines of JSON: nothing that a learner may have written is ever unpickled.
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
from pathlib import Path
from typing import Any, NoReturn

import psutil

from experiments.runs.schema import Job, Limits

LARGEST_FRAME = 1 << 28
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


class UnreadableError(ValueError):
    """Bytes that are no message."""


def frame(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def take_frame(buffer: bytearray) -> dict[str, Any] | None:
    """Cut the first message off a buffer; ``None`` while it is not complete."""
    line, end, _ = buffer.partition(b"\n")
    if len(line) > LARGEST_FRAME or not b"{".startswith(line[:1]):
        raise UnreadableError(f"{bytes(line[:20])!r}")
    if not end:
        return None
    del buffer[: len(line) + 1]
    try:
        return dict(json.loads(line))
    except (ValueError, RecursionError):
        raise UnreadableError(f"{bytes(line[:20])!r}") from None


# The runner.


def run_jobs(channel: socket.socket) -> NoReturn:
    """Do the jobs that come, one after the other, until there are no more."""
    from experiments.runner import registry
    from experiments.runner.run_job import failure, run_job

    faulthandler.enable()
    buffer = bytearray()
    while True:
        while (found := take_frame(buffer)) is None:
            got = channel.recv(1 << 16)
            if not got:
                os._exit(0)
            buffer += got
        job, limits = Job(**found["job"]), Limits(**found["limits"])
        limit_memory(limits.memory_mb)
        outcome = run_job(job)
        run, plugin = outcome.run, job.method in registry.from_plugins("learner")
        if run["status"] == "memory":
            run["limit_value"] = limits.memory_mb
        flush()
        reusable = run["status"] != "memory" and not plugin and not has_children()
        answer = {"reusable": reusable, "environment": outcome.environment}
        packed = base64.b64encode(outcome.predictions or b"").decode()
        try:
            data = frame({**answer, "run": run, "predictions": packed})
        except (TypeError, ValueError) as problem:  # a learner's object among the numbers
            data = frame({**answer, "run": failure(job, problem)})
        channel.sendall(data)


def limit_memory(memory_mb: float) -> None:
    """A backstop for sudden allocations; the supervisor watches what is really used. Half as much
    again as the limit, on top of what libraries have taken: more is reserved than is used.
    """
    taken = getattr(psutil.Process().memory_info(), "data", 0)  # known on Linux
    soft = taken + int(1.5 * memory_mb * 2**20)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        soft = min(soft, hard)
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
    """Forks a runner when told to, and ends it with all that it started."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._runner = self._number = 0

    def serve(self) -> None:
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake)
        signal.signal(signal.SIGCHLD, lambda number, stack: None)
        self._tell(ready=True)
        while True:
            ready, _, _ = select.select([self._control.fileno(), woken], [], [])
            if woken in ready:
                os.read(woken, 1 << 10)
                self._note_end(os.WNOHANG)
            if self._control.fileno() in ready:
                said, handed, _, _ = socket.recv_fds(self._control, 1 << 16, 2)
                if not said:
                    self._kill()
                    return
                for line in said.splitlines():
                    command = json.loads(line)
                    self._kill()
                    if command["do"] == "fork":
                        self._fork(command, handed)

    def _fork(self, command: dict[str, Any], handed: list[int]) -> None:
        from experiments.runner import registry
        from experiments.runner.run_job import load_split

        with contextlib.suppress(Exception):  # the job itself will say what is wrong
            if command["method"] in registry.from_plugins("learner"):  # each gets a runner
                load_split(*command["split"])
        pid = os.fork()
        if not pid:
            self._become_runner(*handed)
        for descriptor in handed:
            os.close(descriptor)
        self._runner, self._number = pid, command["number"]
        self._tell(began=self._number, pid=pid)

    def _become_runner(self, channel: int, log: int) -> NoReturn:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            adopt(die_with_parent=True)
            self._control.close()
            os.dup2(log, 1)
            os.dup2(log, 2)
            os.set_inheritable(channel, False)
            os.close(log)
            run_jobs(socket.socket(fileno=channel))
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            flush()
            os._exit(70)

    def _kill(self) -> None:
        if self._runner:
            os.kill(self._runner, signal.SIGKILL)
            self._note_end(0)

    def _note_end(self, options: int) -> None:
        """If the runner has ended, end what it left behind, and say so."""
        pid, status = os.waitpid(self._runner, options) if self._runner else (0, 0)
        if pid:
            self._runner = 0
            end_children()
            self._tell(ended=self._number, status=os.waitstatus_to_exitcode(status))

    def _tell(self, **news: Any) -> None:
        with contextlib.suppress(OSError):  # the supervisor is gone, which the socket tells
            self._control.sendall(frame(news))


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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # interrupts are the supervisor's business
    control = socket.socket(fileno=descriptor)
    control.set_inheritable(False)
    adopt()
    # Linux schedules a session as one group with a niceness of its own, and every worker has a
    # session: let `nice` before a run count for its workers too.
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(f"{os.nice(0)}\n")
    # Imported here once for all runners, before the clock of the first job starts.
    for name in ("pandas", "sklearn.tree", "gradtree", "experiments.runner.run_job"):
        importlib.import_module(name)
    from experiments.runner import machine, registry

    registry.entries("learner")
    machine.describe()
    machine.commit()
    gc.collect()
    gc.freeze()  # what all runners share is then not copied for each
    Keeper(control).serve()
