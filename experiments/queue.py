"""The order in which jobs leave for the workers."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable

from experiments.jobs import Job
from experiments.perform import now
from experiments.record import RunRecord


class Queue:
    """Hands out jobs one by one and draws conclusions from how they end.

    Jobs keep their order, with two exceptions. The first job of a group goes
    ahead as a scout: the others wait while there is other work, since they
    need not run if it exceeds its limits. Jobs that must run alone come last
    and only when nothing else runs.

    Parameters
    ----------
    jobs : in the order to do them.
    give_up : after a job exceeded its time or memory, record the rest of its
        group as such without trying.
    """

    def __init__(self, jobs: Iterable[Job], give_up: bool = True) -> None:
        self._shared: OrderedDict[str, Job] = OrderedDict()
        self._alone: OrderedDict[str, Job] = OrderedDict()
        for job in jobs:
            (self._alone if job.measured == "alone" else self._shared)[job.key] = job
        self._in_flight: dict[str, Job] = {}
        self._scouts: Counter[tuple[str, ...]] = Counter()
        self._proven: set[tuple[str, ...]] = set()
        self._give_up = give_up

    def __len__(self) -> int:
        return len(self._shared) + len(self._alone)

    def take(self) -> Job | None:
        """The next job that may start now, or ``None`` if all have to wait."""
        if any(job.measured == "alone" for job in self._in_flight.values()):
            return None
        job = self._next_shared()
        if job is None and self._alone and not self._in_flight:
            job = next(iter(self._alone.values()))
        if job is None:
            return None
        self._remove(job)
        self._in_flight[job.key] = job
        self._scouts[job.group] += 1
        return job

    def finish(self, record: RunRecord) -> list[RunRecord]:
        """Note how a job ended; the records it settles without their being tried."""
        job = self._in_flight.pop(record.key)
        self._scouts[job.group] -= 1
        self._proven.add(job.group)
        if not self._give_up or record.status not in ("timeout", "memory"):
            return []
        hopeless = [j for j in self._pending() if j.group == job.group]
        for other in hopeless:
            self._remove(other)
        return [_foregone(other, record) for other in hopeless]

    def _next_shared(self) -> Job | None:
        for job in self._shared.values():
            if job.group in self._proven or not self._scouts[job.group]:
                return job
        return next(iter(self._shared.values()), None)

    def _pending(self) -> Iterable[Job]:
        yield from self._shared.values()
        yield from self._alone.values()

    def _remove(self, job: Job) -> None:
        (self._alone if job.measured == "alone" else self._shared).pop(job.key)


def _foregone(job: Job, because: RunRecord) -> RunRecord:
    return RunRecord.of(
        job,
        because.status,
        reason=f"not tried: {because.reason} in trial {because.trial}",
        environment=because.environment,
        finished=now(),
        extra={**because.extra, "implied_by": because.key},
    )
