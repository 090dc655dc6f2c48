"""Drive jobs through an executor into a store until all are done or someone says stop."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from experiments.core import predictions
from experiments.core.checks import (
    EXIT_DONE,
    EXIT_FAILED,
    EXIT_INCOMPLETE,
    CannotGoOnError,
    clean_text,
)
from experiments.core.files import writing
from experiments.core.job import Job, Limits, Running, memory_share
from experiments.core.record import SCORES, TEXTS, BadRecordError, Outcome, RunRecord, checked
from experiments.core.store import Store
from experiments.core.text import counts, say, silence_if_gone
from experiments.runner.display import PlainDisplay
from experiments.runner.executors.local import Executor
from experiments.runner.progress import Progress
from experiments.runner.queue import state_of

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


Keep = Callable[[Store, Outcome], RunRecord]


@dataclass
class SessionSummary:
    """What a session did."""

    statuses: Counter[str] = field(default_factory=Counter)
    left: int = 0
    interrupted: bool = False
    """Someone said stop, the store could not be written to, or the cluster is gone."""
    problem: str = ""
    """Why the work could not go on."""

    @property
    def done(self) -> int:
        return self.statuses.total()


def run_session(
    queue: JobSource,
    store: Store,
    executor: Executor,
    listeners: Sequence[Listener] = (),
    keep: Keep | None = None,
) -> SessionSummary:
    """Run the jobs of a queue; a keyboard interrupt stops those in flight, and is noted.

    The executor is closed in any case, so no process outlives the session.

    Parameters
    ----------
    keep : writes an outcome to the store and returns its record (default: ``keep_outcome``).
    """
    session = _Session(queue, store, executor, listeners, keep or keep_outcome)
    try:
        session.loop()
    except KeyboardInterrupt:
        session.summary.interrupted = True
    except CannotGoOnError as problem:
        session.summary.interrupted, session.summary.problem = True, str(problem)
    finally:
        with signals_held():
            session.summary.left = len(session.queue) + len(executor.running())
            executor.close()
            session.tell("close")
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
    keep: Keep
    summary: SessionSummary = field(default_factory=SessionSummary)

    def __post_init__(self) -> None:
        self._listening = list(self.listeners)

    def loop(self) -> None:
        while self.queue or self.executor.running():
            self._start_what_fits()
            outcomes = self.executor.wait(TICK_SECONDS)
            foregone = [r for one in outcomes for r in self.queue.finish(one.record)]
            self._start_what_fits()  # workers go on while their outcomes are written
            with signals_held():
                for outcome in [*outcomes, *map(Outcome, foregone)]:
                    self._keep(outcome)
            self.tell("tick", self.executor.running())

    def tell(self, what: str, *news: Any) -> None:
        """Tell every listener; one whose terminal or pipe is gone is told nothing any more."""
        for listener in list(self._listening):
            try:
                getattr(listener, what)(*news)
            except (OSError, ValueError):
                self._listening.remove(listener)
                silence_if_gone()

    def _start_what_fits(self) -> None:
        while self.executor.free():
            job = self.queue.take()
            if job is None:
                return
            self.tell("started", job)
            self.executor.start(job)

    def _keep(self, outcome: Outcome) -> None:
        record = self.keep(self.store, outcome)
        self.summary.statuses[record.status] += 1
        self.tell("finished", record)


def keep_outcome(store: Store, outcome: Outcome) -> RunRecord:
    """Write what a job left behind; the record as it was written.

    Predictions first: a record in the store promises that they are there.
    """
    record = outcome.record
    try:
        checked(record.to_dict())
    except BadRecordError as problem:
        # It would be set aside when it is read, and the job done again and again.
        record = as_failure(record, f"its record cannot be stored: {problem}")
        outcome = replace(outcome, record=record, predictions=None)
    with writing(store.folder):
        if outcome.predictions is not None:
            predictions.save(store.folder, record, outcome.predictions)
        if outcome.environment is not None:
            store.append_environment(outcome.environment)
        store.append(record)
    return record


def as_failure(record: RunRecord, reason: str) -> RunRecord:
    """The same job as one that ended in an error, without scores and remarks."""
    nothing: dict[str, Any] = dict.fromkeys((*SCORES, "wall_seconds", "cpu_seconds"))
    return replace(
        record,
        status="error",
        reason=clean_text(reason, TEXTS["reason"], "start"),
        extra={},
        **nothing,
    )


def limits_of(args: argparse.Namespace, time_limit: float) -> Limits:
    """The limits that were asked for, or a profile's time and a fair share of memory."""
    return Limits(
        seconds=args.time_limit or time_limit,
        memory_mb=args.memory_limit or memory_share(args.workers),
        threads=args.threads,
    )


