"""Profiles: which parts of the catalogue to run, declared in ``profiles.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from experiments.core.job import Job
from experiments.runner import plugins
from experiments.runner.catalogue import Setting, all_datasets, experiment_of, jobs_of, methods_of


@dataclass(frozen=True)
class Part:
    """An experiment under a protocol, on some datasets, for the first few trials."""

    experiment: str
    protocol: str
    datasets: str | list[str] | dict[str, Any]
    trials: int
    methods: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Profile:
    """What ``run --profile`` means.

    Attributes
    ----------
    short : made to be over in minutes, to try the suite with.
    time_limit : seconds after which one job is stopped.
    together : the jobs of one trial and learner follow each other, so that what they have in
        common can be done once.
    """

    slug: str
    about: str
    time_limit: float
    parts: tuple[Part, ...]
    short: bool = False
    together: bool = False


@dataclass(frozen=True)
class Filters:
    """Narrow a profile; ``None`` leaves a dimension as it is."""

    experiments: Collection[str] | None = None
    protocols: Collection[str] | None = None
    datasets: Collection[str] | None = None
    methods: Collection[str] | None = None
    trials: Collection[int] | None = None
    setting: Setting | None = None


@cache
def profiles() -> dict[str, Profile]:
    tables = tomllib.loads(Path(__file__).with_name("profiles.toml").read_text())
    return {slug: _profile(slug, table) for slug, table in tables.items()}


def select(profile: Profile, filters: Filters | None = None) -> list[Job]:
    """The jobs of a profile, each piece of work once, in the order to do them.

    Part by part and, inside a part, the smallest dataset first, so that whole
    rows of the tables are complete early.
    """
    filters = filters or Filters()
    jobs = [job for part in profile.parts for job in _jobs_of_part(part, filters)]
    unique = {job.key: job for job in reversed(jobs)}
    jobs = [job for job in jobs if unique.get(job.key) is job]
    if not profile.together:
        return jobs
    first = {job.family: at for at, job in reversed(list(enumerate(jobs)))}
    return sorted(jobs, key=lambda job: first[job.family])


def every_use(profile: Profile, filters: Filters | None = None) -> list[Job]:
    """Like ``select``, but work that several experiments share appears in each of them."""
    filters = filters or Filters()
    return [job for part in profile.parts for job in _jobs_of_part(part, filters)]


def _profile(slug: str, table: dict[str, Any]) -> Profile:
    parts = tuple(Part(**part) for part in table.pop("parts"))
    return Profile(slug=slug, parts=parts, **table)


def _jobs_of_part(part: Part, filters: Filters) -> list[Job]:
    if filters.experiments is not None and part.experiment not in filters.experiments:
        return []
    if filters.protocols is not None and part.protocol not in filters.protocols:
        return []
    setting = filters.setting if part.experiment == "tuned" else None
    trials = range(part.trials)
    return jobs_of(
        part.experiment,
        part.protocol,
        smallest_first(_datasets(part, filters)),
        _methods(part, filters),
        trials if filters.trials is None else [t for t in trials if t in filters.trials],
        setting,
    )


def _methods(part: Part, filters: Filters) -> Collection[str] | None:
    if part.methods is None or filters.methods is None:
        return filters.methods or part.methods
    return [method for method in filters.methods if method in part.methods]


def _datasets(part: Part, filters: Filters) -> list[str]:
    extra = plugins.extras().datasets
    if part.datasets == "all":
        slugs = list(filters.datasets) if filters.datasets is not None else list(all_datasets())
        return slugs
    if isinstance(part.datasets, dict):
        slugs = [slug for slug in all_datasets() if _chosen(plugins.facts(slug), part.datasets)]
    elif part.datasets == "fresh":
        slugs = [slug for slug in plugins.dataset_slugs() if slug not in (*all_datasets(), *extra)]
    else:
        slugs = list(part.datasets)
    if filters.datasets is None:
        return slugs
    return [slug for slug in filters.datasets if slug in slugs or slug in extra]


def _chosen(facts: Any, wanted: Mapping[str, Any]) -> bool:
    """Whether a dataset passes a profile's condition; an unknown condition is an error."""
    conditions = {
        "rows_below": lambda most: facts.n_rows < most,
        "categorical": lambda has: bool(facts.categorical) == has,
        "filled_gaps": lambda has: (facts.missing in ("mode", "mean")) == has,
    }
    return all(conditions[name](value) for name, value in wanted.items())


def smallest_first(slugs: list[str]) -> list[str]:
    def cells(slug: str) -> int:
        facts = plugins.facts(slug)
        return facts.n_rows * facts.n_features

    return sorted(slugs, key=cells)


def with_plugins(experiment: str, protocol: str) -> list[str]:
    """The learners of an experiment, and in ``default`` those of the plug-ins in use as well."""
    offered = methods_of(experiment_of(experiment), protocol)
    return [*offered, *plugins.extras().learners] if experiment == "default" else offered
