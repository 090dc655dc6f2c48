"""The catalogue: the experiments of the paper, and of the questions it leaves open, as jobs.

Making jobs needs neither data nor a learner's library: what identifies a job comes from the
records of datasets and the declarations of learners.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from experiments.runner import registry
from experiments.runs.job import PERTURBATION, Job, Measured
from experiments.runs.store import LOCAL

MODEL_SEED = 42
TRIALS = range(10)
PAPER_METHODS = ("gradtree", "dndt", "genetictree", "dl85", "cart")
SELECTORS = ("gradtree", "gradtree-gumbel", "gradtree-annealed", "gradtree-gumbel-noise-free")
"""The three of the paper's ablation and, beyond them, Gumbel softmax without noise at the end."""
NEW_DEFAULTS = (
    "gradtree",
    "gradtree-new-defaults",
    "gradtree-new-defaults-learned-leaves",
    "gradtree-new-defaults-by-loss",
    "gradtree-new-defaults-four-long-runs",
    "gradtree-new-defaults-slow-leaves",
    "gradtree-new-defaults-sigmoid",
    "gradtree-new-defaults-glorot",
    "gradtree-new-defaults-free-leaves",
    "cart",
)
BEYOND = ("boosting", "cart-pruned", "optimal-tree")
"""Learners that the paper does not have and that join experiment default elsewhere."""
PRUNED_CARTS = ("cart-pruned", "cart-shrunk", "cart-weighted", "cart-weighted-grid")
SOLVERS = ("dl85-tuned", "streed", "licketysplit", "contree")
GRADTREES = ("gradtree", "gradtree-new-defaults", "gradtree-tuned")
CAPS = (8, 16, 32)
"""Most leaves in the readings of equal size."""
OTHER_SEEDS = tuple(MODEL_SEED + 1000 * k for k in range(1, 11))
"""Far enough apart for the seeds of their restarts (s, s+1, s+3, …) never to meet."""
PERTURBED = tuple({PERTURBATION: number} for number in range(1, 6))
BUDGETS = (1, 3, 10, 30, 100)
"""How few candidates might have been enough: the best of so many is run like the winner of all."""
SEARCHED = "searched"
"""Experiment tuned with the hyperparameters that our own search found."""

Setting = Literal["default", "published", "ours"]


@dataclass(frozen=True)
class Experiment:
    """A question, as the jobs that answer it on any dataset.

    Attributes
    ----------
    methods : the learners, in the order of the table's columns.
    setting : where parameters come from: the default, the paper's tuned ones, or our own search.
    overrides : parameters changed for a method.
    repeats : parameters that change from one repetition of all its jobs to the next.
    beyond : learners that join under protocols other than ``paper``.
    budget : of our own search, how many candidates count; all of them when not given.
    """

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


def small_trees(cap: int | None) -> Experiment:
    """One small tree, of any size or of at most so many leaves.

    All choose their size by the same folds, except GradTree as published or with its own
    defaults, and boosting. Solvers cannot search deeper than 5 levels, so at free size they are
    those of 32 leaves; ConTree cannot search deeper than 3, so it is the same in every reading.
    """
    trees = (*PRUNED_CARTS, *SOLVERS, *GRADTREES)
    if cap is None:
        free = {"cart-pruned": {"max_leaves": 0}}
        every = (*trees, "boosting")
        return Experiment("small-trees", "one tree of any size", every, overrides=free)
    tuned = (*PRUNED_CARTS, *SOLVERS, "gradtree-tuned")
    overrides: dict[str, dict[str, Any]] = {
        slug: {"max_leaves": cap} for slug in tuned if slug != "contree"
    }
    overrides["gradtree"] = {"depth": cap.bit_length() - 1}
    overrides["gradtree-new-defaults"] = {"max_leaf_nodes": cap}
    about = f"one tree of at most {cap} leaves"
    return Experiment(f"small-trees-{cap}", about, trees, overrides=overrides)


