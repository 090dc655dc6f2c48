"""How long jobs will take, from the records of similar ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from experiments.core.job import HOLDOUT, Job, canonical_json
from experiments.core.record import RunRecord
from experiments.runner import plugins

UNKNOWN_SECONDS = 10.0
"""For a learner of which there is no record at all; plans say that it is a guess."""
OVERHEAD_SECONDS = 0.05
"""Loading, measuring and storing, on top of fitting."""


@dataclass(frozen=True)
class Estimate:
    """Seconds of one job, and how near the records are that they come from."""

    seconds: float
    basis: str


class Estimator:
    """Looks for records of ever less similar jobs: same parameters, same dataset, same learner.

    From the same learner on other datasets, seconds are scaled by rows times
    features. A job that exceeded its time counts with its limit.
    """

    def __init__(self, records: Iterable[RunRecord], time_limit: float) -> None:
        self._limit = time_limit
        self._by_params: dict[tuple[str, ...], list[float]] = defaultdict(list)
        self._by_dataset: dict[tuple[str, ...], list[float]] = defaultdict(list)
        self._per_cell: dict[tuple[str, ...], list[float]] = defaultdict(list)
        for record in records:
            self._learn(record)

    def _learn(self, record: RunRecord) -> None:
        if record.status == "skipped" or "implied_by" in record.extra:
            return
        # CPU time is what a job takes on a machine that has nothing else to do.
        seconds = record.cpu_seconds if record.cpu_seconds is not None else record.wall_seconds
        if record.status == "timeout":
            seconds = record.extra.get("limit")
        if seconds is None:
            return
        kind = (record.evaluation, record.method)
        self._by_params[(*kind, record.dataset, canonical_json(record.params))].append(seconds)
        self._by_dataset[(*kind, record.dataset)].append(seconds)
        try:
            cells = _cells(record.dataset)
        except LookupError:  # a dataset that the suite no longer has
            return
        self._per_cell[kind].append(seconds / cells)

    def estimate(self, job: Job) -> Estimate:
        kind = (job.evaluation, job.method)
        if known := self._by_params.get((*kind, job.dataset, job.params_json)):
            return self._capped(median(known), "same parameters")
        if known := self._by_dataset.get((*kind, job.dataset)):
            return self._capped(median(known), "same dataset")
        if known := self._per_cell.get(kind):
            return self._capped(median(known) * _cells(job.dataset), "other datasets")
        if job.evaluation != HOLDOUT and (known := self._per_cell.get((HOLDOUT, job.method))):
            return self._capped(3 * median(known) * _cells(job.dataset), "other datasets")
        return self._capped(UNKNOWN_SECONDS, "a guess")

    def _capped(self, seconds: float, basis: str) -> Estimate:
        return Estimate(min(seconds, self._limit) + OVERHEAD_SECONDS, basis)


def _cells(dataset: str) -> int:
    facts = plugins.facts(dataset)
    return facts.n_rows * facts.n_features
