"""Where jobs run: in this process, in supervised processes, or (``dask``) on a cluster."""

import time
from collections.abc import Callable
from operator import attrgetter
from typing import Protocol

from experiments.runner.executors.supervisor import LOOK_SECONDS, Supervisor, wait_for_news
from experiments.runner.run_job import Outcome, run_job
from experiments.runs.schema import Job, Limits


class Executor(Protocol):
    """Starts jobs, of which every one ends in exactly one outcome.

    ``free`` is how many more may be started; ``wait`` gives the outcomes since last asked, waiting
    up to ``seconds`` for the first; ``running`` says for how many seconds each job has been;
    ``close`` stops whatever runs and leaves no process behind.
    """

    def free(self) -> int: ...
    def start(self, job: Job) -> None: ...
    def wait(self, seconds: float) -> list[Outcome]: ...
    def running(self) -> list[tuple[Job, float]]: ...
    def close(self) -> None: ...


class InlineExecutor:
    """Does its one job while it is waited for, without limits, for debugging."""

    def __init__(self, workers: int = 1, limits: Limits | None = None) -> None:
        self._job: Job | None = None

    def free(self) -> int:
        return 0 if self._job else 1

    def start(self, job: Job) -> None:
        self._job = job

    def wait(self, seconds: float) -> list[Outcome]:
        job, self._job = self._job, None
        return [] if job is None else [run_job(job)]

    def running(self) -> list[tuple[Job, float]]:
        return [(self._job, 0.0)] if self._job else []

    def close(self) -> None:
        """Nothing is left running by an inline executor."""


class LocalExecutor:
    """Runs up to ``workers`` jobs at a time, each within its limits, in workers that are reused: a
    job goes to one that has done similar, and imports, compiles and splits once.
    """

    def __init__(self, workers: int, limits: Limits) -> None:
        self._idle = [Supervisor(limits) for _ in range(workers)]
        self._busy: list[Supervisor] = []

    def free(self) -> int:
        return len(self._idle)

    def start(self, job: Job) -> None:
        place = max(self._idle, key=lambda each: _likeness(each.last, job))
        self._idle.remove(place)
        self._busy.append(place)
        place.start(job)

    def wait(self, seconds: float) -> list[Outcome]:
        deadline = time.monotonic() + seconds
        while True:
            outcomes = []
            for place in list(self._busy):
                if outcome := place.poll():
                    outcomes.append(outcome)
                    self._busy.remove(place)
                    self._idle.append(place)
            left = deadline - time.monotonic()
            if outcomes or left <= 0 or not self._busy:
                return outcomes
            wait_for_news(self._busy, min(left, LOOK_SECONDS))

    def running(self) -> list[tuple[Job, float]]:
        return [(place.job, place.seconds) for place in self._busy if place.job is not None]

    def close(self) -> None:
        for place in (*self._busy, *self._idle):
            place.close()


def _likeness(last: Job | None, job: Job) -> tuple[bool, ...]:
    """How much of a job's work a worker that did ``last`` may have done already."""
    if last is None:
        return ()
    split = attrgetter("protocol", "dataset", "trial")
    return last.sharing == job.sharing, split(last) == split(job), last.method == job.method


EXECUTORS: dict[str, Callable[[int, Limits], Executor]] = {
    "local": LocalExecutor,
    "inline": InlineExecutor,
}
"""By name; a Dask cluster is named by the address of its scheduler instead."""