_ALL = (
    Experiment("tuned", "the published hyperparameters", PAPER_METHODS, "published"),
    Experiment("default", "default hyperparameters", PAPER_METHODS, beyond=BEYOND),
    Experiment("ablation-tuned", "feature selectors, published", SELECTORS, "published"),
    Experiment("ablation-default", "feature selectors, default", SELECTORS),
    Experiment(
        "no-penalty",
        "GeneticTree without its complexity penalty",
        ("genetictree", "genetictree-no-penalty"),
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
        "solvers",
        "DL8.5 by our kernels and by the library pydl8.5",
        ("dl85", "dl85-original"),
        "published",
    ),
    Experiment(
        "solvers-alone",
        "the optimal tree of depth 4 over yes/no columns by four solvers, one job at a time",
        ("dl85", "dl85-original", "dl85-pytrees", "dl85-streed"),
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
    Experiment(
        "seeds-authors-stream",
        "GradTree with ten other model seeds and the authors' random stream",
        ("gradtree",),
        "published",
        seeds=OTHER_SEEDS,
    ),
    Experiment(
        "stability",
        "tuned GradTree with training rows moved by one unit of float32, five times",
        ("gradtree",),
        "published",
        repeats=PERTURBED,
    ),
    Experiment(
        "stability-tf32",
        "tuned GradTree with training rows moved by the rounding of TF32, five times",
        ("gradtree",),
        "published",
        overrides={"gradtree": {"perturbation_step": 2.0**-11}},
        repeats=PERTURBED,
    ),
    Experiment(
        "nested",
        "GradTree and CART tuned inside the training rows of each trial",
        ("gradtree-nested", "cart-nested", "cart-pruned", "gradtree-tuned"),
        overrides={"cart-pruned": {"max_leaves": 0}},
    ),
    Experiment(
        "new-defaults",
        "GradTree as published, with its new defaults, and each main choice set back",
        NEW_DEFAULTS,
    ),
    Experiment(
        "quirks", "protocol paper with one quirk replaced, default hyperparameters", PAPER_METHODS
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
    *map(small_trees, (None, *CAPS)),
)
EXPERIMENTS: dict[str, Experiment] = {each.slug: each for each in _ALL}


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
    searched = plan.slug == "tuned" and setting == "ours"
    jobs = []
    for seed in plan.seeds:
        for dataset in paper_datasets() if datasets is None else datasets:
            for method in plan.methods_under(protocol) if methods is None else methods:
                learner = registry.learner(method)
                chosen = params_of(setting, protocol, method, dataset, plan.budget, store)
                for repeat in plan.repeats:
                    params = {**chosen, **plan.overrides.get(method, {}), **repeat}
                    same = {
                        "protocol": protocol,
                        "experiment": SEARCHED if searched else plan.slug,
                        "dataset": dataset,
                        "method": method,
                        "params": Job.freeze(params),
                        "seed": seed,
                        "measured": plan.measured,
                        "content_hash": registry.facts(dataset).content_hash,
                        "protocol_version": registry.protocol_version(protocol),
                        "method_version": learner.version,
                        "family": getattr(learner, "family", ""),
                    }
                    jobs += [Job(trial=trial, **same) for trial in trials]
    return jobs


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

    ``published`` is the default where the paper prints nothing: for DL8.5, which was not tuned,
    and where a learner cannot run (DNDT beyond 12 features), so that its job can say so. ``ours``
    is the published choice where there is nothing to search.
    """
    facts, learner = registry.facts(dataset), registry.learner(method)
    searchable = learner.space and not learner.why_not(facts.n_features, len(facts.class_counts))
    if setting == "ours" and searchable:
        from experiments.search.scores import winning_params

        return winning_params(store, protocol, dataset, method, budget)
    if setting != "default" and learner.published is not None:
        import baselines

        return baselines.published_params(method, facts.name, facts.task)
    return learner.defaults(facts.task)
