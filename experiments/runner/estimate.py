"""How long jobs will take by the records of similar ones.

Seconds of a record count as its machine's calibration on its day, or on any, relates
to that of the machine at hand. What each worker spends before its first result (starting,
importing, compiling kernels) comes from one measured table.
"""

from __future__ import annotations

import contextlib
import csv
import math
import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, median
from typing import Any

from experiments.core.job import HOLDOUT, Job, canonical_json
from experiments.core.machine import calibrate
from experiments.core.record import RunRecord
from experiments.core.store import COMMITTED
from experiments.runner import plugins

UNKNOWN_SECONDS = 10.0
"""For a learner of which there is no record at all; plans say that it is a guess."""
OVERHEAD_SECONDS = 0.05
"""Loading, measuring and storing, on top of fitting."""
STEEPEST = 1.5
"""Exponent of balanced rows x features x classes above which no learner of the suite grows."""
COMPILED_IN = 2
"""How many records of a new search may hold the time to compile: one per worker."""
FIRST_USE = COMMITTED.parent / "bench" / "first_use.csv"
START = "start"
"""The line of that table for a worker without any learner."""
CALIBRATION = "calibration_ms"

Kind = tuple[str, str]
"""evaluation, method"""
Place = tuple[str, str, str, str]
"""evaluation, method, dataset, protocol; ``ANY`` protocol for all of them together"""
ANY = ""
Speeds = Mapping[tuple[str, str], float]
"""environment and day, ``ANY`` for all of its days -> see :func:`speeds`"""


@dataclass(frozen=True)
class Estimate:
    """Seconds of one job, and how near the records are that they come from."""

    seconds: float
    basis: str


@dataclass(frozen=True)
class PowerLaw:
    """Seconds of a learner as a power of the size of datasets, see :func:`_cells`."""

    at_one: float
    exponent: float
    most_cells: float
    """The largest of these datasets; beyond it the law is not to be trusted."""

    def seconds(self, cells: int) -> float:
        return math.exp(self.at_one + self.exponent * math.log(cells))


class Estimator:
    """Looks for records of ever less similar jobs: same parameters, same dataset, same learner.

    Records of the same protocol go before those of others, whose encoding may make more columns
    of the same data, or fewer. For the same learner on other datasets, a power law of rows (with
    classes balanced) times features times classes is fitted to the mean seconds per dataset. A
    search of a dataset that only single fits are known of takes what two rules say on average:
    that law, and as many single fits as searches take elsewhere; beyond the sizes that were
    searched, the second alone. The single fits are those with default parameters if there are
    any: published ones differ between datasets, and what they take says less of other datasets.
    A job that exceeded its time counts with its limit. The candidates of a search
    differ in what they take by orders of magnitude, and their sum is what matters:
    there the mean is used, elsewhere the median, which a disturbed run does not
    move.

    Parameters
    ----------
    time_limit : no job takes longer.
    speed : seconds of this machine for one of each environment and day, see :func:`speeds`.
    """

    def __init__(
        self,
        records: Iterable[RunRecord],
        time_limit: float,
        speed: Speeds | None = None,
    ) -> None:
        self._limit = time_limit
        self._speed = speed or {}
        self._by_params: dict[tuple[Place, str], list[float]] = defaultdict(list)
        self._by_dataset: dict[Place, list[float]] = defaultdict(list)
        for record in records:
            self._learn(record)
        self._growth = self._fit()
        self._per_fit = self._compare()

    def _learn(self, record: RunRecord) -> None:
        if record.status == "skipped" or "implied_by" in record.extra:
            return
        # CPU time is what a job takes on a machine that has nothing else to do.
        seconds = record.cpu_seconds if record.cpu_seconds is not None else record.wall_seconds
        if seconds is not None:
            usual = self._speed.get((record.environment, ANY), 1.0)
            seconds *= self._speed.get((record.environment, _day(record)), usual)
        if record.status == "timeout":
            seconds = record.extra.get("limit")
        if seconds is None:
            return
        params = _text_of(record.params)
        for protocol in (record.protocol, ANY):
            place = (record.evaluation, record.method, record.dataset, protocol)
            self._by_params[place, params].append(seconds)
            self._by_dataset[place].append(seconds)

    def _fit(self) -> dict[Kind, PowerLaw]:
        points: dict[Kind, list[tuple[float, float]]] = defaultdict(list)
        for (evaluation, method, dataset, protocol), seconds in self._by_dataset.items():
            if protocol != ANY:
                continue
            try:
                cells = _cells(dataset)
            except LookupError:  # a dataset that the suite no longer has
                continue
            points[evaluation, method].append((math.log(cells), math.log(fmean(seconds) + 1e-4)))
        return {kind: _power_law(found) for kind, found in points.items()}

    def _compare(self) -> dict[Kind, float]:
        """How many single fits of a dataset a candidate of its search takes, by learner."""
        found: dict[Kind, list[float]] = defaultdict(list)
        for (evaluation, method, dataset, protocol), seconds in self._by_dataset.items():
            single = self._single_fits((HOLDOUT, method, dataset, protocol))
            if evaluation != HOLDOUT and protocol != ANY and single:
                found[evaluation, method].append(_mean_of_candidates(seconds) / median(single))
        return {kind: fmean(multiples) for kind, multiples in found.items()}

    def _single_fits(self, place: Place) -> list[float] | None:
        """Seconds with default parameters, which are alike on all datasets, or with any."""
        _, method, dataset, _ = place
        with contextlib.suppress(LookupError):  # a dataset or learner that the suite no longer has
            defaults = plugins.learner(method).defaults(plugins.facts(dataset).task)
            if known := self._by_params.get((place, canonical_json(defaults))):
                return known
        return self._by_dataset.get(place)

    def knows(self, job: Job) -> bool:
        """Whether there are records of the same learner on the same dataset."""
        return (job.evaluation, job.method, job.dataset, ANY) in self._by_dataset

    def estimate(self, job: Job) -> Estimate:
        kind = (job.evaluation, job.method)
        middle = median if job.evaluation == HOLDOUT else _mean_of_candidates
        places: list[Place] = [(*kind, job.dataset, name) for name in (job.protocol, ANY)]
        for place in places:
            if known := self._by_params.get((place, job.params_json)):
                return self._capped(median(known), "same parameters")
            if known := self._by_dataset.get(place):
                return self._capped(middle(known), "same dataset")
        fits = (self._single_fits((HOLDOUT, *place[1:])) for place in places)
        single = next(filter(None, fits), None)
        growth = self._growth.get(kind)
        if single and kind in self._per_fit and growth is not None:
            by_fits = self._per_fit[kind] * median(single)
            beyond = _cells(job.dataset) > growth.most_cells
            by_size = by_fits if beyond else growth.seconds(_cells(job.dataset))
            return self._capped(math.sqrt(by_fits * by_size), "same dataset")
        if growth is not None:
            return self._capped(growth.seconds(_cells(job.dataset)), "other datasets")
        if job.evaluation != HOLDOUT and (growth := self._growth.get((HOLDOUT, job.method))):
            return self._capped(3 * growth.seconds(_cells(job.dataset)), "other datasets")
        return self._capped(UNKNOWN_SECONDS, "a guess")

    def _capped(self, seconds: float, basis: str) -> Estimate:
        return Estimate(min(seconds, self._limit) + OVERHEAD_SECONDS, basis)


