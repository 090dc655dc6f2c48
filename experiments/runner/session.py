"""Drive jobs through an executor into a store until all are done or someone says stop.

Several sessions may work on one store: each claims a job before it starts it, and takes over what
another one ends meanwhile. Whatever stops a session (Ctrl-C, a polite kill, a kill -9, a full
disk), finished jobs are kept and the same command goes on.
"""

from __future__ import annotations

import argparse
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import psutil

from experiments.errors import DONE, FAILED, WORK_LEFT, CannotGoOnError
from experiments.runner import registry
from experiments.runner.display import LiveDisplay, PlainDisplay, Progress
from experiments.runner.executors import Executor, Running
from experiments.runner.queue import state_of
from experiments.runner.run_job import Outcome, clean
from experiments.runs.job import Job, Limits, now
from experiments.runs.schema import BadRunError, Run, check
from experiments.runs.store import CLAIM_SECONDS, Store
from experiments.text import counts, program, same_command, say, silence

TICK_SECONDS = 0.5
ELSEWHERE_SECONDS = 1.0
"""How often a session looks for what other sessions have done."""


class JobSource(Protocol):
    """Where jobs come from: a list in some order, or a search that thinks as it goes."""

    def __len__(self) -> int: ...
    def take(self) -> Job | None: ...
    def finish(self, run: Run) -> Sequence[dict[str, Any]]: ...


class Listener(Protocol):
    """Follows a session: a display, or whatever refreshes tables as rows complete."""

    def started(self, job: Job) -> None: ...
    def finished(self, run: Run) -> None: ...
    def tick(self, running: Sequence[Running]) -> None: ...
    def close(self) -> None: ...


@dataclass
class SessionSummary:
    """What a session did.

    Attributes
    ----------
    interrupted : someone said stop, the store could not be written to, or the cluster is gone.
    problem : why the work could not go on.
    conflicts : successes that contradict the store's; the store's stay.
    """

    statuses: Counter[str] = field(default_factory=Counter)
    left: int = 0
    interrupted: bool = False
    problem: str = ""
    conflicts: list[str] = field(default_factory=list)

    @property
    def done(self) -> int:
        return self.statuses.total()


def run_session(
    queue: JobSource,
    store: Store,
    executor: Executor,
    listeners: Sequence[Listener] = (),
    again: bool = False,
) -> SessionSummary:
    """Run the jobs of a queue; a keyboard interrupt stops those in flight, and is noted.

    The executor is closed in any case, so no process outlives the session.

    Parameters
    ----------
    again : do jobs that ended well before once more, for their predictions or to compare.
    """
    session = _Session(queue, store, executor, list(listeners), again)
    summary = session.summary
    try:
        session.loop()
    except KeyboardInterrupt:
        summary.interrupted = True
    except CannotGoOnError as problem:
        summary.interrupted, summary.problem = True, str(problem)
    finally:
        with signals_held():
            summary.left = len(queue) + len(executor.running()) + len(session.elsewhere)
            executor.close()
            session.tell("close")
            session.release()
    return summary


