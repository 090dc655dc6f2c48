"""Watch over one worker: give it jobs, enforce limits, and say how each job ended."""

from __future__ import annotations

import contextlib
import itertools
import signal
import time
from dataclasses import replace
from multiprocessing.connection import wait
from typing import Any

from experiments.core import machine
from experiments.core.job import Job
from experiments.core.outcome import Limits, Outcome, now
from experiments.core.record import RunRecord, Status
from experiments.core.text import duration
from experiments.runner.executors.process import WorkerProcess
from experiments.runner.executors.worker import BEGIN, Answer

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
            record = replace(record, log_tail=worker.log_tail())
        worn_out = worker.resident_mb() > self.limits.memory_mb / 2
        if not answer.reusable or worn_out:
            self._discard()
        return Outcome(record, answer.outcome.predictions)

    def _post_mortem(self, worker: WorkerProcess) -> Outcome:
        """The worker is gone without an answer."""
        status = _patient_exit_status(worker)
        reason = _cause(status)
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


def _patient_exit_status(worker: WorkerProcess) -> int | None:
    """A socket may close a moment before its process has ended."""
    for _ in range(20):
        if (status := worker.exit_status()) is not None:
            return status
        time.sleep(0.05)
    return None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _cause(status: int | None) -> str:
    if status is None:
        return "the worker closed its connection"
    if status < 0:
        hint = ", perhaps by the system for want of memory" if -status == signal.SIGKILL else ""
        return f"killed by {_signal_name(-status)}{hint}"
    return f"exited with status {status}"
