"""Optuna studies whose samplers and pruners are named, brought as far as the records go.

Studies are not stored: asked again for the same trials and told the same
scores, they come out the same. So a search resumes from records alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.trial import FrozenTrial, TrialState

from experiments.core.job import Job
from experiments.core.record import RunRecord
from experiments.runner.candidates import FOLDS, SEED, TRIALS, candidate_job, draw, space_of

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


Records = Mapping[str, RunRecord]


class Campaign:
    """Asks a study for trials and answers it from records until a job is missing.

    Random search scores a candidate in one job. TPE scores it fold by fold,
    so that a candidate behind the median can be given up early.
    """

    def __init__(
        self,
        subject: Subject,
        sampler: SamplerName = "random",
        trials: int = TRIALS,
        seed: int = SEED,
    ) -> None:
        self.subject = subject
        self.sampler = sampler
        self.trials = trials
        self.study = make_study(subject, sampler, seed)
        self._space = dict(distributions(subject.method))
        self._open: optuna.Trial | None = None
        self._scores: list[float] = []

    @property
    def told(self) -> int:
        """Trials that have ended, well or not."""
        return len(self.study.trials) - (self._open is not None)

    def advance(self, records: Records) -> Job | None:
        """Tell the study what is known; the first job that is missing, ``None`` at the end."""
        while self._open is not None or self.told < self.trials:
            if self._open is None:
                self._open, self._scores = self.study.ask(self._space), []
            job = self._job(self._open)
            record = records.get(job.key)
            if record is None:
                return job
            self._tell(self._open, record)
        return None

    def skip_missing(self, records: Records) -> int:
        """Tell what is known and pass over what is not; how many trials were passed over.

        For random search only, whose trials do not depend on one another.
        """
        missing = 0
        while self.advance(records) is not None:
            assert self._open is not None
            self.study.tell(self._open, state=TrialState.FAIL)
            self._open = None
            missing += 1
        return missing

    def best(self) -> optuna.trial.FrozenTrial | None:
        """The trial with the highest score, the earliest of equals."""
        done = self.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        return max(done, key=lambda trial: (trial.value, -trial.number), default=None)

    def _job(self, trial: optuna.Trial) -> Job:
        subject = self.subject
        fold = None if self.sampler == "random" else len(self._scores)
        return candidate_job(subject.protocol, subject.dataset, subject.method, trial.params, fold)

    def _tell(self, trial: optuna.Trial, record: RunRecord) -> None:
        if record.status != "ok" or record.valid_f1 is None:
            self._close(trial, state=TrialState.FAIL)
            return
        self._scores.append(record.valid_f1)
        if self.sampler == "random":
            self._close(trial, value=record.valid_f1)
            return
        trial.report(float(np.mean(self._scores)), step=len(self._scores) - 1)
        if len(self._scores) == FOLDS:
            self._close(trial, value=float(np.mean(self._scores)))
        elif trial.should_prune():
            self._close(trial, state=TrialState.PRUNED)

    def _close(self, trial: optuna.Trial, **outcome: Any) -> None:
        self.study.tell(trial, outcome.get("value"), state=outcome.get("state"))
        self._open = None


class CampaignQueue:
    """Hands out the next job of every campaign, one at a time for each.

    The campaigns go on in parallel; inside one, each trial waits for those
    before it, so that the outcome does not depend on the number of workers.
    """

    def __init__(self, campaigns: Sequence[Campaign], records: Records) -> None:
        self._records = dict(records)
        self._idle = list(campaigns)
        self._out: dict[str, Campaign] = {}

    def __len__(self) -> int:
        waiting = [*self._idle, *self._out.values()]
        return sum(campaign.trials - campaign.told for campaign in waiting)

    def take(self) -> Job | None:
        while self._idle:
            campaign = self._idle.pop(0)
            job = campaign.advance(self._records)
            if job is not None:
                self._out[job.key] = campaign
                return job
        return None

    def finish(self, record: RunRecord) -> list[RunRecord]:
        self._records[record.key] = record
        self._idle.append(self._out.pop(record.key))
        return []