@contextmanager
def signals_held() -> Iterator[None]:
    """Let Ctrl-C and a polite kill wait until this block is done."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def writing(store: Store) -> Iterator[None]:
    """Turn what keeps a store from being written to into a sentence."""
    try:
        yield
    except (sqlite3.Error, OSError) as problem:
        raise CannotGoOnError(f"cannot write to {store.folder}: {problem}") from None


class _Session:
    def __init__(
        self,
        queue: JobSource,
        store: Store,
        executor: Executor,
        listeners: list[Listener],
        again: bool,
    ) -> None:
        self.queue, self.store, self.executor = queue, store, executor
        self.listeners, self.again = listeners, again
        self.summary = SessionSummary()
        self.elsewhere: dict[str, Job] = {}
        """Jobs that another session is doing."""
        self._jobs: dict[str, Job] = {}
        self._settled: list[dict[str, Any]] = []
        self._environments: set[str] = set()
        self._owner = owner_name()
        self._began = now()
        self._renewed = self._looked = time.monotonic()

    def loop(self) -> None:
        with writing(self.store):
            forget_the_dead(self.store)
        while self.queue or self.executor.running() or self.elsewhere:
            self._start_what_fits()
            if self.executor.running():
                outcomes = self.executor.wait(TICK_SECONDS)
            else:
                outcomes = []
                if self.elsewhere:
                    time.sleep(TICK_SECONDS)
            with signals_held():
                for outcome in outcomes:
                    self._settled += self.queue.finish(outcome.run)
            self._start_what_fits()  # workers go on while their outcomes are written
            with signals_held():
                settled, self._settled = self._settled, []
                self._keep([*outcomes, *map(Outcome, settled)])
            self._look_elsewhere()
            self.tell("tick", self.executor.running())

    def tell(self, what: str, *news: Any) -> None:
        """Tell every listener; one whose terminal or pipe is gone is told nothing any more."""
        for listener in list(self.listeners):
            try:
                getattr(listener, what)(*news)
            except (OSError, ValueError):
                self.listeners.remove(listener)
                try:
                    sys.stdout.flush()
                except (OSError, ValueError):
                    silence()

    def release(self) -> None:
        """Give up all claims, if the store lets us."""
        if not self.again:
            try:
                self.store.release(self._owner)
            except (sqlite3.Error, OSError):
                return

    def _start_what_fits(self) -> None:
        while self.executor.free():
            job = self.queue.take()
            if job is None:
                return
            if self.again or self._claim(job):
                self._start(job)

    def _start(self, job: Job) -> None:
        self._jobs[job.key] = job
        self.tell("started", job)
        self.executor.start(job)

    def _claim(self, job: Job) -> bool:
        """Whether this session may start a job; what others have done of late counts as done."""
        with writing(self.store):
            if self._done_elsewhere(job):
                return False
            if self.store.claim(job.key, self._owner):
                return True
        self.elsewhere[job.key] = job
        return False

    def _done_elsewhere(self, job: Job) -> bool:
        run = self.store.run(job.key)
        if run is None or (run["status"] != "ok" and (run["finished"] or "") < self._began):
            return False
        self._settled += self.queue.finish(run)
        self.tell("finished", run)
        return True

    def _look_elsewhere(self) -> None:
        """Keep our claims alive; take over what others have done, or left undone."""
        if time.monotonic() - self._looked < ELSEWHERE_SECONDS:
            return
        self._looked = time.monotonic()
        with writing(self.store):
            if self._looked - self._renewed > CLAIM_SECONDS / 4:
                self.store.renew_claims(self._owner)
                self._renewed = self._looked
            if self.elsewhere:
                forget_the_dead(self.store)
            for key, job in list(self.elsewhere.items()):
                if self._done_elsewhere(job):
                    del self.elsewhere[key]
                elif self.executor.free() and self.store.claim(key, self._owner):
                    del self.elsewhere[key]
                    self._start(job)

    def _keep(self, outcomes: Sequence[Outcome]) -> None:
        """Write outcomes, each checked, in one transaction."""
        if not outcomes:
            return
        kept = [self._checked(outcome) for outcome in outcomes]
        packed = {o.run["key"]: o.predictions for o in kept if o.predictions is not None}
        environments = {o.environment["id"]: o.environment for o in kept if o.environment}
        new = {name: one for name, one in environments.items() if name not in self._environments}
        with writing(self.store):
            if new:
                self.store.add_facts("environment", new)
                self._environments |= set(new)
            added = self.store.add([outcome.run for outcome in kept], packed)
            if not self.again:
                self.store.release(self._owner, [outcome.run["key"] for outcome in kept])
        self.summary.conflicts += added.conflicts
        for outcome in kept:
            self.summary.statuses[outcome.run["status"]] += 1
            self.tell("finished", outcome.run)

    def _checked(self, outcome: Outcome) -> Outcome:
        """An outcome that the store takes; a row that is no run becomes one that ended in error."""
        job = self._jobs.pop(outcome.run["key"], None)
        try:
            return replace(outcome, run=check(outcome.run))
        except BadRunError as problem:
            if job is None:
                raise
            reason = clean(f"its run cannot be stored: {problem}", "reason", keep_start=True)
            return Outcome(check(job.run("error", reason=reason, finished=now())))


def owner_name() -> str:
    """This process, so that others can tell whether it still lives."""
    me = psutil.Process()
    return f"{_place()} {me.pid} {me.create_time():.2f}"


def _place() -> str:
    """Machine since its last start, and container: where a process number means one process."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return f"{psutil.boot_time():.0f} here"


def forget_the_dead(store: Store) -> None:
    """Release the claims of processes of this machine that are gone; others' expire in time."""
    rows = store.connect().execute("SELECT DISTINCT owner FROM running").fetchall()
    for owner in (str(row["owner"]) for row in rows):
        place, *rest = owner.rsplit(" ", 2)
        if place != _place() or len(rest) != 2:
            continue
        try:
            alive = f"{psutil.Process(int(rest[0])).create_time():.2f}" == rest[1]
        except psutil.Error:
            alive = False
        if not alive:
            store.release(owner)


def drive(
    args: argparse.Namespace,
    queue: JobSource,
    progress: Progress,
    limits: Limits,
    title: str,
    listeners: Sequence[Listener] = (),
    again: bool = False,
) -> SessionSummary:
    """Run a queue on the executor that was asked for, with the display that fits."""
    with interrupts_on_sigterm():
        executor = executor_of(args, limits)
        shown: Listener
        if args.plain or not sys.stdout.isatty():
            shown = PlainDisplay(progress)
        else:
            shown = LiveDisplay(progress, f"{title} → {args.store}")
        return run_session(queue, Store(args.store), executor, [shown, *listeners], again)


def executor_of(args: argparse.Namespace, limits: Limits) -> Executor:
    """Supervised processes unless told otherwise."""
    if args.scheduler:
        from experiments.runner.executors.dask import DaskExecutor

        return DaskExecutor(args.scheduler, limits)
    name = "inline" if args.inline else getattr(args, "executor", None) or "local"
    made: Executor = registry.find("executor", name)(args.workers, limits)
    return made


@contextmanager
def interrupts_on_sigterm() -> Iterator[None]:
    """Let a polite kill end a run as cleanly as Ctrl-C does; a closed terminal ends no run."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    hung_up = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGHUP, hung_up)


def sum_up(jobs: Sequence[Job], store: Store, limits: Limits, summary: SessionSummary) -> int:
    """Print the summary of a run over all its jobs and return its exit status."""
    runs = store.statuses({job.key for job in jobs})
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
