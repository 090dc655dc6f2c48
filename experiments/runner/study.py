"""The search: one Optuna study per learner and dataset, in ``<store>/search/studies.sqlite``.

Our own sampler draws candidate k from a hash of its number, as the committed scores were; any of
Optuna's may be named instead. Trials are evaluated by ordinary jobs; a trial that was cut off is
taken up again, and a candidate that equals an earlier one, or was scored before, is not fitted.
Optuna's dashboard, importances and plots open the file.
"""

import inspect
from collections import deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import optuna
import pandas as pd
import sqlalchemy
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.trial import FrozenTrial, TrialState, create_trial

from experiments.errors import UserError, did_you_mean
from experiments.runner import candidates
from experiments.runner.candidates import SEED, Subject, candidate, candidate_job, draw, space_of
from experiments.runner.run_job import NO_DATA
from experiments.runs.job import Job, canonical_json
from experiments.runs.schema import Run
from experiments.runs.store import BUSY_SECONDS, Store

FILE = "studies.sqlite"
NUMBERED = "random"
"""The name of our own sampler: as random as the paper's search, but by number."""
RUN = "run"
"""Attribute of a trial: status and processor seconds of its job."""
FINISHED = (TrialState.COMPLETE, TrialState.FAIL, TrialState.PRUNED)


class NumberedDraws(optuna.samplers.RandomSampler):
    """Candidate k is a function of the seed, the dataset, the learner and k alone."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(SEED)
        self._what_for = (SEED, subject.dataset, subject.method)

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, name: str, distribution: BaseDistribution
    ) -> Any:
        assert isinstance(distribution, CategoricalDistribution)
        return draw(distribution.choices, *self._what_for, trial.number, name)


def sampler_of(name: str, subject: Subject) -> optuna.samplers.BaseSampler:
    """Ours (``random``), or one of Optuna's by name: ``tpe``, ``TPESampler``, ``cmaes``, …"""
    if name == NUMBERED:
        return NumberedDraws(subject)
    known = {
        each.removesuffix("Sampler").lower(): getattr(optuna.samplers, each)
        for each in optuna.samplers.__all__
        if each.endswith("Sampler") and each != "BaseSampler"
    }
    wanted = name.lower().removesuffix("sampler")
    if wanted not in known:
        raise UserError(f"unknown sampler {name!r}; {did_you_mean(wanted, [NUMBERED, *known])}")
    offered: dict[str, Any] = {"seed": SEED, "search_space": dict(space_of(subject.method))}
    accepted = inspect.signature(known[wanted]).parameters
    try:
        return known[wanted](**{key: offered[key] for key in accepted if key in offered})
    except (TypeError, ValueError, ImportError) as problem:
        raise UserError(f"Optuna's sampler {name!r} cannot be used here: {problem}") from None


