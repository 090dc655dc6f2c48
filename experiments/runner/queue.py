"""Which jobs are still to be done, and in which order they leave for the workers.

A failure is a record but never a result: errors and crashes are tried again
by the next run. Only a job that exceeded a limit is left alone until it is
granted more, or asked for with ``--retry``, because it would end the same way.
Jobs whose predictions a store lacks can be done again for these alone.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from experiments.core import predictions
from experiments.core.files import writing
from experiments.core.job import HOLDOUT, Job, Limits, now
from experiments.core.record import Outcome, RunRecord
from experiments.core.store import Store, conflict_text
from experiments.runner import plugins
from experiments.runner.perform import NO_DATA, skip_reason
from experiments.runner.profiles import Filters

State = Literal["done", "skipped", "limited", "unavailable", "failed", "pending"]
WORTH_TRYING = ("pending", "failed", "unavailable")


def state_of(job: Job, record: RunRecord | None, limits: Limits) -> State:
    """Where a job stands.

    ``limited``: it exceeded the limits it would be given again.
    ``unavailable``: there was no data for it, but there may be by now.
    ``failed``: it ended otherwise than well and is worth another try.
    """
    if record is None:
        return "pending"
    if record.status == "ok":
        return "done"
    if record.status == "skipped":
        if record.reason == NO_DATA:
            return "unavailable"
        return "skipped" if still_skipped(job, record) else "pending"
    granted = {"timeout": limits.seconds, "memory": limits.memory_mb}.get(record.status)
    if granted is not None and record.extra.get("limit", 0) >= granted:
        return "limited"
    return "failed"


def still_skipped(job: Job, record: RunRecord) -> bool:
    """Whether the reason for a skip still holds; a missing library may be there by now."""
    shape = record.extra.get("shape")
    if shape is not None:
        return plugins.learner(job.method).why_not(*shape) == record.reason
    return skip_reason(job) == record.reason


def to_do(
    jobs: Iterable[Job],
    records: Mapping[str, RunRecord],
    limits: Limits,
    retry: Collection[str] | None = None,
) -> list[Job]:
    """The jobs a run has to do; with ``retry``, only those whose record has such a status."""
    if retry is not None:
        return [j for j in jobs if j.key in records and records[j.key].status in retry]
    return [j for j in jobs if state_of(j, records.get(j.key), limits) in WORTH_TRYING]


Group = tuple[str, ...]


class Queue:
    """Hands out jobs one by one and draws conclusions from how they end.

    Jobs keep their order, with three exceptions. Where a group may exceed its
    limits, its first job goes ahead as a scout and the others wait for it,
    since they need not run if it does. While a job runs, its siblings let others
    pass, and so come to the same worker, which may have kept what they share.
    Jobs that must run alone come last and only when nothing else runs.

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
        at_work = {job.family for job in self._in_flight.values()}
        second_choice = None
        for job in self._shared.values():
            scout_is_out = job.group in self._scouted and job.group not in self._proven
            if self._give_up and scout_is_out:
                continue
            if job.family not in at_work:
                return job
            second_choice = second_choice or job
        return second_choice

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


def without_predictions(
    store: Store, experiments: Collection[str], filters: Filters
) -> tuple[list[Job], dict[str, RunRecord]]:
    """Planned jobs that ended well without predictions in the store, and all records."""
    records = store.latest()
    jobs = {job.key: job for job in store.plan() if _wanted(job, experiments, filters)}
    missing = [
        job
        for job in jobs.values()
        if job.key in records
        and records[job.key].status == "ok"
        and predictions.classes(store.folder, records[job.key]) is None
    ]
    return missing, records


def _wanted(job: Job, experiments: Collection[str], filters: Filters) -> bool:
    chosen: Iterable[tuple[object, Collection[object] | None]] = (
        (job.experiment, filters.experiments or experiments),
        (job.protocol, filters.protocols),
        (job.dataset, filters.datasets),
        (job.method, filters.methods),
        (job.trial, filters.trials),
    )
    return job.evaluation == HOLDOUT and all(
        among is None or value in among for value, among in chosen
    )


@dataclass
class Refill:
    """Keeps the predictions of fits that repeat their records, and notes the others."""

    records: dict[str, RunRecord]
    filled: int = 0
    differing: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def __call__(self, store: Store, outcome: Outcome) -> RunRecord:
        new, known = outcome.record, self.records[outcome.record.key]
        if new.status != "ok" or outcome.predictions is None:
            where = f"{new.protocol} {new.dataset} {new.method} trial {new.trial}"
            self.failed.append(f"{where}: {new.status}, {new.reason}")
        elif not new.agrees_with(known):
            self.differing.append(conflict_text(known, new))
        else:
            with writing(store.folder):
                predictions.save(store.folder, known, outcome.predictions)
            self.filled += 1
        return new
