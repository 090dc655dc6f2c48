"""Bring tables and report up to date while a run goes on, whenever rows of them complete."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from experiments.core.job import Job
from experiments.core.outcome import Running
from experiments.core.record import RunRecord
from experiments.core.text import say
from experiments.runner.executors.process import worker_environment

PAUSE_SECONDS = 30.0


class Refresher:
    """A listener that runs verbs such as ``tables`` in the background as rows complete.

    A row is a dataset in an experiment under a protocol. Verbs run one after
    the other beside the jobs, never two at a time and not more often than
    every ``PAUSE_SECONDS``, so the run is hardly slowed; and never beside a job
    that is measured alone.

    Parameters
    ----------
    verbs : of ``python -m experiments``; each is given ``--store`` and ``--output``.
    jobs : what the run has to do.
    store : folder of the records; results go to folders named after the verbs in it.
    options : given to every verb as well.
    """

    def __init__(
        self, verbs: Sequence[str], jobs: Sequence[Job], store: Path, options: Sequence[str] = ()
    ) -> None:
        self._verbs = list(verbs)
        self._store = store
        self._options = list(options)
        self._row_of = {job.key: (job.protocol, job.experiment, job.dataset) for job in jobs}
        self._left = Counter(self._row_of.values())
        self._stale = False
        self._to_run: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._began = -PAUSE_SECONDS

    def started(self, job: Job) -> None:
        """A job that is measured alone must not be disturbed."""
        if job.measured == "alone" and self._busy():
            self.close()
            self._stale = True

    def finished(self, record: RunRecord) -> None:
        row = self._row_of.pop(record.key, None)
        if row is None:
            return
        self._left[row] -= 1
        self._stale |= not self._left[row]

    def tick(self, running: Sequence[Running]) -> None:
        if self._busy() or any(one.job.measured == "alone" for one in running):
            return
        if not self._to_run and self._stale and time.monotonic() > self._began + PAUSE_SECONDS:
            self._to_run, self._stale, self._began = list(self._verbs), False, time.monotonic()
        if self._to_run:
            self._process = subprocess.Popen(
                self._command(self._to_run.pop(0)),
                env=worker_environment(threads=1),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    def _busy(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def close(self) -> None:
        """Stop refreshing; ``final`` makes everything up to date once more."""
        if self._process is not None and self._busy():
            self._process.kill()
            self._process.wait()

    def final(self) -> None:
        """Run every verb once more, and let it speak."""
        for verb in self._verbs:
            if subprocess.run(self._command(verb), check=False).returncode:
                say(f"{verb} could not be brought up to date; see above")

    def _command(self, verb: str) -> list[str]:
        place = ["--store", str(self._store), "--output", str(self._store / verb)]
        return [sys.executable, "-m", "experiments", verb, *place, *self._options]
