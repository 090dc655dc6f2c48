"""Jobs on this machine: what every executor offers, a supervisor per worker, many of them."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing.connection import wait
from typing import Any, Protocol

from experiments.core import machine
from experiments.core.checks import clean_text
from experiments.core.job import Job, Limits, Running, now
from experiments.core.record import TEXTS, Outcome, RunRecord, Status
from experiments.core.text import duration
from experiments.runner.executors import process
from experiments.runner.executors.process import WorkerProcess
from experiments.runner.executors.worker import BEGIN, Answer
from experiments.runner.perform import perform


class Executor(Protocol):
    """Start jobs, collect outcomes. Every started job ends in exactly one outcome."""

    def free(self) -> int:
        """How many more jobs may be started now."""

    def start(self, job: Job) -> None:
        """Begin a job; returns at once where the executor can."""

    def wait(self, seconds: float) -> list[Outcome]:
        """The outcomes since last asked, waiting up to ``seconds`` for the first."""

    def running(self) -> Sequence[Running]:
        """The jobs in flight."""

    def close(self) -> None:
        """Stop whatever runs, leaving no process behind."""


class InlineExecutor:
    """Does its one job while it is waited for. A hang hangs, a crash crashes."""

    def __init__(self) -> None:
        self._job: Job | None = None
        self._since = 0.0

    def free(self) -> int:
        return 0 if self._job else 1

    def start(self, job: Job) -> None:
        self._job, self._since = job, time.monotonic()

    def wait(self, seconds: float) -> list[Outcome]:
        if self._job is None:
            return []
        outcome = perform(self._job)
        self._job = None
        return [outcome]

    def running(self) -> list[Running]:
        if self._job is None:
            return []
        return [Running(self._job, time.monotonic() - self._since, "here")]

    def close(self) -> None:
        """Nothing is left running by an inline executor."""


STARTUP_SECONDS = 180.0
TOTAL_WATCH_SECONDS = 1.0
NEARLY = 0.8
"""A worker that dies with this share of its memory limit in use died of it."""


class Supervisor:
    """A place where one job at a time runs, in a process that is replaced when need be.

    Parameters
    ----------
    name : shown beside running jobs.
    marker : common to all workers of an executor.
    limits : of every job.
    """

    _numbers = itertools.count(1)

    def __init__(self, name: str, marker: str, limits: Limits) -> None:
        self.name = name
        self.limits = limits
        self.job: Job | None = None
        self._marker = marker
        self._worker: WorkerProcess | None = None
        self._began: float | None = None
        self._sent = 0.0
        self._peak_mb = 0.0
        self._next_total_watch = 0.0

    def start(self, job: Job) -> None:
        """Hand a job to the worker, or to a new one if there is none fit for it."""
        if self._worker is not None and self._worker.exit_status() is not None:
            self._discard()
        for attempt in (1, 2):
            worker = self._worker or self._hire()
            worker.forget_log()
            try:
                worker.connection.send((job, self.limits))
                break
            except OSError:  # it died between two jobs
                self._discard()
                if attempt == 2:
                    raise
        self.job, self._began, self._sent, self._peak_mb = job, None, time.monotonic(), 0.0

    @property
    def seconds(self) -> float:
        """How long the present job has been running."""
        return time.monotonic() - (self._began or self._sent)

    @property
    def channels(self) -> list[Any]:
        """What to wait on for news of the present job."""
        return self._worker.channels if self._worker is not None and self.job is not None else []

    def poll(self) -> Outcome | None:
        """The outcome of the present job if it has ended, by itself or by our hand."""
        if self.job is None or self._worker is None:
            return None
        worker = self._worker
        worker.drain_log()
        outcome = self._listen(worker) or self._enforce(worker)
        if outcome is not None:
            self.job = None
        return outcome

    def close(self) -> None:
        """Stop whatever runs here."""
        self.job = None
        self._discard()

    def _hire(self) -> WorkerProcess:
        marker = f"{self._marker}-{next(self._numbers)}."
        self._worker = WorkerProcess(marker, self.limits.threads)
        return self._worker

    def _discard(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def _listen(self, worker: WorkerProcess) -> Outcome | None:
        try:
            while worker.connection.poll():
                message = worker.connection.recv()
                if message == BEGIN:
                    self._began = time.monotonic()
                elif isinstance(message, Answer):
                    return self._accept(worker, message)
        except (EOFError, OSError):
            return self._post_mortem(worker)
        return self._post_mortem(worker) if worker.exit_status() is not None else None

    def _accept(self, worker: WorkerProcess, answer: Answer) -> Outcome:
        record = answer.outcome.record
        if record.status != "ok":
            record = replace(record, log_tail=clean_text(worker.log_tail(), TEXTS["log_tail"]))
        worn_out = worker.resident_mb() > self.limits.memory_mb / 2
        if not answer.reusable or worn_out:
            self._discard()
        return Outcome(record, answer.outcome.predictions)

    def _post_mortem(self, worker: WorkerProcess) -> Outcome:
        """The worker is gone without an answer."""
        status = worker.patient_exit_status()
        reason = process.cause_of(status)
        exhausted = self._peak_mb > NEARLY * self.limits.memory_mb
        if exhausted and status is not None and status < 0:
            return self._end("memory", f"{reason} with {self._peak_mb:,.0f} MB in use")
        return self._end("crash", reason)

    def _enforce(self, worker: WorkerProcess) -> Outcome | None:
        if self._began is None:
            if self.seconds > STARTUP_SECONDS:
                return self._end("crash", f"the worker did not start in {STARTUP_SECONDS:.0f} s")
            return None
        if self._memory_mb(worker) > self.limits.memory_mb:
            return self._end("memory", f"more than {self.limits.memory_mb:,.0f} MB")
        if self.seconds > self.limits.seconds:
            return self._end("timeout", f"more than {duration(self.limits.seconds)}")
        return None

    def _memory_mb(self, worker: WorkerProcess) -> float:
        """Of the worker at every look; with all its descendants, which costs more, now and then."""
        used = worker.resident_mb()
        if time.monotonic() > self._next_total_watch:
            self._next_total_watch = time.monotonic() + TOTAL_WATCH_SECONDS
            used = worker.total_mb()
        self._peak_mb = max(self._peak_mb, used)
        return used

    def _end(self, status: Status, reason: str) -> Outcome:
        assert self.job is not None
        assert self._worker is not None
        self._worker.kill()
        limit = {"timeout": self.limits.seconds, "memory": self.limits.memory_mb}.get(status)
        record = RunRecord.of(
            self.job,
            status,
            reason=reason,
            log_tail=self._worker.log_tail(),
            peak_memory_mb=round(self._peak_mb, 1) or None,
            environment=machine.describe()["id"],
            finished=now(),
            extra={} if limit is None else {"limit": limit},
        )
        self._discard()
        return Outcome(record)


def wait_for_news(supervisors: list[Supervisor], seconds: float) -> None:
    """Sleep until some worker says something or time is up."""
    channels = [channel for one in supervisors for channel in one.channels]
    if channels:
        with contextlib.suppress(OSError):
            wait(channels, seconds)
    else:
        time.sleep(seconds)


LOOK_SECONDS = 0.05
"""How often limits are checked while nothing is heard."""


class ProcessExecutor:
    """Runs up to ``workers`` jobs at a time, each within its limits.

    Workers are reused from job to job, so libraries are imported and compiled
    once, and replaced when they die or are not fit to go on.
    """

    def __init__(self, workers: int, limits: Limits) -> None:
        if workers < 1:
            raise ValueError(f"{workers} workers: at least one is needed")
        self._marker = process.new_marker()
        self._janitor = process.hire(self._marker)
        self._places = [
            Supervisor(f"worker {n}", self._marker, limits) for n in range(1, workers + 1)
        ]

    def free(self) -> int:
        return sum(place.job is None for place in self._places)

    def start(self, job: Job) -> None:
        next(place for place in self._places if place.job is None).start(job)

    def wait(self, seconds: float) -> list[Outcome]:
        deadline = time.monotonic() + seconds
        while True:
            outcomes = [outcome for place in self._places if (outcome := place.poll())]
            left = deadline - time.monotonic()
            if outcomes or left <= 0 or not self.running():
                return outcomes
            wait_for_news(self._places, min(left, LOOK_SECONDS))

    def running(self) -> list[Running]:
        return [
            Running(place.job, place.seconds, place.name)
            for place in self._places
            if place.job is not None
        ]

    def close(self) -> None:
        for place in self._places:
            place.close()
        process.dismiss(self._janitor)
