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
from experiments.runner.candidates import (
    SEED,
    Subject,
    candidate,
    candidate_job,
    draw,
    space_of,
)
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
    """One study and how far it is to be brought.

    Attributes
    ----------
    known : outcomes by number of the candidate, read instead of fitted.
    """

    subject: Subject
    trials: int
    seed: int
    sampler: str
    storage: optuna.storages.RDBStorage
    known: Mapping[int, tuple[str, str]]

    @cached_property
    def study(self) -> optuna.Study:
        return optuna.create_study(
            storage=self.storage,
            study_name=f"{self.subject} {self.sampler} {self.seed}",
            sampler=sampler_of(self.sampler, self.subject, self.seed),
            direction="maximize",
            load_if_exists=True,
        )

    @cached_property
    def space(self) -> dict[str, BaseDistribution]:
        space = space_of(self.subject.method)
        return {name: CategoricalDistribution(list(values)) for name, values in space.items()}

    def done(self) -> int:
        """How many of the trials that are wanted have ended."""
        ended = self.study.get_trials(deepcopy=False, states=FINISHED)
        return sum(trial.number < self.trials for trial in ended)

    def cut_off(self) -> list[optuna.Trial]:
        """Trials that a killed process has left open."""
        left = self.study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        wanted = [trial for trial in left if trial.number < self.trials]
        return [optuna.Trial(self.study, trial._trial_id) for trial in wanted]

    def jobs(self) -> list[Job]:
        """The jobs of candidates that have no score yet; none where a sampler must be asked."""
        if self.sampler != NUMBERED:
            return []
        ended = {one.number for one in self.study.get_trials(deepcopy=False, states=FINISHED)}
        place = (self.subject.dataset, self.subject.method)
        numbers = [n for n in range(self.trials) if n not in ended and n not in self.known]
        return [candidate_job(self.subject, candidate(*place, n, self.seed)) for n in numbers]

    def tell(self, trial: optuna.Trial, score: float | None, status: str, seconds: str) -> None:
        trial.set_user_attr(RUN, {"status": status, "seconds": seconds})
        state = TrialState.COMPLETE if score is not None else TrialState.FAIL
        self.study.tell(trial, score, state)

    def keep(self, folder: Path) -> str:
        """Write scores and winner of a finished study; what became of it, in a line."""
        ended = self.study.get_trials(deepcopy=False, states=FINISHED)
        ended = [trial for trial in ended if trial.number < self.trials]
        if len(ended) < self.trials:
            return f"{self.subject}: {self.trials - len(ended)} of {self.trials} trials missing"
        if self.sampler == NUMBERED:
            outcomes = {
                trial.number: (
                    trial.user_attrs[RUN]["status"] if trial.value is None else repr(trial.value),
                    trial.user_attrs[RUN]["seconds"],
                )
                for trial in ended
            }
            scores.write_scores(folder, self.subject, outcomes)
        scored = [trial for trial in ended if trial.value is not None]
        if not scored:
            return f"{self.subject}: no winner, since no candidate could be fitted and scored"
        best = max(scored, key=lambda trial: (trial.value, -trial.number))
        failed = len(ended) - len(scored)
        won = (best.number, float(best.value or 0), dict(best.params))
        row = scores.winner(self.subject, self.sampler, self.trials, failed, won)
        scores.write_winners(folder, pd.DataFrame([row]))
        return f"{self.subject}: F1 {best.value:.4f} by candidate {best.number}, {best.params}"


def open_searches(
    subjects: Iterable[tuple[Subject, int]], seed: int, sampler: str, store: Path, folder: Path
) -> list[Search]:
    """The studies of a store, each with its number of trials and the scores known in a folder."""
    storage = storage_in(scores.folder_of(store))
    searches = []
    for subject, trials in subjects:
        table = scores.read_scores(folder, subject.protocol, subject.dataset)
        known: dict[int, tuple[str, str]] = {}
        if sampler == NUMBERED and seed == SEED and subject.method in table:
            columns = table[subject.method], table[subject.method + scores.SECONDS]
            pairs = zip(table.index, *columns, strict=True)
            known = {int(number): (text, spent) for number, text, spent in pairs if text}
        searches.append(Search(subject, trials, seed, sampler, storage, known))
    return searches


class SearchQueue:
    """Hands out the jobs of studies that are not finished, study by study in turn.

    Candidates by number do not depend on one another and are evaluated side by side; with
    another sampler a trial waits for the one before it, so that the outcome does not depend on
    the number of workers.
    """

    def __init__(self, searches: Iterable[Search], store: Store) -> None:
        self._scored = _stored_scores(store)
        self._turn = deque(search for search in searches if search.done() < search.trials)
        self._left = {id(search): search.trials - search.done() for search in self._turn}
        self._reopened = {id(search): deque(search.cut_off()) for search in self._turn}
        self._waiting: dict[str, list[tuple[Search, optuna.Trial]]] = {}

    def __len__(self) -> int:
        return sum(self._left.values()) - sum(map(len, self._waiting.values()))

    def take(self) -> Job | None:
        """The next job; ``None`` if there is none before another ends."""
        for _ in range(len(self._turn)):
            search = self._turn[0]
            self._turn.rotate(-1)
            while (trial := self._next_trial(search)) is not None:
                job = candidate_job(search.subject, trial.params)
                if trial.number in search.known:
                    text, seconds = search.known[trial.number]
                    score = float(text) if text[0].isdigit() else None
                    self._tell(search, trial, score, "ok" if score is not None else text, seconds)
                elif job.key in self._scored:
                    self._tell(search, trial, *self._scored[job.key])
                elif job.key in self._waiting:
                    self._waiting[job.key].append((search, trial))
                else:
                    self._waiting[job.key] = [(search, trial)]
                    return job
        return None

    def _next_trial(self, search: Search) -> optuna.Trial | None:
        if self._reopened[id(search)]:
            return self._reopened[id(search)].popleft()
        flying = sum(one is search for pairs in self._waiting.values() for one, _ in pairs)
        if self._left[id(search)] <= flying or (flying and search.sampler != NUMBERED):
            return None
        return search.study.ask(search.space)

    def _tell(
        self, search: Search, trial: optuna.Trial, score: float | None, status: str, seconds: str
    ) -> None:
        search.tell(trial, score, status, seconds)
        self._left[id(search)] -= 1

    def finish(self, run: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Tell the studies; where the data is missing, the trial stays open for another day."""
        score = run.get("valid_f1") if run["status"] == "ok" else None
        spent = run.get("cpu_seconds")
        seconds = "" if spent is None else f"{spent:.3g}"
        self._scored[run["key"]] = score, run["status"], ""
        for search, trial in self._waiting.pop(run["key"], []):
            if run["status"] == "skipped" and run.get("reason") == "no data":
                self._left[id(search)] -= 1
                continue
            self._tell(search, trial, score, run["status"], seconds)
            seconds = ""  # an equal candidate took none
        return []


def _stored_scores(store: Store) -> dict[str, tuple[float | None, str, str]]:
    """Score, status and seconds of the cross-validations that a store has."""
    if not store.exists:
        return {}
    columns = "key, status, valid_f1, cpu_seconds"
    rows = store.connect().execute(
        f"SELECT {columns} FROM runs WHERE evaluation LIKE 'cv:%' AND status = 'ok'"
    )
    return {
        row["key"]: (row["valid_f1"], row["status"], f"{row['cpu_seconds'] or 0:.3g}")
        for row in rows
    }
