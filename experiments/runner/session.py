"""Drive jobs through an executor into a store until all are done or someone says stop, and show it:
a line per job.

Several sessions may work on one store: each claims a job before it starts it, and takes over what
another one ends meanwhile. Whatever stops one, finished jobs are kept and the same command goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import platform
import shutil
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

import psutil

from experiments.errors import DONE, FAILED, WORK_LEFT, CannotGoOnError
from experiments.runner import registry
from experiments.runner.executors import Executor
from experiments.runner.experiments import MODEL_SEED
from experiments.runner.plan import Plan, Queue, state_of
from experiments.runner.run_job import Outcome, ended
from experiments.runs.schema import HOLDOUT, PERTURBATION, BadRunError, Job, Limits, Run, check, now
from experiments.runs.store import CLAIM_SECONDS, Store
from experiments.text import counts, duration, outcome, program, same_command, say

TICK_SECONDS = 0.5
ELSEWHERE_SECONDS = 1.0
"""How often a session looks for what other sessions have done."""
TRUSTED_SHARE = 0.05
"""Of the expected work that must be done before the pace so far corrects the estimate."""
PROGRESS_SECONDS = 30.0
"""How often lines tell how far a run is."""
RUNNING_SHOWN = 8


def name_of(job: Job) -> str:
    """A job for people: its seed where that is not the usual one, a candidate by what it drew."""
    what = f"{job.protocol}/{job.experiment} {job.dataset} {job.method}"
    params = job.parameters
    if job.evaluation != HOLDOUT:
        names = [name for name in registry.learner(job.method).space if name in params]
        drawn = ", ".join(f"{name} {params[name]}" for name in names or sorted(params))
        return f"{what} with {drawn or 'no parameters'}"
    seed = "" if job.seed == MODEL_SEED else f", seed {job.seed}"
    moved = f", perturbation {params[PERTURBATION]}" if params.get(PERTURBATION) is not None else ""
    return f"{what} trial {job.trial}{seed}{moved}"


class Display:
    """One line per finished job, and every half minute how far the run is: the time left by the
    seconds that each job is expected to take, corrected by how that estimate has fared. On a
    terminal, the next line takes the place of every line but those of failures.
    """

    def __init__(
        self, plan: Plan, workers: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._waiting = {job.key: job for job in plan.pending}
        self._seconds, self._workers = plan.seconds, workers
        self._expected = self._left = plan.core_seconds
        self._clock, self._last = clock, clock()
        self._began, self._finished, self._jobs = self._last, 0, len(plan.pending)
        self._terminal = sys.stdout.isatty()

    def ended(self, run: Run) -> None:
        self._finished += 1
        job = self._waiting.pop(run["key"], None)
        self._left -= self._seconds.get(run["key"], 0.0) if job else 0.0
        plain = f"{run['protocol']} {run['dataset']} {run['method']} trial {run['trial']}"
        times = f" in {self._times()}" if self._terminal else ""
        text = f"[{self._finished}/{self._jobs}{times}] {name_of(job) if job else plain}: "
        self._say(text + outcome(run), passes=run["status"] in ("ok", "skipped"))

    def tick(self, running: Sequence[tuple[Job, float]]) -> None:
        if self._clock() - self._last < PROGRESS_SECONDS:
            return
        self._last = self._clock()
        for job, seconds in running[:RUNNING_SHOWN]:
            self._say(f"running {name_of(job)} for {duration(seconds)}")
        self._say(f"{self._finished:,} of {self._jobs:,} jobs in {self._times()}")

    def close(self) -> None:
        if self._terminal:
            say()

    def _times(self) -> str:
        elapsed, done = self._clock() - self._began, self._expected - self._left
        trusted = done > TRUSTED_SHARE * self._expected
        pace = elapsed / done if trusted else 1 / self._workers
        left = f", about {duration(max(0.0, self._left) * pace)} left"
        return f"{duration(elapsed)}{left if self._finished < self._jobs else ''}"

    def _say(self, text: str, passes: bool = True) -> None:
        text = f"{datetime.now():%Y-%m-%d %H:%M:%S} {text}"
        if self._terminal:
            width = shutil.get_terminal_size().columns - 1
            say("\r\033[K" + (text[:width] if passes else text), end="" if passes else "\n")
        else:
            say(text)


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

    queue: Queue
    store: Store
    executor: Executor
    display: Display = field(default_factory=lambda: Display(Plan([], [], {}), 1))

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
        except (KeyboardInterrupt, CannotGoOnError, sqlite3.Error) as problem:
            disk = f"cannot write to {self.store.folder}: " * isinstance(problem, sqlite3.Error)
            summary.interrupted, summary.problem = True, f"{disk}{problem}"
        finally:
            with signals_held():
                self.executor.close()
                self.display.close()
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
            elif self._elsewhere or self.queue:  # a cluster may have no worker yet
                time.sleep(TICK_SECONDS)
            with signals_held():
                settled = [run for each in outcomes for run in self.queue.finish(each.run)]
                self._keep([*outcomes, *map(Outcome, settled)])
            if time.monotonic() - self._looked > ELSEWHERE_SECONDS:
                self._look_elsewhere()
            self.display.tick(self.executor.running())

    def _start(self, job: Job) -> None:
        """Start a job, unless another session is at it or has done it, which then counts."""
        run = self.store.run(job.key)
        if run and (run["status"] == "ok" or (run["finished"] or "") >= self._began):
            self._keep([Outcome(each) for each in self.queue.finish(run)])
            self.display.ended(run)
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
        added = self.store.add([each.run for each in kept], packed)
        self.store.release(self._owner, [each.run["key"] for each in kept])
        self.summary.conflicts += added.conflicts
        for each in kept:
            self.summary.statuses[each.run["status"]] += 1
            self.display.ended(each.run)

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


def drive(args: argparse.Namespace, plan: Plan, give_up: bool = True) -> SessionSummary:
    """Do what a plan has pending, on the executor that was asked for. A polite kill ends it as
    cleanly as Ctrl-C does; a closed terminal does not end it.
    """

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    if not plan.pending:
        return SessionSummary()
    wanted = ((signal.SIGTERM, interrupt), (signal.SIGHUP, signal.SIG_IGN))
    before = [(number, signal.signal(number, handler)) for number, handler in wanted]
    try:
        if args.scheduler:
            from experiments.runner.executors.dask import DaskExecutor

            executor: Executor = DaskExecutor(args.scheduler, plan.limits)
        else:
            name = "inline" if args.inline else getattr(args, "executor", None) or "local"
            executor = registry.find("executor", name)(args.workers, plan.limits)
        queue = Queue(plan.pending, plan.seconds, give_up)
        return Session(queue, Store(args.store), executor, Display(plan, args.workers)).run()
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
    if summary.interrupted:
        why = f": {summary.problem.rstrip('.')}" if summary.problem else ""
        say(f"Stopped{why}. Finished jobs are kept.")
    if summary.interrupted or number["pending"]:
        say(f"Resume with: {same_command()}")
        return WORK_LEFT
    return FAILED if statuses["error"] or statuses["crash"] or summary.conflicts else DONE
