"""Optuna studies whose samplers and pruners are named, never left to a default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.trial import FrozenTrial

from experiments.search.space import draw, space_of

SamplerName = Literal["random", "tpe"]


@dataclass(frozen=True)
class Subject:
    """What is searched: a learner on a dataset under a protocol."""

    protocol: str
    dataset: str
    method: str


class HashSampler(optuna.samplers.BaseSampler):
    """Random search in which trial k depends on its number alone, not on the trials before.

    Parameters
    ----------
    seed, dataset, method : with the trial's number and the parameter's name, all
        that a draw depends on.
    """

    def __init__(self, seed: int, dataset: str, method: str) -> None:
        self._what_for = (seed, dataset, method)

    def infer_relative_search_space(
        self, study: optuna.Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        return {}

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        return {}

    def sample_independent(
        self,
        study: optuna.Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        if not isinstance(param_distribution, CategoricalDistribution):
            raise TypeError(f"{param_name}: spaces of the suite are lists of candidate values")
        return draw(param_distribution.choices, *self._what_for, trial.number, param_name)


def distributions(method: str) -> Mapping[str, BaseDistribution]:
    """The declared space of a learner in Optuna's terms."""
    space = space_of(method)
    return {name: CategoricalDistribution(list(values)) for name, values in space.items()}


def make_study(subject: Subject, sampler: SamplerName, seed: int) -> optuna.Study:
    """An empty study: the paper's random search, or TPE with median pruning beyond it."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    if sampler == "random":
        return optuna.create_study(
            direction="maximize",
            sampler=HashSampler(seed, subject.dataset, subject.method),
            pruner=optuna.pruners.NopPruner(),
        )
    return optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=seed, multivariate=False, constant_liar=False),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=10, n_warmup_steps=0),
    )
