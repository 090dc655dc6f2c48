"""How long jobs will take by the records of similar ones, and how far a run has come.

Seconds of a record count as its machine's calibration relates to that of the
machine at hand. What each worker spends before its first result (starting,
importing, compiling kernels) comes from one measured table.
"""

from __future__ import annotations

import csv
import math
import os
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean, median

from experiments.core.job import HOLDOUT, Job, canonical_json
from experiments.core.machine import calibrate
from experiments.core.record import RunRecord
from experiments.core.store import COMMITTED
from experiments.core.text import outcome
from experiments.runner import plugins

UNKNOWN_SECONDS = 10.0
"""For a learner of which there is no record at all; plans say that it is a guess."""
OVERHEAD_SECONDS = 0.05
"""Loading, measuring and storing, on top of fitting."""
STEEPEST = 1.5
"""Exponent of rows x features above which no learner of the suite grows."""
COMPILED_IN = 2
"""How many records of a new search may hold the time to compile: one per worker."""
FIRST_USE = COMMITTED.parent / "bench" / "first_use.csv"
START = "start"
"""The line of that table for a worker without any learner."""
CALIBRATION = "calibration_ms"

Kind = tuple[str, str]


@dataclass(frozen=True)
class Estimate:
    """Seconds of one job, and how near the records are that they come from."""

    seconds: float
    basis: str


@dataclass(frozen=True)
class PowerLaw:
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

    Parameters
    ----------
    time_limit : no job takes longer.
    speed : seconds of this machine for one of each environment, see :func:`speeds`.
    """

    def __init__(
        self,
        records: Iterable[RunRecord],
        time_limit: float,
        speed: Mapping[str, float] | None = None,
    ) -> None:
        self._limit = time_limit
        self._speed = speed or {}
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
        if seconds is not None:
            seconds *= self._speed.get(record.environment, 1.0)
        if record.status == "timeout":
            seconds = record.extra.get("limit")
        if seconds is None:
            return
        kind = (record.evaluation, record.method)
        self._by_params[(*kind, record.dataset, canonical_json(record.params))].append(seconds)
        self._by_dataset[(*kind, record.dataset)].append(seconds)

    def _fit(self) -> dict[Kind, PowerLaw]:
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
        middle = median if job.evaluation == HOLDOUT else _mean_of_candidates
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
    return PowerLaw(
        y_mean - exponent * x_mean + math.log(fmean(map(math.exp, residuals))), exponent
    )


def _cells(dataset: str) -> int:
    facts = plugins.facts(dataset)
    return facts.n_rows * facts.n_features


def speeds(records: Iterable[RunRecord]) -> dict[str, float]:
    """How many seconds of this machine one second of each calibrated environment is."""
    found: dict[str, list[float]] = defaultdict(list)
    for record in records:
        if CALIBRATION in record.extra:
            found[record.environment].append(record.extra[CALIBRATION] / 1000)
    here = calibrate(time.thread_time) if found else 0.0
    return {environment: here / median(seconds) for environment, seconds in found.items()}


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


FAILURES = ("timeout", "memory", "crash", "error")
FAILURES_SHOWN = 5
LATEST_SHOWN = 3
TRUSTED_SHARE = 0.05
"""Of the expected work that must be done before the pace so far corrects the estimate."""


class RowsLeft:
    """Rows of tables that a run fills: a dataset in an experiment under a protocol."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._row_of = {job.key: (job.protocol, job.experiment, job.dataset) for job in jobs}
        self._jobs_left = Counter(self._row_of.values())
        self.total = len(self._jobs_left)
        self.complete = 0

    def completed_by(self, record: RunRecord) -> bool:
        """Whether this record was the last that its row waited for."""
        row = self._row_of.pop(record.key, None)
        if row is None:
            return False
        self._jobs_left[row] -= 1
        self.complete += not self._jobs_left[row]
        return not self._jobs_left[row]


class Progress:
    """Counts what has ended and estimates when the rest will have.

    Parameters
    ----------
    jobs : everything this run has to do.
    estimates : seconds per job, by key.
    workers : jobs that run at a time.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        estimates: Mapping[str, Estimate],
        workers: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total = Counter(job.method for job in jobs)
        self.done: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()
        self.failures: deque[str] = deque(maxlen=FAILURES_SHOWN)
        self.latest: deque[str] = deque(maxlen=LATEST_SHOWN)
        self.rows = RowsLeft(jobs)
        self._seconds = {job.key: estimates[job.key].seconds for job in jobs}
        self._expected = sum(self._seconds.values())
        self._left = self._expected
        self._workers = workers
        self._clock = clock
        self._began = clock()

    @property
    def finished(self) -> int:
        return self.done.total()

    @property
    def jobs(self) -> int:
        return self.total.total()

    @property
    def elapsed(self) -> float:
        return self._clock() - self._began

    def note(self, record: RunRecord) -> None:
        self.done[record.method] += 1
        self.statuses[record.status] += 1
        self._left -= self._seconds.pop(record.key, 0.0)
        self.rows.completed_by(record)
        line = f"{record.dataset} {record.method} trial {record.trial}: {outcome(record)}"
        if record.status in FAILURES:
            self.failures.append(line)
        elif record.status == "ok":
            self.latest.append(line)

    def seconds_left(self) -> float:
        """The estimate of what remains, corrected by how the estimate has fared so far."""
        done = self._expected - self._left
        pace = 1.0
        if done > TRUSTED_SHARE * self._expected:
            pace = self.elapsed * self._workers / done
        return max(0.0, self._left) * pace / self._workers