def storage_in(folder: Path) -> optuna.storages.RDBStorage:
    """Optuna's SQLite file in a folder, with a write-ahead log."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    folder.mkdir(parents=True, exist_ok=True)
    patient = {"connect_args": {"timeout": BUSY_SECONDS}}
    storage = optuna.storages.RDBStorage(f"sqlite:///{folder / FILE}", engine_kwargs=patient)
    pragmas = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
    sqlalchemy.event.listen(storage.engine, "connect", lambda one, _: one.executescript(pragmas))
    storage.engine.dispose()
    return storage


class Search:
    """One study, how far it is to be brought, and how many of its trials are ``left`` or ``out``,
    which wait for a job. Candidates whose outcome is known are read instead of fitted.
    """

    def __init__(
        self,
        subject: Subject,
        trials: int,
        sampler: str,
        storage: optuna.storages.RDBStorage,
        known: Mapping[int, tuple[str, str]],
    ) -> None:
        self.subject, self.trials, self.sampler = subject, trials, sampler
        self.space: dict[str, BaseDistribution] = {
            name: CategoricalDistribution(list(values))
            for name, values in space_of(subject.method).items()
        }
        self.study = optuna.create_study(
            storage=storage,
            study_name=f"{subject} {sampler} {SEED}",
            sampler=sampler_of(sampler, subject),
            direction="maximize",
            load_if_exists=True,
        )
        for number in range(len(self.study.get_trials(deepcopy=False)), trials):
            if number not in known:
                break
            text, seconds = known[number]
            score = float(text) if text[0].isdigit() else None
            trial = create_trial(
                state=TrialState.FAIL if score is None else TrialState.COMPLETE,
                value=score,
                params=self.candidate(number),
                distributions=self.space,
                user_attrs={RUN: {"status": text if score is None else "ok", "seconds": seconds}},
            )
            self.study.add_trial(trial)
        self.left, self.out = trials - self.done(), 0
        self.cut_off = self.trials_that(TrialState.RUNNING)  # by a kill

    def candidate(self, number: int) -> dict[str, Any]:
        return candidate(self.subject.dataset, self.subject.method, number)

    def trials_that(self, *states: TrialState) -> list[FrozenTrial]:
        """Those of the wanted trials that are in one of these states."""
        found = self.study.get_trials(deepcopy=False, states=states)
        return [trial for trial in found if trial.number < self.trials]

    def done(self) -> int:
        return len(self.trials_that(*FINISHED))

    def next_trial(self) -> optuna.Trial | None:
        if self.cut_off:
            return optuna.Trial(self.study, self.cut_off.pop(0)._trial_id)
        if self.left <= self.out or (self.out and self.sampler != NUMBERED):
            return None
        return self.study.ask(self.space)

    def tell(self, trial: optuna.Trial, run: Run) -> None:
        score, spent = run.get("valid_f1"), run.get("cpu_seconds")
        seconds = "" if spent is None else f"{spent:.3g}"
        trial.set_user_attr(RUN, {"status": run["status"], "seconds": seconds})
        if run["status"] == "ok":
            self.study.tell(trial, score)
        else:
            self.study.tell(trial, state=TrialState.FAIL)

    def jobs(self) -> list[Job]:
        """The jobs of candidates that have no score yet; none where a sampler must be asked."""
        if self.sampler != NUMBERED:
            return []
        scored = {trial.number for trial in self.trials_that(*FINISHED)}
        numbers = [number for number in range(self.trials) if number not in scored]
        return [candidate_job(self.subject, self.candidate(number)) for number in numbers]

    def keep(self, folder: Path) -> str:
        """Write scores and winner of a finished study; what became of it, in a line."""
        ended = self.trials_that(*FINISHED)
        if len(ended) < self.trials:
            return f"{self.subject}: {self.trials - len(ended)} of {self.trials} trials missing"
        scored = [trial for trial in ended if trial.value is not None]
        if self.sampler == NUMBERED:
            attributes = {trial.number: trial.user_attrs[RUN] for trial in ended}
            texts = {n: (own["status"], own["seconds"]) for n, own in attributes.items()}
            texts |= {t.number: (repr(t.value), texts[t.number][1]) for t in scored}
            candidates.write_scores(folder, self.subject, texts)
        if not scored:
            return f"{self.subject}: no winner, since no candidate could be fitted and scored"
        best = max(scored, key=lambda trial: (trial.value, -trial.number))
        published = candidates.complete(self.subject, {})
        row = {**asdict(self.subject), "sampler": self.sampler, "trials": str(self.trials)}
        row |= {"failed": str(len(ended) - len(scored)), "number": str(best.number)}
        row |= {"score": repr(best.value), "params": canonical_json(best.params)}
        row["published"] = canonical_json({name: published.get(name) for name in self.space})
        candidates.write_winners(folder, pd.DataFrame([row]))
        return f"{self.subject}: F1 {best.value:.4f} by candidate {best.number}, {best.params}"


def open_searches(
    subjects: Collection[tuple[Subject, int]], sampler: str, store: Path, folder: Path
) -> list[Search]:
    """The studies of a store, each with its number of trials and the scores known in a folder."""
    storage = storage_in(candidates.folder_of(store))
    known = {each: candidates.outcomes_of(folder, each) for each, _ in subjects}
    ours = sampler == NUMBERED
    return [Search(each, n, sampler, storage, known[each] if ours else {}) for each, n in subjects]


class SearchQueue:
    """Hands out the jobs of studies that are not finished, study by study in turn. Candidates by
    number are evaluated side by side; with another sampler a trial waits for the one before it, so
    that the outcome does not depend on the number of workers.
    """

    def __init__(self, searches: Iterable[Search], store: Store) -> None:
        self._store = store if store.exists else None
        self._ended: dict[str, Run] = {}
        self._turn = deque(each for each in searches if each.left)
        self._waiting: dict[str, list[tuple[Search, optuna.Trial]]] = {}

    def __len__(self) -> int:
        return sum(one.left - one.out for one in self._turn)

    def take(self) -> Job | None:
        """The next job; ``None`` if there is none before another ends."""
        for _ in range(len(self._turn)):
            one = self._turn[0]
            self._turn.rotate(-1)
            while (trial := one.next_trial()) is not None:
                job = candidate_job(one.subject, trial.params)
                stored = self._store.run(job.key) if self._store else None
                known = stored if stored and stored["status"] == "ok" else self._ended.get(job.key)
                if known is not None:
                    one.tell(trial, known)
                    one.left -= 1
                    continue
                one.out += 1
                self._waiting.setdefault(job.key, []).append((one, trial))
                if len(self._waiting[job.key]) == 1:
                    return job
        return None

    def finish(self, run: Run) -> list[dict[str, Any]]:
        """Tell the studies; where the data is missing, the trial stays open for another day."""
        no_data = run["status"] == "skipped" and run.get("reason") == NO_DATA
        again = {**run, "cpu_seconds": None}  # an equal candidate takes none
        for at, (one, trial) in enumerate(self._waiting.pop(run["key"], [])):
            one.out -= 1
            one.left -= 1
            if not no_data:
                one.tell(trial, again if at else run)
        if not no_data:
            self._ended[run["key"]] = again
        return []
