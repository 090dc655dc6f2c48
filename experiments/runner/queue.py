"""The order in which jobs leave for the workers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable

from experiments.core.job import Job
from experiments.core.outcome import now
from experiments.core.record import RunRecord

Group = tuple[str, ...]


class Queue:
    """Hands out jobs one by one and draws conclusions from how they end.

    Jobs keep their order, with two exceptions. Where a group may exceed its
    limits, its first job goes ahead as a scout and the others wait for it,
    since they need not run if it does. Jobs that must run alone come last and
    only when nothing else runs.

    Parameters
    ----------
    jobs : in the order to do them.
    give_up : after a job exceeded its time or memory, record the rest of its
        group as such without trying.
    harmless : groups known to stay within their limits, which need no scout.
    """

    def __init__(
        self,
        jobs: Iterable[Job],
        give_up: bool = True,
        harmless: Collection[Group] = frozenset(),
    ) -> None:
        self._shared: OrderedDict[str, Job] = OrderedDict()
        self._alone: OrderedDict[str, Job] = OrderedDict()
        for job in jobs:
            (self._alone if job.measured == "alone" else self._shared)[job.key] = job
        self._in_flight: dict[str, Job] = {}
        self._scouted: set[Group] = set()
        self._proven: set[Group] = set(harmless)
        self._give_up = give_up

    def __len__(self) -> int:
        return len(self._shared) + len(self._alone)

    def take(self) -> Job | None:
        """The next job that may start now, or ``None`` if all have to wait."""
        if any(job.measured == "alone" for job in self._in_flight.values()):
            return None
        job = self._next_shared()
        if job is None and not self._in_flight:
            job = next(iter(self._alone.values()), None)
        if job is None:
            return None
        self._remove(job)
        self._in_flight[job.key] = job
        self._scouted.add(job.group)
        return job

    def finish(self, record: RunRecord) -> list[RunRecord]:
        """Note how a job ended; the records it settles without their being tried."""
        job = self._in_flight.pop(record.key)
        self._proven.add(job.group)
        if not self._give_up or record.status not in ("timeout", "memory"):
            return []
        hopeless = [j for j in self._pending() if j.group == job.group]
        for other in hopeless:
            self._remove(other)
        return [_foregone(other, record) for other in hopeless]

    def _next_shared(self) -> Job | None:
        for job in self._shared.values():
            scout_is_out = job.group in self._scouted and job.group not in self._proven
            if not (self._give_up and scout_is_out):
                return job
        return None

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
