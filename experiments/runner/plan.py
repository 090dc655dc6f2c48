"""The plan of a run: which jobs are still to be done, what they will take, and in which order they
leave for the workers.

Errors and crashes are tried again by the next run. A job that exceeded a limit would end the same
way: it is left alone until it is granted more, or asked for.

A job takes what its committed run took, in processor seconds. Where there is none, the median of
the runs of its learner on its dataset; else the learner's median, scaled by rows times features;
for an unknown learner a guess by the size of the dataset.
"""

import contextlib
import json
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from experiments.errors import UserError
from experiments.runner import registry
from experiments.runner.experiments import SEARCHED, Setting, jobs_of, unique
from experiments.runner.run_job import NO_DATA, skip_reason
from experiments.runs import archive
from experiments.runs.schema import HOLDOUT, Job, Limits, Run, canonical_json, now
from experiments.runs.store import PLANNED
from experiments.text import duration, table

State = Literal["done", "skipped", "limited", "unavailable", "failed", "pending"]
Sharing = tuple[Any, ...]
WORTH_TRYING = ("pending", "failed", "unavailable")
GUESS_SECONDS_PER_CELL = 2e-4
"""Of an unknown learner: seconds per row and feature."""
FITS_OF_FOLDS = 2.0
"""What a candidate of a search takes: three fits, each on two thirds of the rows."""


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


@cache
def _recorded(
    folder: Path,
) -> tuple[dict[str, float], dict[tuple[str, str], float], dict[str, float]]:
    """CPU seconds by key; medians by learner and dataset, and by learner per row and feature."""
    runs = archive.read_runs(folder, ["key", "method", "dataset", "evaluation", "cpu_seconds"])
    runs = runs[(runs["evaluation"] == HOLDOUT) & (runs["cpu_seconds"].notna())]
    by_key = dict(zip(runs["key"], runs["cpu_seconds"], strict=True))
    by_place = runs.groupby(["method", "dataset"])["cpu_seconds"].median()
    facts = archive.read_facts(folder)["dataset"]
    cells = {slug: one["n_rows"] * one["n_features"] for slug, one in facts.items()}
    rates = by_place / by_place.index.get_level_values("dataset").map(cells)
    return by_key, by_place.to_dict(), rates.groupby(level="method").median().to_dict()


def seconds_of(method: str, dataset: str, folder: Path = archive.COMMITTED) -> float:
    """Processor seconds that a fit of a learner on a dataset is expected to take."""
    _, by_place, rates = _recorded(folder)
    if (method, dataset) in by_place:
        return by_place[method, dataset]
    facts = registry.facts(dataset)
    return facts.n_rows * facts.n_features * rates.get(method, GUESS_SECONDS_PER_CELL)


@dataclass(frozen=True)
class Plan:
    """Jobs that were selected, those still to do, and what each will take."""

    jobs: Sequence[Job]
    pending: Sequence[Job]
    seconds: Mapping[str, float] = field(repr=False)
    limits: Limits = field(default_factory=Limits)

    @property
    def core_seconds(self) -> float:
        return sum(self.seconds[job.key] for job in self.pending)

    def wall_seconds(self, workers: int) -> float:
        """On so many idle cores; jobs that must run alone use one, the others share all."""
        alone = sum(self.seconds[j.key] for j in self.pending if j.measured == "alone")
        shared = [self.seconds[j.key] for j in self.pending if j.measured != "alone"]
        return alone + max(sum(shared) / workers, max(shared, default=0.0))


def make_plan(jobs: Iterable[Job], statuses: Mapping[str, Run], limits: Limits) -> Plan:
    """Compare jobs, each piece of work once, with the statuses of a store; estimate the rest."""
    jobs = unique(jobs)
    states = [state_of(job, statuses.get(job.key), limits) for job in jobs]
    pending = [job for job, state in zip(jobs, states, strict=True) if state in WORTH_TRYING]
    places: dict[tuple[str, str, str], float] = {}
    seconds, recorded = {}, _recorded(archive.COMMITTED)[0]
    for job in pending:
        place = (job.protocol, job.dataset, job.method)
        if place not in places:
            places[place] = 0.0 if skip_reason(job) else seconds_of(job.method, job.dataset)
        fits = 1.0 if job.evaluation == HOLDOUT else FITS_OF_FOLDS
        seconds[job.key] = min(recorded.get(job.key, fits * places[place]), limits.seconds)
    return Plan(jobs, pending, seconds, limits)


def together(plans: Sequence[Plan]) -> Plan:
    """Several plans as one, which has every piece of work once."""
    jobs = unique(job for plan in plans for job in plan.jobs)
    pending = unique(job for plan in plans for job in plan.pending)
    seconds = {key: spent for plan in plans for key, spent in plan.seconds.items()}
    limits = max((plan.limits for plan in plans), key=lambda one: one.seconds)
    return Plan(jobs, pending, seconds, limits)


def unasked(planned: pd.DataFrame, store: Path) -> pd.DataFrame:
    """Rows that the catalogue does not ask for, though all of their names are the suite's own."""
    columns = {"experiment": {SEARCHED}, "protocol": set(), "dataset": set(), "method": set()}
    for column, more in columns.items():
        kind = "learner" if column == "method" else column
        names = registry.entries(kind).keys() - registry.from_plugins(kind).keys() | more
        planned = planned[planned[column].isin(names)]
    asked = set[tuple[Any, ...]]()
    for place, trials in planned.groupby(list(columns), sort=False)["trial"].unique().items():
        experiment, protocol, dataset, method = place
        setting: Setting | None = "ours" if experiment == SEARCHED else None
        named = "tuned" if setting else experiment
        with contextlib.suppress(UserError):  # nobody has searched there
            jobs = jobs_of(named, protocol, [dataset], [method], trials.tolist(), setting, store)
            asked |= {tuple(getattr(job, name) for name in PLANNED) for job in jobs}
    rows = planned[list(PLANNED)].itertuples(index=False, name=None)
    return planned[pd.Series([row not in asked for row in rows], planned.index, dtype=bool)]


