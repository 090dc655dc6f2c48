"""The plan of a run: how many jobs are still to be done, and what they will take.

A job takes what its committed run took, in processor seconds. Where there is none, the median of
the runs of its learner on its dataset; else the learner's median, scaled by rows times features;
for an unknown learner a guess by the size of the dataset.
"""

import contextlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.errors import UserError
from experiments.runner import candidates as searched
from experiments.runner import registry
from experiments.runner.candidates import Subject
from experiments.runner.experiments import SEARCHED, Setting, jobs_of
from experiments.runner.queue import to_do
from experiments.runner.run_job import skip_reason
from experiments.runs import archive
from experiments.runs.job import Job, Limits
from experiments.runs.schema import HOLDOUT
from experiments.runs.store import PLANNED, Store
from experiments.text import duration, table

GUESS_SECONDS_PER_CELL = 2e-4
"""Of an unknown learner: seconds per row and feature."""
SAFE_SHARE = 0.25
"""Of its time limit: a job expected to take less is not suspected of exceeding it."""


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


def search_seconds(subject: Subject, candidates: int) -> float:
    """Processor seconds that a search is expected to take, by the committed scores."""
    found = searched.outcomes_of(searched.FOLDER, subject).values()
    if found:
        return sum(float(seconds or 0) for _, seconds in found) / len(found) * candidates
    return 2 * seconds_of(subject.method, subject.dataset) * candidates


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

    def harmless(self) -> set[tuple[str, ...]]:
        """Groups of jobs that, by runs on the same dataset, stay well within the time limit."""
        known, most = _recorded(archive.COMMITTED)[1], SAFE_SHARE * self.limits.seconds
        return {
            job.group
            for job in self.pending
            if (job.method, job.dataset) in known and self.seconds[job.key] < most
        }


def make_plan(
    jobs: Sequence[Job],
    statuses: Mapping[str, Mapping[str, Any]],
    limits: Limits,
    retry: Collection[str] | None = None,
) -> Plan:
    """Compare jobs with the statuses of a store, and estimate what is left."""
    pending = to_do(jobs, statuses, limits, retry)
    places: dict[tuple[str, str, str], float] = {}
    seconds, recorded = {}, _recorded(archive.COMMITTED)[0]
    for job in pending:
        place = (job.protocol, job.dataset, job.method)
        if place not in places:
            places[place] = 0.0 if skip_reason(job) else seconds_of(job.method, job.dataset)
        seconds[job.key] = min(recorded.get(job.key, places[place]), limits.seconds)
    return Plan(jobs, pending, seconds, limits)


def note_plan(store: Store, jobs: Sequence[Job], stale: Collection[str] = ()) -> None:
    """Let a store know what it is asked for, and the names and shapes that tables print; of
    learners whose code has changed since their runs (``stale``) the old facts stay.
    """
    store.plan(jobs)
    datasets = dict.fromkeys(job.dataset for job in jobs)
    store.add_facts("dataset", {slug: registry.dataset_facts(slug) for slug in datasets})
    learners = dict.fromkeys(job.method for job in jobs if job.method not in stale)
    store.add_facts("learner", {slug: registry.learner_facts(slug) for slug in learners})


def unasked(planned: pd.DataFrame, store: Path) -> pd.DataFrame:
    """Rows of a plan that the catalogue does not ask for, though experiment, protocol, learner and
    dataset are the suite's own. ``store`` is where our own search is looked for first.
    """
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


def stale_learners(store: Store, jobs: Iterable[Job]) -> dict[str, int]:
    """Learners of plug-ins whose code has changed under the same version, and their stored runs."""
    told, stale = store.facts("learner"), {}
    for slug in dict.fromkeys(job.method for job in jobs):
        now, before = registry.learner_facts(slug), told.get(slug, {})
        same_version = before.get("version") == now["version"]
        if same_version and "source" in now and before.get("source") != now["source"]:
            runs = store.statuses({job.key for job in jobs if job.method == slug}).values()
            stale[slug] = sum(run["status"] == "ok" for run in runs)
    return {slug: done for slug, done in stale.items() if done}


def shard(jobs: Iterable[Job], index: int, count: int) -> list[Job]:
    """Share ``index`` of ``count`` (from 1): whole groups, dealt out in turn, whatever is done, so
    that machines that shard the same selection never do the same work.
    """
    dealt: dict[tuple[str, ...], int] = {}
    return [job for job in jobs if dealt.setdefault(job.group, len(dealt)) % count == index - 1]


def render(plan: Plan, workers: int, searches: Mapping[Subject, float] | None = None) -> str:
    """A line per learner, and the total in core time and on idle cores."""
    searches = searches or {}
    jobs, pending = Counter(j.method for j in plan.jobs), Counter(j.method for j in plan.pending)
    rows = []
    for method, count in jobs.items():
        left = pending[method]
        spent = sum(plan.seconds[job.key] for job in plan.pending if job.method == method)
        numbers = [f"{number:,}" for number in (count, count - left, left)]
        rows.append([method, *numbers, duration(spent) if left else "–"])
    lines = [table(["method", "jobs", "done", "to do", "core time"], rows), ""] if rows else []
    searching = sum(searches.values())
    if searches:
        lines.append(f"{len(searches):,} searches: about {duration(searching)} of core time.")
    if not plan.pending:
        return "\n".join([*lines, *([f"All {len(plan.jobs):,} jobs are done."] if rows else [])])
    total, wall = plan.core_seconds + searching, plan.wall_seconds(workers) + searching / workers
    cores = f"{workers} idle core{'s' * (workers > 1)}"
    lines.append(
        f"{len(plan.pending):,} of {len(plan.jobs):,} jobs to do: about {duration(total)} of core "
        f"time, {duration(wall)} on {cores}; more where other programs run.\n"
        f"Estimated by the committed runs; a job is stopped after "
        f"{duration(plan.limits.seconds)}."
    )
    return "\n".join(lines)
