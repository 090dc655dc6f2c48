"""The search: one Optuna study per learner and dataset, in ``<store>/search/studies.sqlite``.

Our own sampler draws candidate k from a hash of its number, as the committed scores were; any of
Optuna's may be named instead. Trials are evaluated by ordinary jobs; a trial that was cut off is
taken up again, and a candidate that equals an earlier one, or was scored before, is not fitted.
Optuna's dashboard, importances and plots open the file.
"""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import optuna
import pandas as pd
import sqlalchemy
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.trial import FrozenTrial, TrialState

from experiments.errors import UserError, did_you_mean
from experiments.runner import search_scores as scores
from experiments.runner.candidates import SEED, Subject, candidate, candidate_job, draw, space_of
from experiments.runner.run_job import NO_DATA
from experiments.runs.job import Job
from experiments.runs.store import BUSY_SECONDS, Store

FILE = "studies.sqlite"
NUMBERED = "random"
"""The name of our own sampler: as random as the paper's search, but by number."""
RUN = "run"
"""Attribute of a trial: status and processor seconds of its job."""
FINISHED = (TrialState.COMPLETE, TrialState.FAIL, TrialState.PRUNED)


class NumberedDraws(optuna.samplers.RandomSampler):
    """Candidate k is a function of the seed, the dataset, the learner and k alone."""

    def __init__(self, subject: Subject, seed: int) -> None:
        super().__init__(seed)
        self._what_for = (seed, subject.dataset, subject.method)

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, name: str, distribution: BaseDistribution
    ) -> Any:
        assert isinstance(distribution, CategoricalDistribution)
        return draw(distribution.choices, *self._what_for, trial.number, name)


def sampler_of(name: str, subject: Subject, seed: int) -> optuna.samplers.BaseSampler:
    """Ours (``random``), or one of Optuna's by name: ``tpe``, ``TPESampler``, ``cmaes``, …"""
    if name == NUMBERED:
        return NumberedDraws(subject, seed)
    known = {
        each.removesuffix("Sampler").lower(): getattr(optuna.samplers, each)
        for each in optuna.samplers.__all__
        if each.endswith("Sampler") and each != "BaseSampler"
    }
    wanted = name.lower().removesuffix("sampler")
    if wanted not in known:
        raise UserError(f"unknown sampler {name!r}; {did_you_mean(wanted, [NUMBERED, *known])}")
    offered: dict[str, Any] = {"seed": seed, "search_space": dict(space_of(subject.method))}
    accepted = inspect.signature(known[wanted]).parameters
    try:
        return known[wanted](**{key: offered[key] for key in accepted if key in offered})
    except (TypeError, ValueError, ImportError) as problem:
        raise UserError(f"Optuna's sampler {name!r} cannot be used here: {problem}") from None