def _text_of(params: Mapping[str, Any]) -> str:
    """Canonical JSON; most records share their parameters, which are then spelled out once."""
    try:
        # 1, 1.0 and True are equal but not spelled alike.
        return _spelled(tuple((name, type(value), value) for name, value in params.items()))
    except TypeError:  # a list among them
        return canonical_json(params)


@cache
def _spelled(typed: tuple[tuple[str, type, Any], ...]) -> str:
    return canonical_json({name: value for name, _, value in typed})


def _mean_of_candidates(seconds: Sequence[float]) -> float:
    """The mean, without the few that were first in their process and compiled for the others."""
    usual = sorted(seconds)[:-COMPILED_IN] if len(seconds) > 5 * COMPILED_IN else seconds
    return fmean(usual)


def _power_law(points: Sequence[tuple[float, float]]) -> PowerLaw:
    """Least squares on logarithms; proportional to the size where a slope cannot be told."""
    x_mean, y_mean = fmean(x for x, _ in points), fmean(y for _, y in points)
    spread = sum((x - x_mean) ** 2 for x, _ in points)
    exponent = 1.0
    if len(points) > 2 and spread:
        exponent = sum((x - x_mean) * (y - y_mean) for x, y in points) / spread
    exponent = min(max(exponent, 0.0), STEEPEST)
    # A mean of logarithms is that of a typical dataset; sums are made by the others too.
    residuals = [y - y_mean - exponent * (x - x_mean) for x, y in points]
    at_one = y_mean - exponent * x_mean + math.log(fmean(map(math.exp, residuals)))
    return PowerLaw(at_one, exponent, math.exp(max(x for x, _ in points)))


def _cells(dataset: str) -> int:
    """What the seconds of a fit grow with: columns, classes, and rows once classes are balanced."""
    facts = plugins.facts(dataset)
    n_classes = len(facts.class_counts)
    return n_classes * max(facts.class_counts) * facts.n_features * n_classes


def speeds(records: Iterable[RunRecord]) -> dict[tuple[str, str], float]:
    """How many seconds of this machine one second of each calibrated environment is.

    Day by day: machines that are described alike can differ by a factor of two.
    """
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for record in records:
        if CALIBRATION in record.extra:
            for day in (_day(record), ANY):
                found[record.environment, day].append(record.extra[CALIBRATION] / 1000)
    here = calibrate(time.thread_time) if found else 0.0
    return {when: here / median(seconds) for when, seconds in found.items()}


def _day(record: RunRecord) -> str:
    return record.finished[:10]


@cache
def first_use(path: Path = FIRST_USE) -> dict[str, tuple[float, float]]:
    """Processor seconds before a learner's first result: imports, and compiling its kernels."""
    with path.open(newline="", encoding="utf-8") as file:
        return {
            row["learner"]: (float(row["import_seconds"]), float(row["compile_seconds"]))
            for row in csv.DictReader(file)
        }


def starting(jobs: Iterable[Job], workers: int, compiled: bool) -> float:
    """Processor seconds that workers spend on starting, importing and compiling for these jobs."""
    known = first_use()
    groups = Counter(job.method for job in jobs)
    if not groups:
        return 0.0
    total = known[START][0] * (1 + min(workers, groups.total()))
    kernels: dict[str, float] = {}
    for method, count in groups.items():
        imports, compiling = known.get(method, (0.0, 0.0))
        total += min(workers, count) * imports
        # Variants of a learner (gradtree, gradtree-annealed) share nearly all of their kernels.
        base = method.partition("-")[0]
        kernels[base] = max(kernels.get(base, 0.0), min(workers, count) * compiling)
    return total if compiled else total + sum(kernels.values())


def kernels_compiled() -> bool:
    """Whether Numba finds compiled kernels of the baselines, which take longest to compile."""
    import baselines

    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(baselines.__file__).parent)
    return next(folder.rglob("*.nbi"), None) is not None


def busy(workers: int) -> float:
    """By how much other programs on this machine stretch the time on the clock."""
    cores = os.cpu_count() or 1
    return max(1.0, (os.getloadavg()[0] + min(workers, cores)) / cores)
