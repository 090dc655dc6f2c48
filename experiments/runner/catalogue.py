"""The experiments of the paper, and of the questions it leaves open, as lists of jobs.

Making a list needs neither data nor a learner's library: what identifies a
job comes from the registry of datasets and from the learners' declarations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from experiments.core.job import PERTURBATION, Job, Measured
from experiments.runner import plugins

MODEL_SEED = 42
TRIALS = range(10)
PAPER_METHODS = ("gradtree", "dndt", "genetictree", "dl85", "cart")
ABLATIONS = ("gradtree", "gradtree-gumbel", "gradtree-annealed", "gradtree-gumbel-proper")
"""The three selectors of the paper's tables and, beyond them, one without their quirk."""
REVISED = (
    "gradtree",
    "gradtree-revised",
    "gradtree-revised-learned-leaves",
    "gradtree-revised-by-loss",
    "gradtree-revised-four-long-runs",
    "gradtree-revised-slow-leaves",
    "gradtree-revised-sigmoid",
    "gradtree-revised-glorot",
    "gradtree-revised-free-leaves",
    "cart",
)
BEYOND = ("boosting", "cart-pruned", "optimal-tree")
"""Learners that the paper does not have and that join its default experiment elsewhere."""
PRUNED_CARTS = ("cart-pruned", "cart-shrunk", "cart-weighted", "cart-control")
SOLVERS = ("dl85-tuned", "streed", "licketysplit", "contree")
GRADTREES = ("gradtree", "gradtree-revised", "gradtree-tuned")
CAPS = (8, 16, 32)
"""Most leaves in the readings of equal size."""
DL85_SOLVERS = ("dl85", "dl85-original", "dl85-pytrees", "dl85-streed")
OTHER_SEEDS = tuple(MODEL_SEED + 1000 * k for k in range(1, 11))
"""Far enough apart for the seeds of their restarts (s, s+1, s+3, …) never to meet."""

PERTURBATIONS = range(1, 6)

SEARCHED = "searched"
"""The tuned experiment with the hyperparameters that our own search found."""
BUDGETS = (1, 3, 10, 30, 100)
"""How few candidates might have been enough: the best of so many is run like the winner of all."""
SEARCH = "search"
"""The hyperparameter search: jobs of another kind, made in ``experiments.search``."""

Setting = Literal["default", "published", "ours"]
SMALL_TREES = "small-trees"


@dataclass(frozen=True)
class Experiment:
    """A question, as the jobs that answer it on any dataset.

    Attributes
    ----------
    methods : the learners, in the order of the table's columns.
    setting : where parameters come from: the default, the paper's tuned ones, or our own search.
    overrides : parameters changed for a method.
    repeats : parameters that change from one repetition of all its jobs to the next.
    beyond : whether learners that the paper does not have join under other protocols.
    budget : of our own search, how many candidates count; all of them when not given.
    """

    slug: str
    about: str
    methods: tuple[str, ...]
    setting: Setting
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    repeats: tuple[Mapping[str, Any], ...] = ({},)
    beyond: bool = False
    seeds: tuple[int, ...] = (MODEL_SEED,)
    measured: Measured = "shared"
    budget: int | None = None


def small_trees(cap: int | None) -> Experiment:
    """One small tree, of any size or of at most so many leaves.

    All choose their size by the same folds, except GradTree as published or with its own
    defaults, and boosting.
    Solvers cannot search deeper than 5 levels, so at free size they are those of 32 leaves;
    ConTree cannot search deeper than 3, so it is the same in every reading.
    """
    trees = (*PRUNED_CARTS, *SOLVERS, *GRADTREES)
    if cap is None:
        free = {"cart-pruned": {"max_leaves": 0}}
        every = (*trees, "boosting")
        return Experiment(SMALL_TREES, "one tree of any size", every, "default", free)
    tuned = (*PRUNED_CARTS, *SOLVERS, "gradtree-tuned")
    overrides: dict[str, dict[str, Any]] = {
        slug: {"max_leaves": cap} for slug in tuned if slug != "contree"
    }
    overrides["gradtree"] = {"depth": cap.bit_length() - 1}
    overrides["gradtree-revised"] = {"max_leaf_nodes": cap}
    return Experiment(
        f"{SMALL_TREES}-{cap}",
        f"one tree of at most {cap} leaves",
        trees,
        "default",
        overrides,
    )


