"""How long jobs will take, from the records of similar ones."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from experiments.core.job import HOLDOUT, Job, canonical_json
from experiments.core.record import RunRecord
from experiments.runner import plugins

UNKNOWN_SECONDS = 10.0
"""For a learner of which there is no record at all; plans say that it is a guess."""
OVERHEAD_SECONDS = 0.05
"""Loading, measuring and storing, on top of fitting."""
STEEPEST = 1.5
"""Exponent of rows x features above which no learner of the suite grows."""

Kind = tuple[str, str]


@dataclass(frozen=True)
class Estimate:
    """Seconds of one job, and how near the records are that they come from."""

    seconds: float
    basis: str


@dataclass(frozen=True)
class Growth:
    """Seconds of a learner as a power of rows x features, fitted over datasets."""

    at_one: float
    exponent: float

    def seconds(self, cells: int) -> float:
        return math.exp(self.at_one + self.exponent * math.log(cells))


class Estimator:
    """Looks for records of ever less similar jobs: same parameters, same dataset, same learner.

    For the same learner on other datasets, a power law of rows times features
    is fitted to the mean seconds per dataset. A job that exceeded its time
    counts with its limit. The candidates of a search differ in what they take
    by orders of magnitude, and their sum is what matters: there the mean is
    used, elsewhere the median, which a disturbed run does not move.
    """

    def __init__(self, records: Iterable[RunRecord], time_limit: float) -> None:
        self._limit = time_limit
        self._by_params: dict[tuple[str, ...], list[float]] = defaultdict(list)
        self._by_dataset: dict[tuple[str, ...], list[float]] = defaultdict(list)
        for record in records:
            self._learn(record)
        self._growth = self._fit()

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

    def _fit(self) -> dict[Kind, Growth]:
        points: dict[Kind, list[tuple[float, float]]] = defaultdict(list)
        for (evaluation, method, dataset), seconds in self._by_dataset.items():
            try:
                cells = _cells(dataset)
            except LookupError:  # a dataset that the suite no longer has
                continue
            points[evaluation, method].append((math.log(cells), math.log(fmean(seconds) + 1e-4)))
        return {kind: _power_law(found) for kind, found in points.items()}

    def estimate(self, job: Job) -> Estimate:
        kind = (job.evaluation, job.method)
        middle = median if job.evaluation == HOLDOUT else fmean
        if known := self._by_params.get((*kind, job.dataset, job.params_json)):
            return self._capped(median(known), "same parameters")
        if known := self._by_dataset.get((*kind, job.dataset)):
            return self._capped(middle(known), "same dataset")
        if growth := self._growth.get(kind):
            return self._capped(growth.seconds(_cells(job.dataset)), "other datasets")
        if job.evaluation != HOLDOUT and (growth := self._growth.get((HOLDOUT, job.method))):
            return self._capped(3 * growth.seconds(_cells(job.dataset)), "other datasets")
        return self._capped(UNKNOWN_SECONDS, "a guess")

    def _capped(self, seconds: float, basis: str) -> Estimate:
        return Estimate(min(seconds, self._limit) + OVERHEAD_SECONDS, basis)


def _power_law(points: Sequence[tuple[float, float]]) -> Growth:
    """Least squares on logarithms; proportional to the size where a slope cannot be told."""
    x_mean, y_mean = fmean(x for x, _ in points), fmean(y for _, y in points)
    spread = sum((x - x_mean) ** 2 for x, _ in points)
    exponent = 1.0
    if len(points) > 2 and spread:
        exponent = sum((x - x_mean) * (y - y_mean) for x, y in points) / spread
    exponent = min(max(exponent, 0.0), STEEPEST)
    # A mean of logarithms is that of a typical dataset; sums are made by the others too.
    residuals = [y - y_mean - exponent * (x - x_mean) for x, y in points]
    return Growth(y_mean - exponent * x_mean + math.log(fmean(map(math.exp, residuals))), exponent)


def _cells(dataset: str) -> int:
    facts = plugins.facts(dataset)
    return facts.n_rows * facts.n_features
