"""Drive jobs through an executor into a store until all are done or someone says stop."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from experiments.executors.contract import Executor, Running
from experiments.planning.jobs import Job
from experiments.records import artifacts
from experiments.records.record import RunRecord
from experiments.records.store import Store
from experiments.running.perform import Outcome

TICK_SECONDS = 0.5


class JobSource(Protocol):
    """Where jobs come from: a list in some order, or a search that thinks as it goes."""

    def __len__(self) -> int: ...
    def take(self) -> Job | None: ...
    def finish(self, record: RunRecord) -> Sequence[RunRecord]: ...


class Listener(Protocol):
    """Follows a session: a display, or whatever refreshes tables as rows complete."""

    def started(self, job: Job) -> None: ...
    def finished(self, record: RunRecord) -> None: ...
    def tick(self, running: Sequence[Running]) -> None: ...
    def close(self) -> None: ...


@dataclass
class Summary:
    """What a session did."""

    statuses: Counter[str] = field(default_factory=Counter)
    left: int = 0
    interrupted: bool = False

    @property
    def done(self) -> int:
        return self.statuses.total()


def run_session(
    queue: JobSource, store: Store, executor: Executor, listeners: Sequence[Listener] = ()
) -> Summary:
    """Run the jobs of a queue; a keyboard interrupt stops those in flight, and is noted.

    The executor is closed in any case, so no process outlives the session.
    """
    session = _Session(queue, store, executor, listeners)
    try:
        session.loop()
    except KeyboardInterrupt:
        session.summary.interrupted = True
    finally:
        with signals_held():
            session.summary.left = len(session.queue) + len(executor.running())
            executor.close()
            for listener in listeners:
                listener.close()
    return session.summary


@contextmanager
def signals_held() -> Iterator[None]:
    """Let Ctrl-C and a polite kill wait until this block is done."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass
class _Session:
    queue: JobSource
    store: Store
    executor: Executor
    listeners: Sequence[Listener]
    summary: Summary = field(default_factory=Summary)

    def loop(self) -> None:
        while self.queue or self.executor.running():
            self._start_what_fits()
            outcomes = self.executor.wait(TICK_SECONDS)
            foregone = [r for one in outcomes for r in self.queue.finish(one.record)]
            self._start_what_fits()  # workers go on while their outcomes are written
            with signals_held():
                for outcome in [*outcomes, *map(Outcome, foregone)]:
                    self._keep(outcome)
            running = self.executor.running()
            for listener in self.listeners:
                listener.tick(running)

    def _start_what_fits(self) -> None:
        while self.executor.free():
            job = self.queue.take()
            if job is None:
                return
            for listener in self.listeners:
                listener.started(job)
            self.executor.start(job)

    def _keep(self, outcome: Outcome) -> None:
        """Predictions first: a record in the store promises that they are there."""
        record = outcome.record
        if outcome.predictions is not None:
            artifacts.save(self.store.folder, record, outcome.predictions)
        if outcome.environment is not None:
            self.store.append_environment(outcome.environment)
        self.store.append(record)
        self.summary.statuses[record.status] += 1
        for listener in self.listeners:
            listener.finished(record)
