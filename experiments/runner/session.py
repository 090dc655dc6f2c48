"""Drive jobs through an executor into a store until all are done or someone says stop.

Several sessions may work on one store: each claims a job before it starts it, and takes over what
another one ends meanwhile. Whatever stops one, finished jobs are kept and the same command goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import platform
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import psutil

from experiments.errors import DONE, FAILED, WORK_LEFT, CannotGoOnError
from experiments.runner import registry
from experiments.runner.display import LiveDisplay, PlainDisplay, Progress
from experiments.runner.executors import Executor
from experiments.runner.plan import Queue, state_of
from experiments.runner.run_job import Outcome, ended
from experiments.runs.job import Job, Limits, now
from experiments.runs.schema import BadRunError, check
from experiments.runs.store import CLAIM_SECONDS, Store
from experiments.text import counts, program, same_command, say, silence

if TYPE_CHECKING:
    from experiments.runner.study import SearchQueue

TICK_SECONDS = 0.5
ELSEWHERE_SECONDS = 1.0
"""How often a session looks for what other sessions have done."""


@dataclass
class SessionSummary:
    """What a session did, whether it was stopped, and if by a problem, by which."""

    statuses: Counter[str] = field(default_factory=Counter)
    interrupted: bool = False
    problem: str = ""
    conflicts: list[str] = field(default_factory=list)
    """Successes that contradict the store's; the store's stay."""


@contextmanager
def signals_held() -> Iterator[None]:
    """Let Ctrl-C and a polite kill wait until this block is done."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass
class Session:
    """Runs the jobs of a queue; the executor is closed in any case."""

    queue: Queue | SearchQueue
    store: Store
    executor: Executor
    display: PlainDisplay | LiveDisplay | None = None

    def __post_init__(self) -> None:
        self.summary, self._owner = SessionSummary(), owner_name()
        self._jobs: dict[str, Job] = {}
        self._elsewhere: dict[str, Job] = {}
        """Jobs that another session is doing."""
        self._environments: set[str] = set()
        self._began, self._renewed, self._looked = now(), time.monotonic(), time.monotonic()

    def run(self) -> SessionSummary:
        """Until all is done; a keyboard interrupt stops the jobs in flight, and is noted."""
        summary = self.summary
        try:
            self._loop()
        except (KeyboardInterrupt, CannotGoOnError) as problem:
            summary.interrupted, summary.problem = True, str(problem)
        except sqlite3.Error as problem:
            summary.interrupted = True
            summary.problem = f"cannot write to {self.store.folder}: {problem}"
        finally:
            with signals_held():
                self.executor.close()
                self._tell("close")
                with contextlib.suppress(sqlite3.Error):
                    self.store.release(self._owner)
        return summary

    def _loop(self) -> None:
        forget_the_dead(self.store)
        while self.queue or self.executor.running() or self._elsewhere:
            while self.executor.free() and (job := self.queue.take()) is not None:
                self._start(job)
            outcomes: list[Outcome] = []
            if self.executor.running():
                outcomes = self.executor.wait(TICK_SECONDS)
            elif self._elsewhere:
                time.sleep(TICK_SECONDS)
            with signals_held():
                settled = [run for each in outcomes for run in self.queue.finish(each.run)]
                self._keep([*outcomes, *map(Outcome, settled)])
            if time.monotonic() - self._looked > ELSEWHERE_SECONDS:
                self._look_elsewhere()
            self._tell("tick", self.executor.running())

    def _tell(self, what: str, *news: Any) -> None:
        """Tell the display; one whose terminal or pipe is gone is told nothing any more."""
        try:
            if self.display is not None:
                getattr(self.display, what)(*news)
        except (OSError, ValueError):
            self.display = None
            try:
                sys.stdout.flush()
            except (OSError, ValueError):
                silence()

    def _start(self, job: Job) -> None:
        """Start a job, unless another session is at it or has done it, which then counts."""
        run = self.store.run(job.key)
        if run and (run["status"] == "ok" or (run["finished"] or "") >= self._began):
            self._keep([Outcome(each) for each in self.queue.finish(run)])
            self._tell("ended", run)
        elif self.store.claim(job.key, self._owner):
            self._jobs[job.key] = job
            self.executor.start(job)
        else:
            self._elsewhere[job.key] = job

    def _look_elsewhere(self) -> None:
        """Keep our claims alive; take over what others have done, or left undone."""
        self._looked = time.monotonic()
        if self._looked - self._renewed > CLAIM_SECONDS / 4:
            self.store.renew_claims(self._owner)
            self._renewed = self._looked
        if self._elsewhere:
            forget_the_dead(self.store)
        for key in list(self._elsewhere):
            if self.executor.free():
                self._start(self._elsewhere.pop(key))

    def _keep(self, outcomes: Sequence[Outcome]) -> None:
        """Write outcomes, each checked, in one transaction."""
        if not outcomes:
            return
        kept = [self._checked(outcome) for outcome in outcomes]
        packed = {o.run["key"]: o.predictions for o in kept if o.predictions is not None}
        environments = {o.environment["id"]: o.environment for o in kept if o.environment}
        if not environments.keys() <= self._environments:
            self.store.add_facts("environment", environments)
            self._environments |= environments.keys()
        added = self.store.add([outcome.run for outcome in kept], packed)
        self.store.release(self._owner, [outcome.run["key"] for outcome in kept])
        self.summary.conflicts += added.conflicts
        for outcome in kept:
            self.summary.statuses[outcome.run["status"]] += 1
            self._tell("ended", outcome.run)

    def _checked(self, outcome: Outcome) -> Outcome:
        """An outcome that the store takes; a row that is no run becomes one that ended in error."""
        job = self._jobs.pop(outcome.run["key"], None)
        try:
            return replace(outcome, run=check(outcome.run))
        except BadRunError as problem:
            if job is None:
                raise
            return ended(job, "error", f"its run cannot be stored: {problem}")


