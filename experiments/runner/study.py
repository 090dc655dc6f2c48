"""The search: one Optuna study per learner and dataset, in ``<store>/search/studies.sqlite``.

Our own sampler draws candidate k from a hash of its number, as the committed scores were; any of
Optuna's may be named instead. Trials are evaluated by ordinary jobs, whose runs in the
store a study is told of. Optuna's dashboard, importances and plots open the file.
"""

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
from experiments.runs.schema import Job, canonical_json
from experiments.runs.store import BUSY_SECONDS, Store

FILE = "studies.sqlite"
NUMBERED = "random"
"""The name of our own sampler: as random as the paper's search, but by number."""
AT_ONCE = 10
"""How many trials Optuna's samplers are asked for before they are told, whatever the workers."""


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
    """Ours (``random``), or one of Optuna's by name: ``tpe``, ``TPESampler``, ``nsgaii``, …"""
    if name == NUMBERED:
        return NumberedDraws(subject)
    known = {each.removesuffix("Sampler").lower(): each for each in optuna.samplers.__all__}
    wanted = name.lower().removesuffix("sampler")
    if wanted not in known:
        raise UserError(f"unknown sampler {name!r}; {did_you_mean(wanted, [NUMBERED, *known])}")
    try:
        made: optuna.samplers.BaseSampler = getattr(optuna.samplers, known[wanted])(seed=SEED)
    except (TypeError, ValueError, ImportError) as problem:
        raise UserError(f"Optuna's sampler {name!r} cannot be used here: {problem}") from None
    return made


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


def _end(score: float | None) -> dict[str, Any]:
    return {"value": score, "state": TrialState.FAIL if score is None else TrialState.COMPLETE}


class Search:
    """One study, and how many trials it shall have. Numbered candidates whose score is known in
    ``folder`` are not fitted.
    """

    def __init__(
        self,
        subject: Subject,
        trials: int,
        sampler: str,
        storage: optuna.storages.RDBStorage,
        folder: Path,
    ) -> None:
        self.subject, self.trials, self.sampler, self.folder = subject, trials, sampler, folder
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
        self.known = candidates.outcomes_of(folder, subject) if sampler == NUMBERED else {}
        for number in range(len(self.study.get_trials(deepcopy=False)), trials):
            if number not in self.known:
                break
            text, _ = self.known[number]
            how = _end(float(text) if text[0].isdigit() else None)
            params = candidate(subject.dataset, subject.method, number)
            self.study.add_trial(create_trial(params=params, distributions=self.space, **how))

    def ended(self) -> list[FrozenTrial]:
        """Those of the wanted trials that have an outcome, by number."""
        found = self.study.get_trials(deepcopy=False)
        return [one for one in found if one.number < self.trials and one.state.is_finished()]

    def open(self) -> dict[int, Job]:
        """The jobs of trials without an outcome, by number: of all numbered ones, or of the next
        few that another sampler is asked for; first of those that a kill cut off.
        """
        left = self.trials - len(self.ended())
        asked = self.study.get_trials(deepcopy=False, states=[TrialState.RUNNING])
        drawn = {trial.number: trial.params for trial in asked if trial.number < self.trials}
        while len(drawn) < (left if self.sampler == NUMBERED else min(AT_ONCE, left)):
            trial = self.study.ask(self.space)
            drawn[trial.number] = trial.params
        return {number: candidate_job(self.subject, drawn[number]) for number in sorted(drawn)}

    def tell(self, waiting: dict[int, Job], store: Store) -> int:
        """Tell the study of the runs that a store has by now; of how many trials. Where the data is
        missing, a trial stays open for another day.
        """
        told = 0
        for number, job in waiting.items():
            run = store.run(job.key)
            if run is None or (run["status"], run["reason"]) == ("skipped", NO_DATA):
                continue
            how = _end(run["valid_f1"] if run["status"] == "ok" else None)
            self.study.tell(number, how["value"], how["state"], skip_if_finished=True)
            told += 1
        return told

    def _outcomes(self, store: Store) -> dict[int, tuple[str, str]]:
        """Score (or how it failed) and seconds of the trials; one equal to another takes none."""
        found, equal = dict(self.known), set[str]()
        for trial in self.ended():
            key = candidate_job(self.subject, trial.params).key
            if trial.number not in found:
                run = store.run(key) or {"status": "error", "cpu_seconds": None}
                text = run["status"] if trial.value is None else repr(trial.value)
                spent = None if key in equal else run["cpu_seconds"]
                found[trial.number] = text, "" if spent is None else f"{spent:.3g}"
            equal.add(key)
        return found

    def keep(self, store: Store) -> str:
        """Write scores and winner of a finished study; what became of it, in a line."""
        ended = self.ended()
        if len(ended) < self.trials:
            return f"{self.subject}: {self.trials - len(ended)} of {self.trials} trials missing"
        scored = [trial for trial in ended if trial.value is not None]
        if self.sampler == NUMBERED:
            candidates.write_scores(self.folder, self.subject, self._outcomes(store))
        if not scored:
            return f"{self.subject}: no winner, since no candidate could be fitted and scored"
        best = max(scored, key=lambda trial: (trial.value, -trial.number))
        published = candidates.complete(self.subject, {})
        row = {**asdict(self.subject), "sampler": self.sampler, "trials": str(self.trials)}
        row |= {"failed": str(len(ended) - len(scored)), "number": str(best.number)}
        row |= {"score": repr(best.value), "params": canonical_json(best.params)}
        row["published"] = canonical_json({name: published.get(name) for name in self.space})
        candidates.write_winners(self.folder, pd.DataFrame([row]))
        return f"{self.subject}: F1 {best.value:.4f} by candidate {best.number}, {best.params}"
