"""Jobs in this very process: nothing can be limited, but a debugger can be used."""

from __future__ import annotations

from experiments.executors.contract import Running
from experiments.jobs import Job
from experiments.perform import Outcome, perform


class InlineExecutor:
    """Runs each job when it is started. A hang hangs, a crash crashes."""

    def __init__(self) -> None:
        self._finished: list[Outcome] = []

    def free(self) -> int:
        return 0 if self._finished else 1

    def start(self, job: Job) -> None:
        self._finished.append(perform(job))

    def wait(self, seconds: float) -> list[Outcome]:
        finished, self._finished = self._finished, []
        return finished

    def running(self) -> list[Running]:
        return []

    def close(self) -> None:
        """Nothing is left running by an inline executor."""
