"""The catalogue: the experiments declared in ``experiments.toml`` or by a plug-in, as jobs.

Making jobs needs neither data nor a learner's library: what identifies a job comes from the
records of datasets and the declarations of learners.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from experiments.runner import registry
from experiments.runs.job import Job, Measured
from experiments.runs.store import LOCAL

MODEL_SEED = 42
TRIALS = range(10)
SEARCHED = "searched"
"""Experiment tuned with the hyperparameters that our own search found."""

Setting = Literal["default", "published", "ours"]


@dataclass(frozen=True)
class Experiment:
    """A question, as the jobs that answer it on any dataset; the TOML file explains its keys."""

    slug: str
    about: str
    methods: tuple[str, ...]
    setting: Setting = "default"
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    repeats: tuple[Mapping[str, Any], ...] = ({},)
    beyond: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (MODEL_SEED,)
    measured: Measured = "shared"
    budget: int | None = None

    def methods_under(self, protocol: str) -> tuple[str, ...]:
        return self.methods if protocol == "paper" else self.methods + self.beyond


def experiment_from(slug: str, declared: Mapping[str, Any]) -> Experiment:
    """An experiment from its declaration; what cannot be meant is a ``ValueError``."""
    known = {field.name for field in fields(Experiment)} - {"slug"}
    if unknown := sorted(set(declared) - known):
        raise ValueError(
            f"unknown key {unknown[0]!r}; an experiment has {', '.join(sorted(known))}"
        )
    if not declared.get("methods") or isinstance(declared["methods"], str):
        raise ValueError("methods is no list of learners")
    lists = ("methods", "beyond", "repeats", "seeds")
    values: dict[str, Any] = {n: tuple(v) if n in lists else v for n, v in declared.items()}
    return Experiment(slug, **({"about": slug} | values))


EXPERIMENTS: dict[str, Experiment] = {
    slug: experiment_from(slug, declared)
    for slug, declared in tomllib.loads(
        Path(__file__).with_name("experiments.toml").read_text(encoding="utf-8")
    ).items()
}


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
    jobs = []
    for seed in plan.seeds:
        for dataset in paper_datasets() if datasets is None else datasets:
            for method in plan.methods_under(protocol) if methods is None else methods:
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
        "protocol_version": registry.protocol_version(protocol),
        "method_version": learner.version,
        "family": learner.family or "",
    }


def paper_datasets() -> tuple[str, ...]:
    import datasets

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
    searchable = learner.space and not learner.why_not(facts.n_features, len(facts.class_counts))
    if setting == "ours" and searchable:
        from experiments.runner.search_scores import winning_params

        return winning_params(store, protocol, dataset, method, budget)
    if setting != "default" and learner.published is not None:
        import baselines

        return baselines.published_params(method, facts.name, facts.task)
    return learner.defaults(facts.task)
