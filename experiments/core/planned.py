"""What a store was asked for: planned jobs, and the datasets and learners they are about.

``planned.jsonl`` has one line per experiment, protocol, dataset, learner and
parameters, with its trials and seeds, from which the jobs and their keys
follow. Tables are made of these lines and the records under those keys, so
nothing downstream asks a learner what belongs to which table. Of two plans
for the same place the later one counts; records that only an earlier plan
asked for are superseded. ``datasets.jsonl`` and ``learners.jsonl`` hold the
names and shapes that tables print.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from experiments.core.files import append_line, read_lines, replace_lines
from experiments.core.job import PERTURBATION, Job
from experiments.core.record import RunRecord, is_slug

PLANNED, DATASETS, LEARNERS = "planned.jsonl", "datasets.jsonl", "learners.jsonl"

Place = tuple[str, str, str, str]
"""protocol, experiment, dataset, method"""


@dataclass(frozen=True)
class DatasetFacts:
    """What tables and report say of a dataset."""

    slug: str
    name: str
    task: Literal["binary", "multi"]
    n_rows: int
    n_features: int
    class_counts: tuple[int, ...]
    categorical: tuple[str, ...] = ()
    in_paper: bool = True


@dataclass(frozen=True)
class LearnerFacts:
    """What tables say of a learner."""

    slug: str
    name: str
    version: str
    in_paper: bool = True


_SHARED = (
    "protocol",
    "experiment",
    "dataset",
    "method",
    "measured",
    "evaluation",
    "content_hash",
    "protocol_version",
    "method_version",
)


def add_plan(folder: Path, jobs: Iterable[Job]) -> None:
    """Note jobs that the store has not been asked for yet."""
    known = {_identity(job) for job in read_plan(folder)}
    groups: dict[tuple[str, ...], list[Job]] = {}
    for job in jobs:
        if _identity(job) not in known:
            shared = tuple(getattr(job, name) for name in _SHARED)
            groups.setdefault((*shared, job.params_json), []).append(job)
    for group in groups.values():
        append_line(folder / PLANNED, _plan_line(group))


def _identity(job: Job) -> tuple[str, str]:
    return job.experiment, job.key


def _plan_line(jobs: Sequence[Job]) -> dict[str, Any]:
    first = jobs[0]
    return {
        **{name: getattr(first, name) for name in _SHARED},
        "params": first.params,
        "trials": sorted({job.trial for job in jobs}),
        "seeds": sorted({job.seed for job in jobs}),
    }


def write_plan(folder: Path, jobs: Iterable[Job]) -> None:
    """Write a plan anew, without what later lines replaced, in an order that is always the same."""
    groups: dict[tuple[str, ...], list[Job]] = {}
    for job in jobs:
        shared = tuple(getattr(job, name) for name in _SHARED)
        groups.setdefault((*shared, job.params_json), []).append(job)
    replace_lines(folder / PLANNED, [_plan_line(groups[at]) for at in sorted(groups)])


def read_plan(folder: Path, problems: list[str] | None = None) -> list[Job]:
    """The jobs a store was asked for; of two for the same trial and seed of a place, the later.

    Repetitions of a place with moved training rows stand beside each other.

    Parameters
    ----------
    problems : gets a line for everything that is no plan.
    """
    path = folder / PLANNED
    lines = read_lines(path)
    found: dict[tuple[Place, int, int, Any], Job] = {}
    bad = list(lines.problems)
    for number, values in lines.values:
        try:
            jobs, repeat = _jobs_of(values), values["params"].get(PERTURBATION)
            for job in jobs:
                place = (job.protocol, job.experiment, job.dataset, job.method)
                found.pop((place, job.trial, job.seed, repeat), None)
                found[place, job.trial, job.seed, repeat] = job
        except (TypeError, KeyError, ValueError, AttributeError) as problem:
            bad.append(f"{path}:{number}: no plan ({type(problem).__name__}: {problem})")
    if problems is not None:
        problems += bad
    return list(found.values())


def _jobs_of(values: Mapping[str, Any]) -> list[Job]:
    shared = {name: values[name] for name in _SHARED}
    for name in ("protocol", "experiment", "dataset", "method"):
        if not is_slug(shared[name]):
            raise ValueError(f"{name} {shared[name]!r} is no name")
    params = Job.freeze(values["params"])
    return [
        Job(**shared, params_json=params, trial=trial, seed=seed)
        for seed in values["seeds"]
        for trial in values["trials"]
        if type(trial) is int and type(seed) is int
    ]


def superseded(jobs: Iterable[Job], records: Iterable[RunRecord]) -> dict[str, list[RunRecord]]:
    """Records that the plan no longer asks for, by the reason why.

    Only of places that the plan knows, and not those of searches.
    """
    planned = set()
    current: dict[tuple[str, str, str], Job] = {}
    for job in jobs:
        planned.add(job.key)
        current[job.protocol, job.dataset, job.method] = job
    found: dict[str, list[RunRecord]] = {}
    for record in records:
        place = (record.protocol, record.dataset, record.method)
        if record.key in planned or place not in current or record.evaluation != "holdout":
            continue
        found.setdefault(_why(record, current[place]), []).append(record)
    return found


def _why(record: RunRecord, job: Job) -> str:
    for what, old, new in (
        (f"dataset {job.dataset}", record.content_hash[:12], job.content_hash[:12]),
        (f"protocol {job.protocol} version", record.protocol_version, job.protocol_version),
        (f"learner {job.method} version", record.method_version, job.method_version),
    ):
        if old != new:
            return f"{what} {old}, now {new}"
    return f"{job.method} with parameters that no experiment asks for"


def add_facts(
    folder: Path, datasets: Iterable[DatasetFacts], learners: Iterable[LearnerFacts]
) -> None:
    """Note names and shapes that are not known yet, or have changed."""
    for name, known, new in (
        (DATASETS, read_datasets(folder), {each.slug: each for each in datasets}),
        (LEARNERS, read_learners(folder), {each.slug: each for each in learners}),
    ):
        for slug, facts in new.items():
            if known.get(slug) != facts:
                append_line(folder / name, json.loads(json.dumps(asdict(facts))))


def read_datasets(folder: Path) -> dict[str, DatasetFacts]:
    """By slug; a later line replaces an earlier one."""
    found = {}
    for _, values in read_lines(folder / DATASETS).values:
        try:
            facts = DatasetFacts(**values)
            found[facts.slug] = DatasetFacts(
                **{
                    **values,
                    "class_counts": tuple(facts.class_counts),
                    "categorical": tuple(facts.categorical),
                }
            )
        except TypeError:
            continue
    return found


def read_learners(folder: Path) -> dict[str, LearnerFacts]:
    """By slug; a later line replaces an earlier one."""
    found = {}
    for _, values in read_lines(folder / LEARNERS).values:
        try:
            facts = LearnerFacts(**values)
            found[facts.slug] = facts
        except TypeError:
            continue
    return found