def storage_in(folder: Path) -> optuna.storages.RDBStorage:
    """Optuna's SQLite file in a folder, with a write-ahead log."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    folder.mkdir(parents=True, exist_ok=True)
    storage = optuna.storages.RDBStorage(
        f"sqlite:///{folder / FILE}", engine_kwargs={"connect_args": {"timeout": BUSY_SECONDS}}
    )

    def set_up(connection: Any, _: Any) -> None:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")

    sqlalchemy.event.listen(storage.engine, "connect", set_up)
    storage.engine.dispose()
    return storage


@dataclass
class Search:
    """One study and how far it is to be brought."""

    subject: Subject
    trials: int
    seed: int
    sampler: str
    storage: optuna.storages.RDBStorage
    known: Mapping[int, tuple[str, str]]
    """Outcomes by number of the candidate, read instead of fitted."""

    @cached_property
    def study(self) -> optuna.Study:
        return optuna.create_study(
            storage=self.storage,
            study_name=f"{self.subject} {self.sampler} {self.seed}",
            sampler=sampler_of(self.sampler, self.subject, self.seed),
            direction="maximize",
            load_if_exists=True,
        )

    def trials_that(self, *states: TrialState) -> list[FrozenTrial]:
        """Those of the wanted trials that are in one of these states."""
        found = self.study.get_trials(deepcopy=False, states=states)
        return [trial for trial in found if trial.number < self.trials]

    def done(self) -> int:
        return len(self.trials_that(*FINISHED))

    def ask(self) -> optuna.Trial:
        space = space_of(self.subject.method)
        return self.study.ask({n: CategoricalDistribution(list(v)) for n, v in space.items()})

    def tell(self, trial: optuna.Trial, score: float | None, status: str, seconds: str) -> None:
        trial.set_user_attr(RUN, {"status": status, "seconds": seconds})
        self.study.tell(trial, score, TrialState.FAIL if score is None else TrialState.COMPLETE)

    def jobs(self) -> list[Job]:
        """The jobs of candidates that have no score yet; none where a sampler must be asked."""
        if self.sampler != NUMBERED:
            return []
        scored = {trial.number for trial in self.trials_that(*FINISHED)} | set(self.known)
        place = (self.subject.dataset, self.subject.method)
        drawn = (candidate(*place, n, self.seed) for n in range(self.trials) if n not in scored)
        return [candidate_job(self.subject, each) for each in drawn]

    def keep(self, folder: Path) -> str:
        """Write scores and winner of a finished study; what became of it, in a line."""
        ended = self.trials_that(*FINISHED)
        if len(ended) < self.trials:
            return f"{self.subject}: {self.trials - len(ended)} of {self.trials} trials missing"
        if self.sampler == NUMBERED:
            runs = [(trial, trial.user_attrs[RUN]) for trial in ended]
            outcomes = {
                trial.number: (
                    run["status"] if trial.value is None else repr(trial.value),
                    run["seconds"],
                )
                for trial, run in runs
            }
            scores.write_scores(folder, self.subject, outcomes)
        scored = [trial for trial in ended if trial.value is not None]
        if not scored:
            return f"{self.subject}: no winner, since no candidate could be fitted and scored"
        best = max(scored, key=lambda trial: (trial.value, -trial.number))
        won = (best.number, float(best.value or 0), dict(best.params))
        failed = len(ended) - len(scored)
        row = scores.winner(self.subject, self.sampler, self.trials, failed, won)
        scores.write_winners(folder, pd.DataFrame([row]))
        return f"{self.subject}: F1 {best.value:.4f} by candidate {best.number}, {best.params}"


def open_searches(
    subjects: Iterable[tuple[Subject, int]], seed: int, sampler: str, store: Path, folder: Path
) -> list[Search]:
    """The studies of a store, each with its number of trials and the scores known in a folder."""
    storage = storage_in(scores.folder_of(store))
    ours = sampler == NUMBERED and seed == SEED
    searches = []
    for subject, trials in subjects:
        table = scores.read_scores(folder, subject.protocol, subject.dataset)
        known = scores.outcomes_of(table, subject.method) if ours else {}
        searches.append(Search(subject, trials, seed, sampler, storage, known))
    return searches


@dataclass
class _Open:
    """A study that is not finished."""

    search: Search
    left: int
    """Trials that have no outcome yet."""
    cut_off: list[FrozenTrial]
    """Those that a killed process has left open."""
    out: int = 0
    """Those that wait for the outcome of a job."""

    def next_trial(self) -> optuna.Trial | None:
        if self.cut_off:
            return optuna.Trial(self.search.study, self.cut_off.pop(0)._trial_id)
        if self.left <= self.out or (self.out and self.search.sampler != NUMBERED):
            return None
        return self.search.ask()


class SearchQueue:
    """Hands out the jobs of studies that are not finished, study by study in turn.

    Candidates by number do not depend on one another and are evaluated side by side; with
    another sampler a trial waits for the one before it, so that the outcome does not depend on
    the number of workers.
    """

    def __init__(self, searches: Iterable[Search], store: Store) -> None:
        self._scored: dict[str, tuple[float | None, str, str]] = {}
        """Score, status and seconds of cross-validations by key."""
        if store.exists:
            rows = store.connect().execute(
                "SELECT key, valid_f1, cpu_seconds FROM runs "
                "WHERE evaluation LIKE 'cv:%' AND status = 'ok'"
            )
            self._scored = {key: (f1, "ok", f"{spent or 0:.3g}") for key, f1, spent in rows}
        self._turn = deque(
            _Open(each, left, each.trials_that(TrialState.RUNNING))
            for each in searches
            if (left := each.trials - each.done())
        )
        self._waiting: dict[str, list[tuple[_Open, optuna.Trial]]] = {}

    def __len__(self) -> int:
        return sum(one.left - one.out for one in self._turn)

    def take(self) -> Job | None:
        """The next job; ``None`` if there is none before another ends."""
        for _ in range(len(self._turn)):
            one = self._turn[0]
            self._turn.rotate(-1)
            while (trial := one.next_trial()) is not None:
                job, known = candidate_job(one.search.subject, trial.params), one.search.known
                if trial.number in known:
                    text, seconds = known[trial.number]
                    score = float(text) if text[0].isdigit() else None
                    one.search.tell(trial, score, "ok" if score is not None else text, seconds)
                    one.left -= 1
                elif job.key in self._scored:
                    one.search.tell(trial, *self._scored[job.key])
                    one.left -= 1
                else:
                    one.out += 1
                    self._waiting.setdefault(job.key, []).append((one, trial))
                    if len(self._waiting[job.key]) == 1:
                        return job
        return None

    def finish(self, run: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Tell the studies; where the data is missing, the trial stays open for another day."""
        score = run.get("valid_f1") if run["status"] == "ok" else None
        spent = run.get("cpu_seconds")
        seconds = "" if spent is None else f"{spent:.3g}"
        self._scored[run["key"]] = score, run["status"], ""
        for one, trial in self._waiting.pop(run["key"], []):
            one.out -= 1
            one.left -= 1
            if run["status"] != "skipped" or run.get("reason") != NO_DATA:
                one.search.tell(trial, score, run["status"], seconds)
                seconds = ""  # an equal candidate took none
        return []
