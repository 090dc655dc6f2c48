"""Jobs in supervised worker processes of this machine."""

from __future__ import annotations

import time

from experiments.core.job import Job
from experiments.core.outcome import Limits, Outcome, Running
from experiments.runner.executors import cleanup
from experiments.runner.executors.supervisor import Supervisor, wait_for_news

LOOK_SECONDS = 0.05
"""How often limits are checked while nothing is heard."""


class ProcessExecutor:
    """Runs up to ``workers`` jobs at a time, each within its limits.

    Workers are reused from job to job, so libraries are imported and compiled
    once, and replaced when they die or are not fit to go on.
    """

    def __init__(self, workers: int, limits: Limits) -> None:
        if workers < 1:
            raise ValueError(f"{workers} workers: at least one is needed")
        self._marker = cleanup.new_marker()
        self._janitor = cleanup.hire(self._marker)
        self._places = [
            Supervisor(f"worker {n}", self._marker, limits) for n in range(1, workers + 1)
        ]

    def free(self) -> int:
        return sum(place.job is None for place in self._places)

    def start(self, job: Job) -> None:
        next(place for place in self._places if place.job is None).start(job)

    def wait(self, seconds: float) -> list[Outcome]:
        deadline = time.monotonic() + seconds
        while True:
            outcomes = [outcome for place in self._places if (outcome := place.poll())]
            left = deadline - time.monotonic()
            if outcomes or left <= 0 or not self.running():
                return outcomes
            wait_for_news(self._places, min(left, LOOK_SECONDS))

    def running(self) -> list[Running]:
        return [
            Running(place.job, place.seconds, place.name)
            for place in self._places
            if place.job is not None
        ]

    def close(self) -> None:
        for place in self._places:
            place.close()
        cleanup.dismiss(self._janitor)