def drive(
    args: argparse.Namespace,
    queue: JobSource,
    progress: Progress,
    limits: Limits,
    title: str,
    listeners: Sequence[Listener] = (),
    keep: Keep | None = None,
) -> SessionSummary:
    """Run a queue on the executor that was asked for, with the display that fits."""
    with interrupts_on_sigterm():
        executor = executor_of(args, limits)
        shown = display_of(args, progress, title)
        return run_session(queue, Store(args.store), executor, [shown, *listeners], keep)


def executor_of(args: argparse.Namespace, limits: Limits) -> Executor:
    """Supervised processes unless told otherwise."""
    if args.inline:
        from experiments.runner.executors.local import InlineExecutor

        return InlineExecutor()
    if args.scheduler:
        from experiments.runner.executors.cluster import DaskExecutor

        return DaskExecutor(args.scheduler, limits)
    from experiments.runner.executors.local import ProcessExecutor

    return ProcessExecutor(args.workers, limits)


def display_of(args: argparse.Namespace, progress: Progress, title: str) -> Listener:
    """A live picture on a terminal, lines elsewhere."""
    if args.plain or not sys.stdout.isatty():
        return PlainDisplay(progress)
    from experiments.runner.display import LiveDisplay

    return LiveDisplay(progress, f"{title} → {args.store}")


@contextmanager
def interrupts_on_sigterm() -> Iterator[None]:
    """Let a polite kill end a run as cleanly as Ctrl-C does."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    hung_up = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # a closed terminal ends no run
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGHUP, hung_up)


def sum_up(jobs: Sequence[Job], store: Store, limits: Limits, summary: SessionSummary) -> int:
    """Print the summary of a run over all its jobs and return its exit status."""
    records = store.latest()
    statuses: Counter[str] = Counter(records[job.key].status for job in jobs if job.key in records)
    state = {job: state_of(job, records.get(job.key), limits) for job in jobs}
    states: Counter[str] = Counter(state.values())
    without_data = {job.dataset for job in jobs if state[job] == "unavailable"}
    say(f"\n{len(jobs):,} jobs: {counts(statuses)}; {states['pending']:,} still to run.")
    if states["failed"]:
        say(f"What failed and why: {program()} failures --store {store.folder}")
    if states["unavailable"]:
        say(f"Skipped because the data is missing: {', '.join(sorted(without_data))}.")
        say(f"How to get it: {program()} data")
    if summary.interrupted or states["pending"]:
        if summary.interrupted:
            why = f"Stopped: {summary.problem.rstrip('.')}." if summary.problem else "Stopped."
            say(f"{why} Finished jobs are kept.")
        say(f"Resume with: {resume_command()}")
        return EXIT_INCOMPLETE
    return EXIT_FAILED if statuses["error"] or statuses["crash"] else EXIT_DONE


def program() -> str:
    """How this program was started, so that what is printed can be pasted."""
    name = Path(sys.executable)
    with contextlib.suppress(ValueError):
        name = name.relative_to(Path.cwd())
    script = Path(sys.argv[0])
    rest = ["-m", "experiments"] if script.name == "__main__.py" else [str(script)]
    return shlex.join([str(name), *rest])


def resume_command() -> str:
    """The command that goes on where this one stopped: the same again."""
    return " ".join([program(), shlex.join(sys.argv[1:])]).strip()
