"""The catalogue: experiments as jobs, and the profiles that choose from them, declared in
``experiments.toml`` and ``profiles.toml`` or by a plug-in.

Making jobs needs neither data nor a learner's library: what identifies a job comes from the
records of datasets and the declarations of learners.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypeVar

from experiments.errors import NothingToDoError, UserError, check_fields
from experiments.runner import registry
from experiments.runs.schema import Job, Measured
from experiments.runs.store import LOCAL

SEARCH = "search"
"""What a profile calls the search of hyperparameters, whose jobs a study makes as it goes."""
CONDITIONS = {
    "rows_below": lambda facts, most: facts.n_rows < most,
    "categorical": lambda facts, has: bool(facts.categorical) == has,
    "filled_gaps": lambda facts, has: (facts.missing in ("mode", "mean")) == has,
}
Group = Literal["all", "fresh", "regression"]
"""Of datasets: the paper's, the others with classes, those with numbers to predict."""
METHODS = ("gradtree", "dndt", "genetictree", "cart")
"""Searched unless others are named: every learner that the paper tuned."""
MODEL_SEED = 42
TRIALS = range(10)
SEARCHED = "searched"
"""Experiment tuned with the hyperparameters that our own search found."""

Setting = Literal["default", "published", "ours"]
Made = TypeVar("Made")
Named = Iterator[tuple[str, Iterable[str]]]


@dataclass(frozen=True)
class Experiment:
    """A question, as the jobs that answer it on any dataset; the TOML file explains its keys."""

    slug: str
    about: str
    methods: Sequence[str]
    setting: Setting = "default"
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    repeats: Sequence[Mapping[str, Any]] = ({},)
    beyond: Sequence[str] = ()
    seeds: Sequence[int] = (MODEL_SEED,)
    measured: Measured = "shared"
    budget: int | None = None

    def named(self) -> Named:
        """Whom it names, by kind."""
        yield "learner", (*self.methods, *self.beyond, *self.overrides)

    def methods_under(self, protocol: str) -> list[str]:
        return [*self.methods, *(() if protocol == "paper" else self.beyond)]


def experiment_from(slug: str, declared: Mapping[str, Any]) -> Experiment:
    """An experiment from its declaration; what cannot be meant is a ``ValueError``."""
    check_fields("experiment", Experiment, {"slug": slug, "about": slug, **declared})
    if not declared["methods"]:
        raise ValueError("methods is empty\nWrite [a learner, …].")
    return Experiment(slug, **{"about": slug, **declared})


def _declared(kind: str, make: Callable[[str, Mapping[str, Any]], Made]) -> dict[str, Made]:
    text = Path(__file__).with_name(f"{kind}.toml").read_text(encoding="utf-8")
    return {slug: make(slug, table) for slug, table in tomllib.loads(text).items()}


EXPERIMENTS: dict[str, Experiment] = _declared("experiments", experiment_from)


def jobs_of(
    experiment: str,
    protocol: str,
    datasets: Iterable[str] | None = None,
    methods: Collection[str] | None = None,
    trials: Collection[int] = TRIALS,
    setting: Setting | None = None,
    store: Path = LOCAL,
) -> list[Job]:
    """The jobs of one experiment under one protocol, row by row of its table, seed by seed.

    Parameters
    ----------
    datasets : slugs; the paper's 36 in its order when not given.
    methods : any learners; those of the experiment when not given.
    setting : overrides where the parameters come from (``ours``: our own search).
    store : where our own search is looked for first, before the committed one.
    """
    plan: Experiment = registry.find("experiment", experiment)
    setting = setting or plan.setting
    name = SEARCHED if plan.slug == "tuned" and setting == "ours" else plan.slug
    datasets = paper_datasets() if datasets is None else datasets
    methods = plan.methods_under(protocol) if methods is None else methods
    jobs = []
    for seed, dataset, method in product(plan.seeds, datasets, methods):
        chosen = params_of(setting, protocol, method, dataset, plan.budget, store)
        more = {"measured": plan.measured, **identity_of(protocol, dataset, method)}
        for repeat in plan.repeats:
            params = Job.freeze({**chosen, **plan.overrides.get(method, {}), **repeat})
            same = (protocol, name, dataset, method, params)
            jobs += [Job(*same, trial, seed, **more) for trial in trials]
    return jobs


def identity_of(protocol: str, dataset: str, method: str) -> dict[str, Any]:
    """What of a job's identity is the registry's to know: versions and the hash of the data."""
    learner = registry.learner(method)
    return {
        "content_hash": registry.facts(dataset).content_hash,
        "protocol_version": registry.find("protocol", protocol).version,
        "method_version": learner.version,
        "family": learner.family or "",
    }


def paper_datasets() -> tuple[str, ...]:
    import datasets  # here: the analysis reads the catalogue without any data

    return datasets.paper_datasets()


