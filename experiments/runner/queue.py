"""Which jobs are still to be done, and in which order they leave for the workers.

Errors and crashes are tried again by the next run. A job that exceeded a limit would end the same
way: it is left alone until it is granted more, or asked for.
"""

import heapq
import json
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

from experiments.runner import registry
from experiments.runner.run_job import NO_DATA, skip_reason
from experiments.runs.job import Job, Limits, canonical_json, now
from experiments.runs.schema import Run

State = Literal["done", "skipped", "limited", "unavailable", "failed", "pending"]
WORTH_TRYING = ("pending", "failed", "unavailable")


def state_of(job: Job, run: Run | None, limits: Limits) -> State:
    """Where a job stands by its run in the store: ``limited`` exceeded limits it would be given
    again, ``unavailable`` had no data, which may have come, ``failed`` is worth another try.
    """
    if run is None:
        return "pending"
    if run["status"] == "ok":
        return "done"
    if run["reason"] == NO_DATA and run["status"] == "skipped":
        return "unavailable"
    if run["status"] == "skipped":  # a library that was missing may be there by now
        shape = json.loads(run["extra"] or "{}").get("shape")
        learner = registry.learner(job.method)
        reason = learner.why_not(*shape) if shape is not None else skip_reason(job)
        return "skipped" if reason == run["reason"] else "pending"
    granted = {"timeout": limits.seconds, "memory": limits.memory_mb}.get(run["status"])
    return "limited" if granted and (run["limit_value"] or 0) >= granted else "failed"


def to_do(
    jobs: Iterable[Job],
    runs: Mapping[str, Run],
    limits: Limits,
    retry: Collection[str] | None = None,
) -> list[Job]:
    """The jobs a run has to do; with ``retry``, only those whose run has such a status."""
    if retry is not None:
        return [job for job in jobs if job.key in runs and runs[job.key]["status"] in retry]
    return [job for job in jobs if state_of(job, runs.get(job.key), limits) in WORTH_TRYING]


Group = tuple[str, ...]


@dataclass
class _Bundle:
    """Jobs that may share work: one worker does them one after the other, if it can."""

    rank: int
    jobs: deque[Job] = field(default_factory=deque)
    at_work: int = 0
    begun: bool = False

    @property
    def urgency(self) -> tuple[int, bool, int]:
        """Least first: nobody works on it, somebody just did, it has much to do."""
        return self.at_work, not self.begun, self.rank


class Queue:
    """Hands out jobs, the longest first; ``take`` and ``finish`` cost the same however many.

    Of every group (jobs that differ in trial or seed only) one goes ahead as a scout, unless the
    group is ``harmless``: where it exceeds its limits, the others are settled without being tried,
    if we may ``give_up``. Jobs that may share work follow each other, and run side by side only
    where there is nothing else to do. Jobs that are measured alone come last, one at a time.
    """

    def __init__(
        self,
        jobs: Iterable[Job],
        estimates: Mapping[str, float] | None = None,
        harmless: Collection[Group] = (),
        give_up: bool = True,
    ) -> None:
        self._pending = {job.key: job for job in jobs}
        self._give_up = give_up
        self._proven: set[Group] = set(harmless)
        self._groups: dict[Group, list[Job]] = {}
        self._waiting: dict[Group, list[Job]] = {}
        """Jobs that wait for the scout of their group, which is out."""
        self._in_flight: dict[str, Job] = {}
        self._alone: deque[Job] = deque()
        total: Counter[Any] = Counter()
        for key, job in self._pending.items():
            total[job.sharing] += (estimates or {}).get(key, 0)  # type: ignore[assignment]
        ranked = sorted(total, key=lambda sharing: -total[sharing])
        self._bundles = {sharing: _Bundle(rank) for rank, sharing in enumerate(ranked)}
        for job in self._pending.values():
            if give_up:
                self._groups.setdefault(job.group, []).append(job)
            alone = job.measured == "alone"
            (self._alone if alone else self._bundles[job.sharing].jobs).append(job)
        self._heap = [(bundle.urgency, bundle) for bundle in self._bundles.values()]

    def __len__(self) -> int:
        return len(self._pending)

    def take(self) -> Job | None:
        """The next job that may start now, or ``None`` if all have to wait."""
        if any(job.measured == "alone" for job in islice(self._in_flight.values(), 1)):
            return None  # such a job has no other beside it
        job = self._next_shared()
        while job is None and self._alone and not self._in_flight:
            job = self._pending.get(self._alone.popleft().key)
        if job is None:
            return None
        del self._pending[job.key]
        self._in_flight[job.key] = job
        if self._give_up and job.group not in self._proven:
            self._waiting.setdefault(job.group, [])
        bundle = self._bundles[job.sharing]
        bundle.at_work, bundle.begun = bundle.at_work + 1, True
        self._offer(bundle)
        return job

    def finish(self, run: Run) -> list[dict[str, Any]]:
        """Note how a job ended; the runs of those that it settles without their being tried."""
        job = self._in_flight.pop(run["key"])
        bundle = self._bundles[job.sharing]
        bundle.at_work -= 1
        self._offer(bundle)
        settled = []
        if self._give_up and run["status"] in ("timeout", "memory"):
            hopeless = [one for one in self._groups.pop(job.group, ()) if one.key in self._pending]
            for other in hopeless:
                del self._pending[other.key]
            settled = [_foregone(other, run) for other in hopeless]
        self._proven.add(job.group)
        for other in self._waiting.pop(job.group, ()):
            bundle = self._bundles[other.sharing]
            bundle.jobs.append(other)
            self._offer(bundle)
        return settled

    def _offer(self, bundle: _Bundle) -> None:
        """Put a bundle where its state belongs; what the heap said of it before counts no more."""
        if bundle.jobs:
            heapq.heappush(self._heap, (bundle.urgency, bundle))

    def _next_shared(self) -> Job | None:
        """The next job of the most urgent bundle; those whose scout is out are put aside."""
        while self._heap:
            urgency, bundle = heapq.heappop(self._heap)
            while bundle.jobs and urgency == bundle.urgency:
                job = bundle.jobs.popleft()
                if job.group in self._waiting and job.key in self._pending:
                    self._waiting[job.group].append(job)
                elif job.key in self._pending:
                    return job
        return None


def _foregone(job: Job, because: Run) -> dict[str, Any]:
    """The run of a job that is not tried because another of its group exceeded a limit."""
    extra = {**json.loads(because.get("extra") or "{}"), "implied_by": because["key"]}
    return job.run(
        because["status"],
        reason=f"not tried: {because['reason']} in trial {because['trial']}",
        environment=because.get("environment"),
        limit_value=because.get("limit_value"),
        finished=now(),
        extra=canonical_json(extra),
    )
