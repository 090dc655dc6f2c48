"""What people see of a run: lines for logs and pipes, a picture on a terminal."""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from experiments.runner import registry
from experiments.runner.executors import Running
from experiments.runs.job import PERTURBATION, Job
from experiments.runs.schema import HOLDOUT, Run
from experiments.text import counts, duration, outcome

USUAL_SEED = 42
FAILURES = ("timeout", "memory", "crash", "error")
TRUSTED_SHARE = 0.05
"""Of the expected work that must be done before the pace so far corrects the estimate."""
PROGRESS_SECONDS = 30.0
"""How often lines tell how far a run is."""
REFRESH_SECONDS = 0.2
RUNNING_SHOWN = 8


def name_of(job: Job) -> str:
    """A job for people: its seed where that is not the usual one, a candidate by what it drew."""
    what = f"{job.protocol}/{job.experiment} {job.dataset} {job.method}"
    params = job.parameters
    if job.evaluation != HOLDOUT:
        names = [name for name in registry.learner(job.method).space if name in params]
        drawn = ", ".join(f"{name} {params[name]}" for name in names or sorted(params))
        fold = f", fold {job.evaluation.partition('/')[2]}" if "/" in job.evaluation else ""
        return f"{what} with {drawn or 'no parameters'}{fold}"
    seed = "" if job.seed == USUAL_SEED else f", seed {job.seed}"
    moved = f", perturbation {params[PERTURBATION]}" if params.get(PERTURBATION) is not None else ""
    return f"{what} trial {job.trial}{seed}{moved}"


class Progress:
    """Counts what has ended and estimates when the rest will have.

    Parameters
    ----------
    jobs : everything this run has to do.
    seconds : that each job is expected to take, by key.
    workers : jobs that run at a time.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        seconds: Mapping[str, float],
        workers: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total = Counter(job.method for job in jobs)
        self.done: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()
        self.failures: deque[str] = deque(maxlen=5)
        self.latest: deque[str] = deque(maxlen=3)
        self.jobs, self.finished = len(jobs), 0
        self._waiting = {job.key: (job, seconds.get(job.key, 0.0)) for job in jobs}
        self._expected = self._left = sum(spent for _, spent in self._waiting.values())
        self._workers, self._clock, self._began = workers, clock, clock()

    def note(self, run: Run) -> str:
        """Count a run that has ended; the line about it."""
        self.finished += 1
        self.done[run["method"]] += 1
        self.statuses[run["status"]] += 1
        job, seconds = self._waiting.pop(run["key"], (None, 0.0))
        self._left -= seconds
        plain = f"{run['protocol']} {run['dataset']} {run['method']} trial {run['trial']}"
        line = f"{name_of(job) if job else plain}: {outcome(run)}"
        if run["status"] in FAILURES:
            self.failures.append(line)
        elif run["status"] == "ok":
            self.latest.append(line)
        return line

    def times(self) -> str:
        """Time so far and, corrected by how the estimate has fared, time left."""
        elapsed, done = self._clock() - self._began, self._expected - self._left
        trusted = done > TRUSTED_SHARE * self._expected
        pace = elapsed / done if trusted else 1 / self._workers
        left = f", about {duration(max(0.0, self._left) * pace)} left"
        return f"{duration(elapsed)}{left if self.finished < self.jobs else ''}"


class PlainDisplay:
    """One line per finished job, and every half minute how far the run is."""

    def __init__(self, progress: Progress, stream: TextIO | None = None) -> None:
        self._progress, self._stream = progress, stream or sys.stdout
        self._last = time.monotonic()

    def finished(self, run: Run) -> None:
        line = self._progress.note(run)
        self._say(f"[{self._progress.finished}/{self._progress.jobs}] {line}")

    def tick(self, running: Sequence[Running]) -> None:
        if time.monotonic() - self._last < PROGRESS_SECONDS:
            return
        self._last, progress = time.monotonic(), self._progress
        for one in running[:RUNNING_SHOWN]:
            self._say(f"running {name_of(one.job)} for {duration(one.seconds)}")
        self._say(f"{progress.finished:,} of {progress.jobs:,} jobs in {progress.times()}")

    def close(self) -> None:
        self._stream.flush()

    def _say(self, text: str) -> None:
        stamp = datetime.now().strftime("%Y-%m-%d %H:%M:%S")
        print(stamp, text, file=self._stream, flush=True)


class LiveDisplay:
    """Redraws a panel a few times a second, however fast jobs end."""

    def __init__(self, progress: Progress, title: str, console: Console | None = None) -> None:
        self._progress, self._title = progress, title
        self._running: Sequence[Running] = ()
        self._drawn = 0.0
        self._live = Live(self.render(), console=console or Console(), auto_refresh=False)
        self._live.start()

    def finished(self, run: Run) -> None:
        self._progress.note(run)

    def tick(self, running: Sequence[Running]) -> None:
        self._running = running
        if time.monotonic() - self._drawn >= REFRESH_SECONDS:
            self._live.update(self.render(), refresh=True)
            self._drawn = time.monotonic()

    def close(self) -> None:
        self._running = ()
        self._live.update(self.render(), refresh=True)
        self._live.stop()

    def render(self) -> RenderableType:
        progress, grid = self._progress, Table.grid(padding=(0, 2))
        bars = [("all", progress.finished, progress.jobs, Text(progress.times(), "cyan"))]
        bars += [(name, progress.done[name], n, Text()) for name, n in progress.total.items()]
        for name, done, total, note in bars:
            bar = ProgressBar(max(total, 1), done, 32, complete_style="blue")
            grid.add_row(Text(name), bar, Text(f"{done:,}/{total:,}", justify="right"), note)
        lines = [
            Text(f"{one.where}  {name_of(one.job)}  {duration(one.seconds)}")
            for one in self._running[:RUNNING_SHOWN]
        ]
        if len(self._running) > RUNNING_SHOWN:
            lines.append(Text(f"and {len(self._running) - RUNNING_SHOWN} more"))
        lines += [Text(line, "dim") for line in progress.latest]
        if progress.failures:
            failed = {s: n for s, n in progress.statuses.items() if s in FAILURES}
            lines.append(Text(f"Failed so far: {counts(failed)}; the latest:", "yellow"))
            lines += [Text(f"  {line}", "yellow") for line in progress.failures]
        parts = Group(grid, Text(), *lines)
        return Panel(parts, title=Text(self._title), title_align="left", border_style="blue")
