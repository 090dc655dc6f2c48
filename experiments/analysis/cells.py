"""From run records to cells: join the jobs of the experiments with what they left behind."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from experiments.analysis.model import Cell, Measure
from experiments.analysis.ranking import mean_of, population_std
from experiments.core.job import Job
from experiments.core.record import RunRecord

Address = tuple[str, str, str, str]
"""protocol, experiment, dataset, method"""

PAPER_LIMIT_SECONDS = 3600.0
LONGEST_REASON = 12
"""Characters that fit into a cell; a longer reason is told elsewhere."""
REPEATS_ITSELF = ("skipped", "timeout", "memory")
"""How a run ends for reasons that lie in the method and the dataset, not in the trial."""
NOT_A_TREE = "n/a"
"""Printed where a method has a result but not this measure, e.g. the size of an ensemble."""


@dataclass(frozen=True)
class Attempt:
    """One planned run of a cell and its record, if it has been made."""

    trial: int
    seed: int
    record: RunRecord | None
    key: str = ""
    """Of the job: attempts of several experiments may be the same job."""


@dataclass(frozen=True)
class Results:
    """All planned runs with their records, by protocol, experiment, dataset and method."""

    attempts: Mapping[Address, tuple[Attempt, ...]]

    def cell(
        self, protocol: str, experiment: str, dataset: str, method: str, measure: Measure
    ) -> Cell:
        return summarise(self.attempts.get((protocol, experiment, dataset, method), ()), measure)

    def jobs(self) -> tuple[int, int]:
        """Distinct jobs that have a record, and those planned: one that two tables use counts once.

        An experiment shares a job with another where dataset, method, trial, seed and
        parameters are equal, which is what a key says.
        """
        every = [attempt for attempts in self.attempts.values() for attempt in attempts]
        made = {attempt.key for attempt in every if attempt.record is not None}
        return len(made), len({attempt.key for attempt in every})


def collect(jobs: Iterable[Job], records: Mapping[str, RunRecord]) -> Results:
    """Join jobs and records on the job's key; a job listed twice counts once."""
    grouped: dict[Address, dict[tuple[int, int, str], Attempt]] = {}
    for job in jobs:
        address = (job.protocol, job.experiment, job.dataset, job.method)
        attempt = Attempt(job.trial, job.seed, records.get(job.key), job.key)
        grouped.setdefault(address, {})[job.trial, job.seed, job.key] = attempt
    return Results(
        {
            address: tuple(attempts[at] for at in sorted(attempts))
            for address, attempts in grouped.items()
        }
    )


def summarise(
    attempts: Iterable[Attempt], measure: Measure | Callable[[RunRecord], float | None]
) -> Cell:
    """Mean and population deviation over the runs that ended well, or why there is none.

    Parameters
    ----------
    measure : a field of the record, or a function of it.
    """
    planned = tuple(attempts)
    trials, values = [], []
    for attempt in planned:
        if attempt.record is not None and attempt.record.status == "ok":
            record = attempt.record
            value = measure(record) if callable(measure) else getattr(record, measure)
            if value is not None and math.isfinite(value):
                trials.append(attempt.trial)
                values.append(float(value))
    if not values:
        return Cell(expected=len(planned), missing=_reason(planned))
    return Cell(
        mean=mean_of(values),
        std=population_std(values),
        n=len(values),
        expected=len(planned),
        values=tuple(values),
        trials=tuple(trials),
    )


def _reason(planned: tuple[Attempt, ...]) -> str:
    """What to print when no run gave a number; empty while one still may.

    What refuses a dataset or exceeds its limits will do so in the open trials as well;
    after a crash or an error the others are waited for.
    """
    made = [attempt.record for attempt in planned if attempt.record is not None]
    if len(made) < len(planned) and not all(record.status in REPEATS_ITSELF for record in made):
        return ""
    texts = Counter(reason_text(record) for record in made)
    return max(sorted(texts), key=texts.__getitem__, default="")


def reason_text(record: RunRecord) -> str:
    """The few characters that stand in a table for a run without a number."""
    if record.status == "ok":
        return NOT_A_TREE
    if record.status == "skipped" and len(record.reason) <= LONGEST_REASON:
        return record.reason
    if record.status == "timeout":
        return _timeout_text(record.extra.get("limit", PAPER_LIMIT_SECONDS))
    return record.status


def _timeout_text(seconds: float) -> str:
    return f">{seconds / 60:g} min" if seconds >= 60 else f">{seconds:g} s"
