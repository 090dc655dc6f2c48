"""What every executor offers, and the simplest one: jobs in this very process."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

from experiments.core.job import Job
from experiments.core.outcome import Outcome, Running
from experiments.runner.perform import perform


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


class InlineExecutor:
    """Does its one job while it is waited for. A hang hangs, a crash crashes."""

    def __init__(self) -> None:
        self._job: Job | None = None
        self._since = 0.0

    def free(self) -> int:
        return 0 if self._job else 1

    def start(self, job: Job) -> None:
        self._job, self._since = job, time.monotonic()

    def wait(self, seconds: float) -> list[Outcome]:
        if self._job is None:
            return []
        outcome = perform(self._job)
        self._job = None
        return [outcome]

    def running(self) -> list[Running]:
        if self._job is None:
            return []
        return [Running(self._job, time.monotonic() - self._since, "here")]

    def close(self) -> None:
        """Nothing is left running by an inline executor."""
