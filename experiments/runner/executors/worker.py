"""The process that does jobs for a supervisor: one after the other until told to stop.

Talks over one socket. For each job it answers ``BEGIN`` and then an
``Answer``; anything else that happens (a signal, an exit, silence) is for the
supervisor to interpret.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import math
import os
import resource
import signal
import sys
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from experiments.core.job import Job, Limits
from experiments.core.record import Outcome
from experiments.runner import plugins
from experiments.runner.perform import perform

BEGIN = "begin"
GRACE_SECONDS = 60
"""After its limit a worker ends itself, should there be no supervisor left to do it."""
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Answer:
    """A job's outcome, and whether the worker can be given another job."""

    outcome: Outcome
    reusable: bool


def main() -> None:
    connection = Connection(int(sys.argv[1]))
    os.set_inheritable(connection.fileno(), False)
    faulthandler.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # interrupts are the supervisor's business
    adopt_orphans()
    keep_priority()
    plugins.method_slugs()  # found before the clock of the first job starts
    while True:
        try:
            job, limits = connection.recv()
        except EOFError:
            return
        connection.send(BEGIN)
        connection.send(answer(job, limits))


def answer(job: Job, limits: Limits) -> Answer:
    signal.alarm(math.ceil(limits.seconds) + GRACE_SECONDS)
    limit_memory(limits.memory_mb)
    outcome = perform(job)
    signal.alarm(0)
    flush()
    record = outcome.record
    if record.status == "memory":
        record = replace(record, extra={**record.extra, "limit": limits.memory_mb})
    reusable = record.status != "memory" and not has_children()
    return Answer(Outcome(record, outcome.predictions), reusable)


def limit_memory(memory_mb: float) -> None:
    """A backstop for sudden allocations; the supervisor watches what is really used.

    Half as much again as the limit, on top of what the libraries have taken
    already: address space is reserved more freely than it is used.
    """
    taken = 0
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmData:"):
                taken = int(line.split()[1]) * 1024
    soft = taken + int(1.5 * memory_mb * 2**20)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        soft = min(soft, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def adopt_orphans() -> None:
    """Let grandchildren whose parents died come to this process, where they can be seen."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def keep_priority() -> None:
    """Let ``nice`` before a run count for its workers too.

    Linux schedules a session as one group, with a niceness of its own, and every worker has a
    session of its own.
    """
    with contextlib.suppress(OSError):  # not Linux, or without such groups
        Path("/proc/self/autogroup").write_text(f"{os.nice(0)}\n")


def has_children() -> bool:
    """Whether a job left processes behind; those that have ended are reaped on the way."""
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


if __name__ == "__main__":
    # Under its real name, so that what it sends can be unpickled elsewhere.
    from experiments.runner.executors.worker import main as run

    run()
