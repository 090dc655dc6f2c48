"""Where jobs run: in this process, in supervised processes, or (``dask``) on a cluster."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from experiments.runner.executors.supervisor import LOOK_SECONDS, Supervisor, wait_for_news
from experiments.runner.run_job import Outcome, run_job
from experiments.runs.schema import Job, Limits


@dataclass(frozen=True)
class Running:
    """A job in flight, how long it has been, and where."""

    job: Job
    seconds: float
    where: str


class Executor(Protocol):
    """Starts jobs, of which every one ends in exactly one outcome.

    ``free`` is how many more may be started; ``wait`` gives the outcomes since last asked, waiting
    up to ``seconds`` for the first; ``close`` stops whatever runs and leaves no process behind.
    """

    def free(self) -> int: ...
    def start(self, job: Job) -> None: ...
    def wait(self, seconds: float) -> list[Outcome]: ...
    def running(self) -> Sequence[Running]: ...
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

    def running(self) -> list[Running]:
        return [Running(self._job, 0.0, "here")] if self._job else []

    def close(self) -> None:
        """Nothing is left running by an inline executor."""


class LocalExecutor:
    """Runs up to ``workers`` jobs at a time, each within its limits, in workers that are reused: a
    job goes to one that has done similar, and imports, compiles and splits once.
    """

    def __init__(self, workers: int, limits: Limits) -> None:
        self._idle = [Supervisor(f"worker {n}", limits) for n in range(workers, 0, -1)]
        self._busy: list[Supervisor] = []

    def free(self) -> int:
        return len(self._idle)

    def start(self, job: Job) -> None:
        best = max(range(len(self._idle)), key=lambda n: (_likeness(self._idle[n].last, job), n))
        place = self._idle.pop(best)
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

    def running(self) -> list[Running]:
        return [Running(p.job, p.seconds, p.name) for p in self._busy if p.job is not None]

    def close(self) -> None:
        for wait in (False, True):
            for place in (*self._busy, *self._idle):
                place.close(wait)


def _likeness(last: Job | None, job: Job) -> int:
    """How much of a job's work a worker that did ``last`` may have done already."""
    if last is None:
        return 0
    if last.sharing == job.sharing:
        return 4
    same_split = (last.protocol, last.dataset, last.trial) == (job.protocol, job.dataset, job.trial)
    return 1 + 2 * same_split + (last.method == job.method)


EXECUTORS: dict[str, Callable[[int, Limits], Executor]] = {
    "local": LocalExecutor,
    "inline": InlineExecutor,
}
"""By name; a Dask cluster is named by the address of its scheduler instead."""