def params_of(
    setting: Setting,
    protocol: str,
    method: str,
    dataset: str,
    budget: int | None = None,
    store: Path = LOCAL,
) -> Mapping[str, Any]:
    """Hyperparameters of a learner on a dataset.

    ``published`` is the default where the paper prints nothing (DL8.5; DNDT beyond 12 features),
    ``ours`` the published choice where there is nothing to search.
    """
    facts, learner = registry.facts(dataset), registry.learner(method)
    if setting == "ours" and can_search(method, dataset):
        from experiments.runner.candidates import winning_params

        return winning_params(store, protocol, dataset, method, budget)
    if setting != "default" and learner.published is not None:
        import baselines

        return baselines.published_params(method, facts.name, facts.task)
    return learner.defaults(facts.task)


# Profiles.


@dataclass(frozen=True, order=True)
class Subject:
    """What is searched: a learner on a dataset under a protocol."""

    protocol: str
    dataset: str
    method: str

    def __str__(self) -> str:
        return f"{self.protocol} {self.dataset} {self.method}"


@dataclass(frozen=True)
class Part:
    """An experiment under a protocol, on some datasets, for the first few trials."""

    experiment: str
    protocol: str
    datasets: Group | list[str] | dict[str, Any] = "all"
    trials: int = 10
    methods: Collection[str] | None = None


@dataclass(frozen=True)
class Profile:
    """What ``run --profile`` means: parts, or other profiles one after the other."""

    slug: str
    about: str
    parts: Sequence[Part] = ()
    includes: Sequence[str] = ()
    time_limit: float = 3600.0

    def named(self) -> Named:
        """What it names, by kind."""
        yield "profile", self.includes
        for part in self.parts:
            yield "experiment", {part.experiment} - {SEARCH}
            yield "protocol", [part.protocol]
            yield "learner", part.methods or ()
            yield "dataset", part.datasets if isinstance(part.datasets, list | tuple) else ()

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


def profile_from(slug: str, declared: Mapping[str, Any]) -> Profile:
    """A profile from its declaration; what cannot be meant is a ``ValueError``."""
    parts = declared.get("parts", ())
    if not isinstance(parts, list | tuple):
        raise ValueError(f"parts is {parts!r:.80}\nWrite [{{key: value}}, …].")
    for part in parts:
        check_fields("part", Part, part)
        if isinstance(found := part.get("datasets"), dict) and set(found) - set(CONDITIONS):
            raise ValueError(f"datasets = {found!r}; conditions are {list(CONDITIONS)}")
    given = {"slug": slug, "about": slug, **declared, "parts": [Part(**one) for one in parts]}
    check_fields("profile", Profile, given)
    return Profile(**given)


@cache
def declared_profiles() -> dict[str, Profile]:
    return _declared("profiles", profile_from)


def profile_of(slug: str) -> Profile:
    found: Profile = registry.find("profile", slug)
    return found


def _parts(profile: Profile, chosen: Selection, searches: bool) -> Iterator[Part]:
    for part in (part for leaf in profile.leaves() for part in leaf.parts):
        wanted = part.experiment in (chosen.experiments or [part.experiment])
        wanted &= part.protocol in (chosen.protocols or [part.protocol])
        if wanted and (part.experiment == SEARCH) == searches:
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
        told = f"nothing to do: profile {profile.slug} has no job that passes these filters"
        raise NothingToDoError(f"{told}; see `list` for what there is")
    for what in ("method", "dataset", "protocol", "experiment"):
        found = {getattr(each, what, SEARCH) for each in every}
        named = {"tuned"} if "searched" in found else set()  # with --params ours
        for name in getattr(chosen, f"{what}s") or ():
            if name not in found | named:
                raise UserError(
                    f"profile {profile.slug} has no job for {what} {name!r} among what you chose\n"
                    f"Leave it out, or name an experiment that has it; {what}s that would run: "
                    f"{', '.join(sorted(found | named))}"
                )


def _methods(part: Part, chosen: Selection) -> list[str]:
    """Learners of plug-ins join every experiment that is named, and else ``default``."""
    if part.methods or part.experiment == SEARCH:
        offered = list(part.methods or METHODS)
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
    paper, wanted = paper_datasets(), part.datasets
    numbers = [slug for slug, known in facts.items() if known.task == "regression"]
    classes = [slug for slug in facts if slug not in numbers]
    if isinstance(wanted, dict):
        tests = [(CONDITIONS[name], value) for name, value in wanted.items()]
        offered = [slug for slug in paper if all(test(facts[slug], to) for test, to in tests)]
    elif wanted == "regression":
        offered, extra = numbers, {}  # tables of plug-ins hold classes
    elif wanted == "all":
        offered = list(paper) if chosen.datasets is None else classes
    elif wanted == "fresh":
        offered = [slug for slug in classes if slug not in (*paper, *extra)]
    else:
        offered = list(wanted)
    if chosen.datasets is not None:
        offered = [slug for slug in chosen.datasets if slug in offered or slug in extra]
    return sorted(offered, key=lambda slug: facts[slug].n_rows * facts[slug].n_features)
