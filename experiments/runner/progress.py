"""How far a run has come, and when the rest will be done."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence

from experiments.core.job import Job
from experiments.core.record import RunRecord
from experiments.core.text import outcome
from experiments.runner.estimate import Estimate

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
