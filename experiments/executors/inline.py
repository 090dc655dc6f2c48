"""Jobs in this very process: nothing can be limited, but a debugger can be used."""

from __future__ import annotations

import time

from experiments.executors.contract import Running
from experiments.planning.jobs import Job
from experiments.running.perform import Outcome, perform


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
