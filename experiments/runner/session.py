"""Drive jobs through an executor into a store until all are done or someone says stop.

Several sessions may work on one store: each claims a job before it starts it, and takes over what
another one ends meanwhile. Whatever stops one, finished jobs are kept and the same command goes on.
"""

import argparse
import contextlib
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
from experiments.runner.executors import Executor
from experiments.runner.queue import state_of
from experiments.runner.run_job import Outcome, ended
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


@contextmanager
def writing(store: Store) -> Iterator[None]:
    """Turn what keeps a store from being written to into a sentence."""
    try:
        yield
    except (sqlite3.Error, OSError) as problem:
        raise CannotGoOnError(f"cannot write to {store.folder}: {problem}") from None


def run_session(
    queue: JobSource,
    store: Store,
    executor: Executor,
    displays: Sequence[PlainDisplay | LiveDisplay] = (),
    again: bool = False,
) -> SessionSummary:
    """Run the jobs of a queue; a keyboard interrupt stops those in flight, and is noted. The
    executor is closed in any case. With ``again``, jobs that ended well before are done once more.
    """
    session = _Session(queue, store, executor, list(displays), again)
    try:
        session.loop()
    except (KeyboardInterrupt, CannotGoOnError) as problem:
        session.summary.interrupted, session.summary.problem = True, str(problem)
    finally:
        with signals_held():
            executor.close()
            session.tell("close")
            with contextlib.suppress(sqlite3.Error, OSError):
                store.release(session.owner)
    return session.summary


@dataclass
class _Session:
    queue: JobSource
    store: Store
    executor: Executor
    displays: list[PlainDisplay | LiveDisplay]
    again: bool

    def __post_init__(self) -> None:
        self.summary, self.owner = SessionSummary(), owner_name()
        self._elsewhere: dict[str, Job] = {}
        """Jobs that another session is doing."""
        self._jobs: dict[str, Job] = {}
        self._settled: list[dict[str, Any]] = []
        self._environments: set[str] = set()
        self._began, self._renewed, self._looked = now(), time.monotonic(), time.monotonic()

    def loop(self) -> None:
        with writing(self.store):
            forget_the_dead(self.store)
        while self.queue or self.executor.running() or self._elsewhere:
            self._start_what_fits()
            outcomes: list[Outcome] = []
            if self.executor.running():
                outcomes = self.executor.wait(TICK_SECONDS)
            elif self._elsewhere:
                time.sleep(TICK_SECONDS)
            with signals_held():
                for outcome in outcomes:
                    self._settled += self.queue.finish(outcome.run)
            self._start_what_fits()  # workers go on while their outcomes are written
            with signals_held():
                settled, self._settled = self._settled, []
                self._keep([*outcomes, *map(Outcome, settled)])
            if time.monotonic() - self._looked > ELSEWHERE_SECONDS:
                self._look_elsewhere()
            self.tell("tick", self.executor.running())

    def tell(self, what: str, *news: Any) -> None:
        """Tell every display; one whose terminal or pipe is gone is told nothing any more."""
        for display in list(self.displays):
            try:
                getattr(display, what)(*news)
            except (OSError, ValueError):
                self.displays.remove(display)
                try:
                    sys.stdout.flush()
                except (OSError, ValueError):
                    silence()

    def _start_what_fits(self) -> None:
        while self.executor.free() and (job := self.queue.take()) is not None:
            with writing(self.store):
                if self.again or not self._done_elsewhere(job):
                    self._start(job)

    def _start(self, job: Job) -> bool:
        """Start a job, unless another session is doing it."""
        ours = self.again or self.store.claim(job.key, self.owner)
        (self._jobs if ours else self._elsewhere)[job.key] = job
        if ours:
            self.executor.start(job)
        return ours

    def _done_elsewhere(self, job: Job) -> bool:
        """Whether another session has done a job of late; its run then counts for ours."""
        run = self.store.run(job.key)
        if run is None or (run["status"] != "ok" and (run["finished"] or "") < self._began):
            return False
        self._settled += self.queue.finish(run)
        self.tell("ended", run)
        return True

    def _look_elsewhere(self) -> None:
        """Keep our claims alive; take over what others have done, or left undone."""
        self._looked = time.monotonic()
        with writing(self.store):
            if self._looked - self._renewed > CLAIM_SECONDS / 4:
                self.store.renew_claims(self.owner)
                self._renewed = self._looked
            if self._elsewhere:
                forget_the_dead(self.store)
            for key, job in list(self._elsewhere.items()):
                if self._done_elsewhere(job) or (self.executor.free() and self._start(job)):
                    del self._elsewhere[key]

    def _keep(self, outcomes: Sequence[Outcome]) -> None:
        """Write outcomes, each checked, in one transaction."""
        if not outcomes:
            return
        kept = [self._checked(outcome) for outcome in outcomes]
        packed = {o.run["key"]: o.predictions for o in kept if o.predictions is not None}
        environments = {o.environment["id"]: o.environment for o in kept if o.environment}
        with writing(self.store):
            if not environments.keys() <= self._environments:
                self.store.add_facts("environment", environments)
                self._environments |= environments.keys()
            added = self.store.add([outcome.run for outcome in kept], packed)
            if not self.again:
                self.store.release(self.owner, [outcome.run["key"] for outcome in kept])
        self.summary.conflicts += added.conflicts
        for outcome in kept:
            self.summary.statuses[outcome.run["status"]] += 1
            self.tell("ended", outcome.run)

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
    """A process (this one unless told otherwise) on one machine since its last start, in one
    container, so that others can tell whether it still lives.
    """
    process = psutil.Process(number)
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        place = f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        place = f"{psutil.boot_time():.0f} here"
    return f"{place} {process.pid} {process.create_time():.2f}"


def forget_the_dead(store: Store) -> None:
    """Release the claims of processes of this machine that are gone; others' expire in time."""
    here = owner_name().rsplit(" ", 2)[0]
    rows = store.connect().execute("SELECT DISTINCT owner FROM running").fetchall()
    for owner in (row["owner"] for row in rows if row["owner"].startswith(f"{here} ")):
        with contextlib.suppress(psutil.Error):
            if owner_name(int(owner.split()[-2])) == owner:
                continue
        store.release(owner)


def drive(
    args: argparse.Namespace,
    queue: JobSource,
    progress: Progress,
    limits: Limits,
    title: str,
    again: bool = False,
) -> SessionSummary:
    """Run a queue on the executor that was asked for, with the display that fits. A polite kill
    ends it as cleanly as Ctrl-C does; a closed terminal does not end it.
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
        live = sys.stdout.isatty() and not args.plain
        shown = LiveDisplay(progress, f"{title} → {args.store}") if live else PlainDisplay(progress)
        return run_session(queue, Store(args.store), executor, [shown], again)
    finally:
        for number, handler in before:
            signal.signal(number, handler)


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
