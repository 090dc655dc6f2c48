"""The search beyond the paper: Optuna studies (TPE), brought as far as the records go.

Studies are not stored: asked again for the same trials and told the same
scores, they come out the same. So a search resumes from records alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.trial import TrialState

from experiments.core.job import Job
from experiments.core.record import RunRecord
from experiments.core.searched import Subject
from experiments.runner.candidates import FOLDS, SEED, TRIALS, candidate_job, space_of


def distributions(method: str) -> Mapping[str, BaseDistribution]:
    """The declared space of a learner in Optuna's terms."""
    space = space_of(method)
    return {name: CategoricalDistribution(list(values)) for name, values in space.items()}


def make_study(seed: int) -> optuna.Study:
    """An empty study: tree-structured Parzen estimators with median pruning."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=seed, multivariate=False, constant_liar=False),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=10, n_warmup_steps=0),
    )


Records = Mapping[str, RunRecord]


class Campaign:
    """Asks a study for trials and answers it from records until a job is missing.

    A candidate is scored fold by fold, so that one behind the median can be given up early.
    """

    def __init__(self, subject: Subject, trials: int = TRIALS, seed: int = SEED) -> None:
        self.subject = subject
        self.trials = trials
        self.study = make_study(seed)
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

    def best(self) -> optuna.trial.FrozenTrial | None:
        """The trial with the highest score, the earliest of equals."""
        done = self.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        return max(done, key=lambda trial: (trial.value, -trial.number), default=None)

    def _job(self, trial: optuna.Trial) -> Job:
        place = (self.subject.protocol, self.subject.dataset, self.subject.method)
        return candidate_job(*place, trial.params, fold=len(self._scores))

    def _tell(self, trial: optuna.Trial, record: RunRecord) -> None:
        if record.status != "ok" or record.valid_f1 is None:
            self._close(trial, state=TrialState.FAIL)
            return
        self._scores.append(record.valid_f1)
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