def owner_name(number: int | None = None) -> str:
    """A process, this one unless told otherwise, so that others can tell whether it lives."""
    process = psutil.Process(number)
    return f"{platform.node()} {process.pid} {process.create_time():.2f}"


def forget_the_dead(store: Store) -> None:
    """Release the claims of processes of this machine that are gone; others' expire in time."""
    for (owner,) in store.connect().execute("SELECT DISTINCT owner FROM running").fetchall():
        if owner.startswith(f"{platform.node()} "):
            with contextlib.suppress(psutil.Error):
                if owner_name(int(owner.split()[-2])) == owner:
                    continue
            store.release(owner)


def drive(
    args: argparse.Namespace,
    queue: Queue | SearchQueue,
    jobs: Collection[Job],
    seconds: Mapping[str, float],
    limits: Limits,
    title: str,
) -> SessionSummary:
    """Run a queue on the executor that was asked for, with the display that fits its jobs and the
    seconds they are expected to take. A polite kill ends it as cleanly as Ctrl-C does; a closed
    terminal does not end it.
    """

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    wanted = ((signal.SIGTERM, interrupt), (signal.SIGHUP, signal.SIG_IGN))
    before = [(number, signal.signal(number, handler)) for number, handler in wanted]
    try:
        if args.scheduler:
            from experiments.runner.executors.dask import DaskExecutor

            executor: Executor = DaskExecutor(args.scheduler, limits)
        else:
            name = "inline" if args.inline else getattr(args, "executor", None) or "local"
            executor = registry.find("executor", name)(args.workers, limits)
        progress = Progress(jobs, seconds, args.workers, len(queue))
        live = sys.stdout.isatty() and not args.plain
        shown = LiveDisplay(progress, f"{title} → {args.store}") if live else PlainDisplay(progress)
        return Session(queue, Store(args.store), executor, shown).run()
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def sum_up(jobs: Sequence[Job], store: Store, limits: Limits, summary: SessionSummary) -> int:
    """Print the summary of a run over all its jobs and return its exit status."""
    runs = store.statuses()
    states = {job: state_of(job, runs.get(job.key), limits) for job in jobs}
    number = Counter(states.values())
    statuses: Counter[str] = Counter(runs[job.key]["status"] for job in jobs if job.key in runs)
    say(f"\n{len(jobs):,} jobs: {counts(statuses)}; {number['pending']:,} still to run.")
    for conflict in summary.conflicts:
        say(f"Gave other numbers than the store has, which stay: {conflict}")
    if number["failed"]:
        say(f"What failed and why: {program()} failures --store {store.folder}")
    if number["unavailable"]:
        without = sorted({job.dataset for job in jobs if states[job] == "unavailable"})
        say(f"Skipped because the data is missing: {', '.join(without)}.")
        say(f"How to get it: {program()} data")
    if summary.interrupted or number["pending"]:
        if summary.interrupted:
            why = f"Stopped: {summary.problem.rstrip('.')}." if summary.problem else "Stopped."
            say(f"{why} Finished jobs are kept.")
        say(f"Resume with: {same_command()}")
        return WORK_LEFT
    return FAILED if statuses["error"] or statuses["crash"] or summary.conflicts else DONE