def shard(jobs: Iterable[Job], index: int, count: int) -> list[Job]:
    """Share ``index`` of ``count`` (from 1): whole groups, dealt out in turn, whatever is done, so
    that machines that shard the same selection never do the same work.
    """
    dealt: dict[tuple[str, ...], int] = {}
    return [job for job in jobs if dealt.setdefault(job.group, len(dealt)) % count == index - 1]


def render(plan: Plan, workers: int, searches: Collection[float] = ()) -> str:
    """A line per learner; the total, searches included, in core time and on idle cores."""
    jobs, pending = Counter(j.method for j in plan.jobs), Counter(j.method for j in plan.pending)
    rows = []
    for method, count in jobs.items():
        left = pending[method]
        spent = sum(plan.seconds[job.key] for job in plan.pending if job.method == method)
        numbers = [f"{number:,}" for number in (count, count - left, left)]
        rows.append([method, *numbers, duration(spent) if left else "–"])
    lines = [table(["method", "jobs", "done", "to do", "core time"], rows), ""] if rows else []
    searching = sum(searches)
    if searches:
        lines.append(f"{len(searches):,} searches: about {duration(searching)} of core time.")
    if not plan.pending:
        return "\n".join([*lines, *([f"All {len(plan.jobs):,} jobs are done."] if rows else [])])
    total, wall = plan.core_seconds + searching, plan.wall_seconds(workers) + searching / workers
    cores = f"{workers} idle core{'s' * (workers > 1)}"
    lines += [
        f"{len(plan.pending):,} of {len(plan.jobs):,} jobs to do: about {duration(total)} of core "
        f"time, {duration(wall)} on {cores}; more where other programs run.",
        f"Estimated by the committed runs; a job is stopped after {duration(plan.limits.seconds)}.",
    ]
    return "\n".join(lines)


# The order of jobs.


class Queue:
    """Hands out jobs, the longest first; ``take`` and ``finish`` cost the same however many.

    Jobs that may share work follow each other, and run side by side only where there is nothing
    else to do. Jobs that are measured alone come last, one at a time. Where one exceeds its limits,
    those of its group (which differ in trial or seed only) that have not been started are settled
    without being tried, if we may ``give_up``.
    """

    def __init__(
        self,
        jobs: Iterable[Job],
        estimates: Mapping[str, float] | None = None,
        give_up: bool = True,
    ) -> None:
        self._pending = {job.key: job for job in jobs}
        self._in_flight: dict[str, Job] = {}
        self._give_up = give_up
        self._alone = deque(job for job in self._pending.values() if job.measured == "alone")
        self._bundles: dict[Sharing, deque[Job]] = {}
        total: Counter[Sharing] = Counter()
        for key, job in self._pending.items():
            if job.measured != "alone":
                total[job.sharing] += (estimates or {}).get(key, 0)  # type: ignore[assignment]
                self._bundles.setdefault(job.sharing, deque()).append(job)
        ranked = sorted(total, key=lambda sharing: -total[sharing])
        self._rank = {sharing: rank for rank, sharing in enumerate(ranked)}
        self._fresh = deque(ranked)
        """Bundles of which no job has been started."""
        self._at_work: Counter[Sharing] = Counter()
        """Of the other bundles: how many of their jobs are in flight."""

    def __len__(self) -> int:
        return len(self._pending)

    def take(self) -> Job | None:
        """The next job; ``None`` if there is none before another ends."""
        beside = next(iter(self._in_flight.values()), None)
        if beside is not None and beside.measured == "alone":
            return None
        job = self._next_shared()
        while job is None and self._alone and not self._in_flight:
            job = self._pending.get(self._alone.popleft().key)
        if job is None:
            return None
        del self._pending[job.key]
        self._in_flight[job.key] = job
        self._at_work[job.sharing] += 1
        return job

    def finish(self, run: Run) -> list[dict[str, Any]]:
        """Note how a job ended; the runs of those that it settles without their being tried."""
        job = self._in_flight.pop(run["key"])
        self._at_work[job.sharing] -= 1
        if not (self._at_work[job.sharing] or self._bundles.get(job.sharing)):
            del self._at_work[job.sharing]
        if not self._give_up or run["status"] not in ("timeout", "memory"):
            return []
        hopeless = [one for one in self._pending.values() if one.group == job.group]
        for other in hopeless:
            del self._pending[other.key]
        return [_foregone(other, run) for other in hopeless]

    def _next_shared(self) -> Job | None:
        """Of the bundle that somebody just did, else a new one, else the one with least company."""
        while True:
            begun = [sharing for sharing in self._at_work if self._bundles.get(sharing)]
            idlest = min(begun, key=lambda s: (self._at_work[s], self._rank[s]), default=None)
            if (idlest is None or self._at_work[idlest]) and self._fresh:
                idlest = self._fresh.popleft()
            if idlest is None:
                return None
            bundle = self._bundles[idlest]
            while bundle:
                job = bundle.popleft()
                if job.key in self._pending:
                    return job


def _foregone(job: Job, because: Run) -> dict[str, Any]:
    """The run of a job that is not tried because another of its group exceeded a limit."""
    extra = {**json.loads(because.get("extra") or "{}"), "implied_by": because["key"]}
    told = {name: because.get(name) for name in ("environment", "limit_value")}
    told["reason"] = f"not tried: {because['reason']} in trial {because['trial']}"
    return job.run(because["status"], **told, finished=now(), extra=canonical_json(extra))
