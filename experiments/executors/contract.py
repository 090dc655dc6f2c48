"""What every executor offers; the session that drives them knows nothing else."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from experiments.planning.jobs import Job
from experiments.running.perform import Outcome


@dataclass(frozen=True)
class Limits:
    """What one job may use.

    Attributes
    ----------
    seconds : wall-clock time from start to answer, loading included.
    memory_mb : resident memory of the worker process.
    threads : threads of every numerical library.
    """

    seconds: float = 3600.0
    memory_mb: float = 8192.0
    threads: int = 1


@dataclass(frozen=True)
class Running:
    """A job in flight and how long it has been."""

    job: Job
    seconds: float
    where: str


class Executor(Protocol):
    """Start jobs, collect outcomes. Every started job ends in exactly one outcome."""

    def free(self) -> int:
        """How many more jobs may be started now."""

    def start(self, job: Job) -> None:
        """Begin a job; returns at once where the executor can."""

    def wait(self, seconds: float) -> list[Outcome]:
        """The outcomes since last asked, waiting up to ``seconds`` for the first."""

    def running(self) -> Sequence[Running]:
        """The jobs in flight."""

    def close(self) -> None:
        """Stop whatever runs, leaving no process behind."""


def memory_share(workers: int) -> float:
    """A fair memory limit in MiB: four fifths of the machine, shared by its workers."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**20
    return 0.8 * total / workers
