"""Profiles: which parts of the catalogue to run, declared in ``profiles.toml`` or by a plug-in."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from experiments.errors import NothingToDoError, UserError
from experiments.runner import registry
from experiments.runner.candidates import METHODS, Subject
from experiments.runner.experiments import Setting, jobs_of, paper_datasets
from experiments.runs.job import Job
from experiments.runs.store import LOCAL

SEARCH = "search"
"""What a profile calls the search of hyperparameters, whose jobs a study makes as it goes."""
CONDITIONS = {
    "rows_below": lambda facts, most: facts.n_rows < most,
    "categorical": lambda facts, has: bool(facts.categorical) == has,
    "filled_gaps": lambda facts, has: (facts.missing in ("mode", "mean")) == has,
}


@dataclass(frozen=True)
class Part:
    """An experiment under a protocol, on some datasets, for the first few trials."""

    experiment: str
    protocol: str
    datasets: str | list[str] | dict[str, Any] = "all"
    trials: int = 10
    methods: Collection[str] | None = None


@dataclass(frozen=True)
class Profile:
    """What ``run --profile`` means: parts, or other profiles one after the other."""

    slug: str
    about: str
    parts: tuple[Part, ...] = ()
    includes: tuple[str, ...] = ()
    time_limit: float = 3600.0

    def leaves(self) -> list[Profile]:
        """The profiles that it is made of in the end, each once."""
        if not self.includes:
            return [self]
        found = [leaf for name in self.includes for leaf in profile_of(name).leaves()]
        return list({leaf.slug: leaf for leaf in found}.values())


@dataclass(frozen=True)
class Selection:
    """What is chosen of a profile; ``None`` leaves a dimension as it is."""

    experiments: Collection[str] | None = None
    protocols: Collection[str] | None = None
    datasets: Collection[str] | None = None
    methods: Collection[str] | None = None
    trials: Collection[int] | None = None
    setting: Setting | None = None
    store: Path = LOCAL

    def allows(self, what: Job | Part) -> bool:
        """Whether a job is among what is chosen, or some jobs of a part of a profile may be."""
        names = ("experiment", "protocol", "dataset", "method", "trial")
        chosen = {name: getattr(self, f"{name}s") for name in names if hasattr(what, name)}
        return all(only is None or getattr(what, name) in only for name, only in chosen.items())


def profile_from(slug: str, declared: Mapping[str, Any]) -> Profile:
    """A profile from its declaration; what cannot be meant is a ``ValueError``."""
    given = {"about": slug, **declared}
    parts = given.get("parts", [])
    for what, known, values in [
        ("profile", Profile, [given]),
        ("part", Part, parts if isinstance(parts, list | tuple) else [parts]),
    ]:
        names = {field.name for field in fields(known)}
        for value in values:
            if not isinstance(value, Mapping):
                raise ValueError(f"a {what} is a {type(value).__name__}, not {{key: value}}")
            if unknown := sorted(set(value) - names):
                raise ValueError(f"unknown key {unknown[0]!r}; a {what} has {', '.join(names)}")
    made = tuple(Part(**part) for part in parts)
    for part in made:
        if isinstance(part.datasets, dict) and set(part.datasets) - set(CONDITIONS):
            raise ValueError(f"datasets = {part.datasets!r}; conditions are {list(CONDITIONS)}")
    includes = tuple(given.get("includes", ()))
    return Profile(**{**given, "slug": slug, "parts": made, "includes": includes})


@cache
def declared_profiles() -> dict[str, Profile]:
    tables = tomllib.loads(Path(__file__).with_name("profiles.toml").read_text(encoding="utf-8"))
    return {slug: profile_from(slug, table) for slug, table in tables.items()}


def profile_of(slug: str) -> Profile:
    found: Profile = registry.find("profile", slug)
    return found


def _parts(profile: Profile, chosen: Selection, searches: bool) -> Iterator[Part]:
    for part in (part for leaf in profile.leaves() for part in leaf.parts):
        if (part.experiment == SEARCH) == searches and chosen.allows(part):
            yield part


def jobs_in(profile: Profile, selection: Selection | None = None) -> list[Job]:
    """The jobs of a profile; work that several experiments share appears in each of them."""
    chosen = selection or Selection()
    return [
        job
        for part in _parts(profile, chosen, searches=False)
        for job in jobs_of(
            part.experiment,
            part.protocol,
            _datasets(part, chosen),
            _methods(part, chosen),
            range(part.trials) if chosen.trials is None else chosen.trials,
            chosen.setting if part.experiment == "tuned" else None,
            chosen.store,
        )
    ]


def searches_in(profile: Profile, selection: Selection | None = None) -> list[tuple[Subject, int]]:
    """The searches of a profile, each with its number of candidates."""
    chosen = selection or Selection()
    return [
        (Subject(part.protocol, dataset, method), part.trials)
        for part in _parts(profile, chosen, searches=True)
        for dataset in _datasets(part, chosen)
        for method in _methods(part, chosen)
        if can_search(method, dataset)
    ]


def can_search(method: str, dataset: str) -> bool:
    """Whether a learner can handle a dataset; else it would skip every candidate."""
    facts, learner = registry.facts(dataset), registry.learner(method)
    shape = facts.n_features, len(facts.class_counts)
    return bool(learner.space) and learner.why_not(*shape) is None


def unique(jobs: Iterable[Job]) -> list[Job]:
    """Each piece of work once, as the first experiment that asks for it calls it."""
    found: dict[str, Job] = {}
    for job in jobs:
        found.setdefault(job.key, job)
    return list(found.values())


def check_selected(
    profile: Profile, chosen: Selection, jobs: Collection[Job], searches: Collection[Any] = ()
) -> None:
    """Whatever was named is run or refused, never dropped."""
    every = [*jobs, *(subject for subject, _ in searches)]
    if not every:
        raise NothingToDoError(
            f"nothing to do: profile {profile.slug} has no job that passes these filters; "
            "see `list` for what there is"
        )
    for what in ("method", "dataset", "protocol", "experiment"):
        found = {getattr(each, what, SEARCH) for each in every}
        if "searched" in found:
            found.add("tuned")  # with --params ours
        left = [name for name in getattr(chosen, f"{what}s") or () if name not in found]
        if left:
            raise UserError(
                f"profile {profile.slug} has no job for {what} {left[0]!r} among what you chose\n"
                f"Leave it out, or name an experiment that has it; {what}s that would run: "
                f"{', '.join(sorted(found))}"
            )


def _methods(part: Part, chosen: Selection) -> list[str]:
    """Learners of plug-ins join every experiment that is named, and else ``default``."""
    if part.methods:
        offered = list(part.methods)
    elif part.experiment == SEARCH:
        offered = list(METHODS)
    else:
        offered = list(registry.find("experiment", part.experiment).methods_under(part.protocol))
    if part.experiment == "default" or part.experiment in (chosen.experiments or ()):
        offered += [slug for slug in registry.from_plugins("learner") if slug not in offered]
    if chosen.methods is None:
        return offered
    anybody = part.experiment == "default" and part.methods is None
    return [method for method in chosen.methods if method in offered or anybody]


def _datasets(part: Part, chosen: Selection) -> list[str]:
    """Slugs, the largest dataset last; those of plug-ins join every part when they are named."""
    facts, extra = registry.entries("dataset"), registry.from_plugins("dataset")
    paper = paper_datasets()
    if isinstance(part.datasets, dict):
        tests = [(CONDITIONS[name], value) for name, value in part.datasets.items()]
        offered = [slug for slug in paper if all(test(facts[slug], to) for test, to in tests)]
    elif part.datasets == "all":
        offered = list(paper) if chosen.datasets is None else list(facts)
    elif part.datasets == "fresh":
        offered = [slug for slug in facts if slug not in (*paper, *extra)]
    else:
        offered = list(part.datasets)
    if chosen.datasets is not None:
        offered = [slug for slug in chosen.datasets if slug in offered or slug in extra]
    return sorted(offered, key=lambda slug: facts[slug].n_rows * facts[slug].n_features)