EXPERIMENTS: dict[str, Experiment] = {
    e.slug: e
    for e in (
        Experiment("tuned", "the published hyperparameters", PAPER_METHODS, "published"),
        Experiment("default", "default hyperparameters", PAPER_METHODS, "default", beyond=True),
        Experiment("ablation-tuned", "feature selectors, published", ABLATIONS, "published"),
        Experiment("ablation-default", "feature selectors, default", ABLATIONS, "default"),
        Experiment(
            "no-penalty",
            "GeneticTree without its complexity penalty",
            ("genetictree", "genetictree-no-penalty"),
            "published",
        ),
        Experiment(
            "solvers",
            "DL8.5 by our kernels and by the library pydl8.5",
            ("dl85", "dl85-original"),
            "published",
        ),
        Experiment(
            "runtime",
            "seconds to fit, one job at a time, no restarts",
            PAPER_METHODS,
            "published",
            overrides={"gradtree": {"restarts": 0}},
            measured="alone",
        ),
        Experiment(
            "seeds",
            "GradTree with ten other model seeds",
            ("gradtree",),
            "published",
            overrides={"gradtree": {"stream": "numpy"}},
            seeds=OTHER_SEEDS,
        ),
        Experiment(SEARCHED, "the winners of our own search", PAPER_METHODS, "ours"),
        *(
            Experiment(
                f"best-of-{budget}",
                f"the best of the first {budget} candidate{'s' * (budget > 1)} of our own search",
                ("gradtree", "dndt", "genetictree", "cart"),
                "ours",
                budget=budget,
            )
            for budget in BUDGETS
        ),
        Experiment(
            "firmness",
            "tuned GradTree with training rows moved by one unit of float32, five times",
            ("gradtree",),
            "published",
            repeats=tuple({PERTURBATION: number} for number in PERTURBATIONS),
        ),
        Experiment(
            "stability-tf32",
            "tuned GradTree with training rows moved by the rounding of TF32, five times",
            ("gradtree",),
            "published",
            overrides={"gradtree": {"perturbation_step": 2.0**-11}},
            repeats=tuple({PERTURBATION: number} for number in PERTURBATIONS),
        ),
        Experiment(
            "seeds-authors-stream",
            "GradTree with ten other model seeds and the authors' random stream",
            ("gradtree",),
            "published",
            seeds=OTHER_SEEDS,
        ),
        Experiment(
            "nested",
            "GradTree and CART tuned inside the training rows of each trial",
            ("gradtree-nested", "cart-nested", "cart-pruned", "gradtree-tuned"),
            "default",
            overrides={"cart-pruned": {"max_leaves": 0}},
        ),
        Experiment(
            "defaults",
            "GradTree as published, with its revised defaults, and each main choice set back",
            REVISED,
            "default",
        ),
        Experiment(
            "quirks",
            "protocol paper with one quirk replaced, default hyperparameters",
            PAPER_METHODS,
            "default",
        ),
        Experiment(
            "solvers-alone",
            "the optimal tree of depth 4 over yes/no columns by four solvers, one job at a time",
            DL85_SOLVERS,
            "default",
            measured="alone",
        ),
        *map(small_trees, (None, *CAPS)),
    )
}


def jobs_of(
    experiment: str,
    protocol: str,
    datasets: Iterable[str] | None = None,
    methods: Iterable[str] | None = None,
    trials: Iterable[int] = TRIALS,
    setting: Setting | None = None,
) -> list[Job]:
    """The jobs of one experiment under one protocol, row by row of its table, seed by seed.

    Parameters
    ----------
    datasets : slugs; all 36 in the paper's order when not given.
    methods : those of the experiment when not given. Any known learner may be
        named for ``default``; elsewhere what the experiment has not is left out.
    trials : of the ten; for ``search``, which of its candidates.
    setting : overrides where the parameters come from (``ours``: our own search).
    """
    slugs = list(datasets) if datasets is not None else list(all_datasets())
    if experiment == SEARCH:
        from experiments.runner.candidates import search_jobs

        return search_jobs(protocol, slugs, methods, trials)
    plan = experiment_of(experiment)
    return [
        make_job(plan, protocol, dataset, method, trial, seed, setting or plan.setting, repeat)
        for seed in plan.seeds
        for dataset in slugs
        for method in methods_of(plan, protocol, methods)
        for repeat in plan.repeats
        for trial in trials
    ]


def experiment_of(slug: str) -> Experiment:
    if slug not in EXPERIMENTS:
        raise KeyError(f"unknown experiment {slug!r}; known are {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[slug]


def all_datasets() -> tuple[str, ...]:
    import datasets

    return datasets.paper_datasets()


def methods_of(
    experiment: Experiment, protocol: str, wanted: Iterable[str] | None = None
) -> list[str]:
    """The learners an experiment runs under a protocol, narrowed to those wanted."""
    offered = list(experiment.methods)
    if experiment.beyond and protocol != "paper":
        offered += BEYOND
    if wanted is None:
        return offered
    if experiment.slug == "default":
        return list(wanted)
    return [method for method in wanted if method in offered]


def make_job(
    experiment: Experiment,
    protocol: str,
    dataset: str,
    method: str,
    trial: int,
    seed: int,
    setting: Setting,
    repeat: Mapping[str, Any],
) -> Job:
    facts = plugins.facts(dataset)
    params = dict(params_of(setting, protocol, method, dataset, experiment.budget))
    params.update(experiment.overrides.get(method, {}))
    params.update(repeat)
    searched = experiment.slug == "tuned" and setting == "ours"
    return Job(
        protocol=protocol,
        experiment=SEARCHED if searched else experiment.slug,
        dataset=dataset,
        method=method,
        params_json=Job.freeze(params),
        trial=trial,
        seed=seed,
        measured=experiment.measured,
        content_hash=facts.content_hash,
        protocol_version=plugins.protocol_version(protocol),
        method_version=plugins.learner(method).version,
    )


@cache
def params_of(
    setting: Setting, protocol: str, method: str, dataset: str, budget: int | None = None
) -> Mapping[str, Any]:
    """Hyperparameters of a learner on a dataset.

    ``published`` is the default where the paper prints nothing: for DL8.5,
    which was not tuned, and where a learner cannot run (DNDT beyond 12
    features), so that its job can say so. ``ours`` is the published choice
    where there is nothing to search.
    """
    facts = plugins.facts(dataset)
    learner = plugins.learner(method)
    searchable = learner.space and not learner.why_not(facts.n_features, len(facts.class_counts))
    if setting == "ours" and searchable:
        from experiments.runner.candidates import winning_params

        return winning_params(protocol, dataset, method, budget)
    if setting != "default" and learner.published is not None:
        import baselines

        return baselines.published_params(method, facts.name, facts.task)
    return learner.defaults(facts.task)
