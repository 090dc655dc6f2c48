"""What a store was asked for: planned jobs, and the datasets and learners they are about.

``planned.jsonl`` has one line per experiment, protocol, dataset, learner and
parameters, with its trials and seeds, from which the jobs and their keys
follow; in a compact store it is packed, and what is planned later stands
beside it again. Tables are made of these lines and the records under those keys, so
nothing downstream asks a learner what belongs to which table. Of two plans
for the same place the later one counts; records that only an earlier plan
asked for are superseded. ``datasets.jsonl`` and ``learners.jsonl`` hold the
names and shapes that tables print.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from experiments.core.checks import (
    is_line_of_text,
    is_list_of_wholes,
    is_plain_mapping,
    is_slug,
    is_whole,
    shown,
)
from experiments.core.files import PACKED, append_lines, read_lines, replace_lines
from experiments.core.job import HOLDOUT, PERTURBATION, Job, canonical_json
from experiments.core.record import EVALUATION, RunRecord

PLANNED, DATASETS, LEARNERS = "planned.jsonl", "datasets.jsonl", "learners.jsonl"
PACKED_PLAN = PLANNED + PACKED

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
    if groups:
        append_lines(folder / PLANNED, map(_plan_line, groups.values()))


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
    """Write a plan anew, packed, without what later lines replaced, in an order that is always
    the same.

    A kill before the old lines are gone does no harm: they end with what is packed.
    """
    groups: dict[tuple[str, ...], list[Job]] = {}
    for job in jobs:
        shared = tuple(getattr(job, name) for name in _SHARED)
        groups.setdefault((*shared, job.params_json), []).append(job)
    replace_lines(folder / PACKED_PLAN, [_plan_line(groups[at]) for at in sorted(groups)])
    (folder / PLANNED).unlink(missing_ok=True)


def read_plan(
    folder: Path, problems: list[str] | None = None, replaced: list[Job] | None = None
) -> list[Job]:
    """The jobs a store was asked for; of two for the same trial and seed of a place, the later.

    Repetitions of a place with moved training rows stand beside each other.

    Parameters
    ----------
    problems : gets a line for everything that is no plan.
    replaced : gets the jobs in whose place later lines ask for others.
    """
    found: dict[tuple[Place, int, int, str], Job] = {}
    bad: list[str] = []
    for path, number, values in _lines_in(folder, bad):
        try:
            jobs = _jobs_of(values)
        except ValueError as problem:
            bad.append(f"{path}:{number}: no plan: {problem}")
            continue
        repeat = canonical_json(values["params"].get(PERTURBATION))
        for job in jobs:
            place = (job.protocol, job.experiment, job.dataset, job.method)
            earlier = found.pop((place, job.trial, job.seed, repeat), None)
            if replaced is not None and earlier is not None and _is_replaced(earlier, job):
                replaced.append(earlier)
            found[place, job.trial, job.seed, repeat] = job
    if problems is not None:
        problems += bad
    return list(found.values())


def _lines_in(folder: Path, problems: list[str]) -> Iterator[tuple[Path, int, Any]]:
    """What is packed, then what came later."""
    for path in (folder / PACKED_PLAN, folder / PLANNED):
        lines = read_lines(path)
        problems += lines.problems
        for number, values in lines.values:
            yield path, number, values


def _is_replaced(earlier: Job, later: Job) -> bool:
    """Whether a table would show another job; a search asks for many candidates in one place."""
    return earlier.key != later.key and earlier.evaluation == HOLDOUT


def replaced_jobs(folder: Path) -> list[Job]:
    """Jobs that a store was asked for once, and in whose place it was asked for others later."""
    found: list[Job] = []
    read_plan(folder, replaced=found)
    return found


MOST_JOBS = 100_000
"""Of one line; no experiment repeats one fit so often."""

_PLAN_RULES: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("protocol", "experiment", "dataset", "method"), is_slug),
    **dict.fromkeys(("content_hash", "protocol_version", "method_version"), is_line_of_text),
    "measured": lambda value: value in ("shared", "alone"),
    "evaluation": lambda value: isinstance(value, str) and EVALUATION.fullmatch(value) is not None,
    "params": is_plain_mapping,
    "trials": is_list_of_wholes,
    "seeds": is_list_of_wholes,
}


def _jobs_of(values: Any) -> list[Job]:
    _require(values, _PLAN_RULES, _PLAN_RULES.keys())
    trials, seeds = set(values["trials"]), set(values["seeds"])
    if len(trials) * len(seeds) > MOST_JOBS:
        raise ValueError(f"{len(trials) * len(seeds):,} jobs in one line")
    shared = {name: values[name] for name in _SHARED}
    params = Job.freeze(values["params"])
    return [
        Job(**shared, params_json=params, trial=trial, seed=seed)
        for seed in sorted(seeds)
        for trial in sorted(trials)
    ]


def _require(
    values: Any, rules: Mapping[str, Callable[[Any], bool]], needed: Iterable[str]
) -> None:
    """Refuse what is no mapping of these fields with a ``ValueError`` that says why."""
    if not isinstance(values, dict):
        raise ValueError(f"a {type(values).__name__} instead of a mapping")
    if missing := [name for name in needed if name not in values]:
        raise ValueError(f"no {missing[0]}")
    for name, value in values.items():
        if name not in rules:
            raise ValueError(f"unknown field {shown(name)}")
        if not rules[name](value):
            raise ValueError(f"{name} is {shown(value)}")


def superseded(jobs: Iterable[Job], records: Iterable[RunRecord]) -> dict[str, list[RunRecord]]:
    """Records that the plan no longer asks for, by the reason why; not those of searches."""
    planned = set()
    current: dict[tuple[str, str, str], Job] = {}
    for job in jobs:
        planned.add(job.key)
        current[job.protocol, job.dataset, job.method] = job
    found: dict[str, list[RunRecord]] = {}
    for record in records:
        if record.key not in planned and record.evaluation == HOLDOUT:
            asked = current.get((record.protocol, record.dataset, record.method))
            found.setdefault(_why(record, asked), []).append(record)
    return found


def _why(record: RunRecord, job: Job | None) -> str:
    if job is None:
        return f"no experiment asks for {record.method} under protocol {record.protocol}"
    for what, old, new in (
        (f"dataset {job.dataset}", record.content_hash[:12], job.content_hash[:12]),
        (f"protocol {job.protocol} version", record.protocol_version, job.protocol_version),
        (f"learner {job.method} version", record.method_version, job.method_version),
    ):
        if old != new:
            return f"{what} {old}, now {new}"
    return f"no experiment asks for these parameters of {job.method}"


def add_facts(
    folder: Path, datasets: Iterable[DatasetFacts], learners: Iterable[LearnerFacts]
) -> None:
    """Note names and shapes that are not known yet, or have changed."""
    for name, known, new in (
        (DATASETS, read_datasets(folder), {each.slug: each for each in datasets}),
        (LEARNERS, read_learners(folder), {each.slug: each for each in learners}),
    ):
        changed = [asdict(facts) for slug, facts in new.items() if known.get(slug) != facts]
        if changed:
            append_lines(folder / name, json.loads(json.dumps(changed)))


_DATASET_RULES: dict[str, Callable[[Any], bool]] = {
    "slug": is_slug,
    "name": is_line_of_text,
    "task": lambda value: value in ("binary", "multi"),
    "n_rows": lambda value: is_whole(value, 1),
    "n_features": lambda value: is_whole(value, 1),
    "class_counts": is_list_of_wholes,
    "categorical": lambda value: isinstance(value, list) and all(map(is_line_of_text, value)),
    "in_paper": lambda value: isinstance(value, bool),
}
_LEARNER_RULES: dict[str, Callable[[Any], bool]] = {
    "slug": is_slug,
    "name": is_line_of_text,
    "version": is_line_of_text,
    "in_paper": lambda value: isinstance(value, bool),
}


def read_datasets(folder: Path, problems: list[str] | None = None) -> dict[str, DatasetFacts]:
    """By slug; a later line replaces an earlier one.

    Parameters
    ----------
    problems : gets a line for everything that describes no dataset.
    """
    found = {}
    for values in _read_facts(folder / DATASETS, _DATASET_RULES, problems):
        lists = {name: tuple(values.get(name, ())) for name in ("class_counts", "categorical")}
        found[values["slug"]] = DatasetFacts(**{**values, **lists})
    return found


def read_learners(folder: Path, problems: list[str] | None = None) -> dict[str, LearnerFacts]:
    """By slug; a later line replaces an earlier one.

    Parameters
    ----------
    problems : gets a line for everything that describes no learner.
    """
    lines = _read_facts(folder / LEARNERS, _LEARNER_RULES, problems)
    return {values["slug"]: LearnerFacts(**values) for values in lines}


_LATER_FIELDS = ("categorical", "in_paper")
"""Fields that the facts of a dataset or a learner may lack."""


def _read_facts(
    path: Path, rules: Mapping[str, Callable[[Any], bool]], problems: list[str] | None
) -> list[dict[str, Any]]:
    lines = read_lines(path)
    good, bad = [], list(lines.problems)
    for number, values in lines.values:
        try:
            _require(values, rules, [name for name in rules if name not in _LATER_FIELDS])
        except ValueError as problem:
            bad.append(f"{path}:{number}: {problem}")
        else:
            good.append(values)
    if problems is not None:
        problems += bad
    return good
