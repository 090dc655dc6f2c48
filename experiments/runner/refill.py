"""Run jobs again for their predictions alone, where a store has their records but not those.

A record is never replaced: the new fit must repeat its scores (see
``RunRecord.agrees_with``), or its predictions are refused and the difference is told.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from experiments.core import predictions
from experiments.core.files import writing
from experiments.core.job import HOLDOUT, Job
from experiments.core.outcome import Outcome
from experiments.core.record import RunRecord
from experiments.core.store import Store, conflict_text
from experiments.runner.profiles import Filters


def without_predictions(
    store: Store, experiments: Collection[str], filters: Filters
) -> tuple[list[Job], dict[str, RunRecord]]:
    """Planned jobs that ended well without predictions in the store, and all records."""
    records = store.latest()
    jobs = {job.key: job for job in store.plan() if _wanted(job, experiments, filters)}
    missing = [
        job
        for job in jobs.values()
        if job.key in records
        and records[job.key].status == "ok"
        and predictions.classes(store.folder, records[job.key]) is None
    ]
    return missing, records


def _wanted(job: Job, experiments: Collection[str], filters: Filters) -> bool:
    chosen: Iterable[tuple[object, Collection[object] | None]] = (
        (job.experiment, filters.experiments or experiments),
        (job.protocol, filters.protocols),
        (job.dataset, filters.datasets),
        (job.method, filters.methods),
        (job.trial, filters.trials),
    )
    return job.evaluation == HOLDOUT and all(
        among is None or value in among for value, among in chosen
    )


@dataclass
class Refill:
    """Keeps the predictions of fits that repeat their records, and notes the others."""

    records: dict[str, RunRecord]
    filled: int = 0
    differing: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def __call__(self, store: Store, outcome: Outcome) -> RunRecord:
        new, known = outcome.record, self.records[outcome.record.key]
        if new.status != "ok" or outcome.predictions is None:
            where = f"{new.protocol} {new.dataset} {new.method} trial {new.trial}"
            self.failed.append(f"{where}: {new.status}, {new.reason}")
        elif not new.agrees_with(known):
            self.differing.append(conflict_text(known, new))
        else:
            with writing(store.folder):
                predictions.save(store.folder, known, outcome.predictions)
            self.filled += 1
        return new
