"""Timestamped lines, for logs and pipes."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from datetime import datetime
from typing import TextIO

from experiments.display.progress import Progress
from experiments.display.text import duration, outcome
from experiments.executors.contract import Running
from experiments.planning.jobs import Job
from experiments.records.record import RunRecord

HEARTBEAT_SECONDS = 60.0


class PlainDisplay:
    """One line per finished job, and a sign of life while long ones run."""

    def __init__(self, progress: Progress, stream: TextIO | None = None) -> None:
        self._progress = progress
        self._names: dict[str, str] = {}
        self._stream = stream or sys.stdout
        self._last = time.monotonic()

    def started(self, job: Job) -> None:
        self._names[job.key] = str(job)

    def finished(self, record: RunRecord) -> None:
        self._progress.note(record)
        name = self._names.pop(record.key, f"{record.dataset} {record.method} trial {record.trial}")
        count = f"[{self._progress.finished}/{self._progress.jobs}]"
        self._say(f"{count} {name}: {outcome(record)}")

    def tick(self, running: Sequence[Running]) -> None:
        if time.monotonic() - self._last < HEARTBEAT_SECONDS:
            return
        for one in running:
            self._say(f"running {one.job} for {duration(one.seconds)}")
        self._say(f"about {duration(self._progress.seconds_left())} left")

    def close(self) -> None:
        self._stream.flush()

    def _say(self, text: str) -> None:
        stamp = datetime.now().strftime("%Y-%m-%d %H:%M:%S")
        print(stamp, text, file=self._stream, flush=True)
        self._last = time.monotonic()
