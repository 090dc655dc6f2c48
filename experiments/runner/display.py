"""What people see of a run: lines for logs and pipes, a picture on a terminal, and tables and
report that are brought up to date as their rows complete.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

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
from experiments.text import counts, duration, outcome, say

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
        self.rows = Rows(jobs)
        self._by_key = {job.key: job for job in jobs}
        self._seconds = {job.key: seconds.get(job.key, 0.0) for job in jobs}
        self._expected = self._left = sum(self._seconds.values())
        self._workers, self._clock, self._began = workers, clock, clock()

    @property
    def elapsed(self) -> float:
        return self._clock() - self._began

    def note(self, run: Run) -> str:
        """Count a run that has ended; the line about it."""
        self.finished += 1
        self.done[run["method"]] += 1
        self.statuses[run["status"]] += 1
        self._left -= self._seconds.pop(run["key"], 0.0)
        self.rows.completed_by(run)
        job = self._by_key.pop(run["key"], None)
        plain = f"{run['protocol']} {run['dataset']} {run['method']} trial {run['trial']}"
        line = f"{name_of(job) if job else plain}: {outcome(run)}"
        if run["status"] in FAILURES:
            self.failures.append(line)
        elif run["status"] == "ok":
            self.latest.append(line)
        return line

    def seconds_left(self) -> float:
        """The estimate of what remains, corrected by how the estimate has fared so far."""
        done = self._expected - self._left
        pace = 1.0
        if done > TRUSTED_SHARE * self._expected:
            pace = self.elapsed * self._workers / done
        return max(0.0, self._left) * pace / self._workers


class Rows:
    """Rows of tables that a run fills: a dataset in an experiment under a protocol."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._row_of = {job.key: (job.protocol, job.experiment, job.dataset) for job in jobs}
        self._jobs_left = Counter(self._row_of.values())
        self.total = len(self._jobs_left)
        self.complete = 0

    def completed_by(self, run: Run) -> bool:
        """Whether this run was the last that its row waited for."""
        row = self._row_of.pop(run["key"], None)
        if row is None:
            return False
        self._jobs_left[row] -= 1
        self.complete += not self._jobs_left[row]
        return not self._jobs_left[row]


class PlainDisplay:
    """One line per finished job, and every half minute how far the run is."""

    def __init__(self, progress: Progress, stream: TextIO | None = None) -> None:
        self._progress = progress
        self._stream = stream or sys.stdout
        self._last = time.monotonic()

    def started(self, job: Job) -> None:
        """Nothing is said of a job before it ends, or half a minute has passed."""

    def finished(self, run: Run) -> None:
        line = self._progress.note(run)
        self._say(f"[{self._progress.finished}/{self._progress.jobs}] {line}")

    def tick(self, running: Sequence[Running]) -> None:
        if time.monotonic() - self._last < PROGRESS_SECONDS:
            return
        self._last = time.monotonic()
        for one in running[:RUNNING_SHOWN]:
            self._say(f"running {name_of(one.job)} for {duration(one.seconds)}")
        done = f"{self._progress.finished:,} of {self._progress.jobs:,} jobs"
        left = duration(self._progress.seconds_left())
        self._say(f"{done} in {duration(self._progress.elapsed)}, about {left} left")

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

    def started(self, job: Job) -> None:
        """Running jobs are shown from the next tick on."""

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
        progress = self._progress
        bars, jobs = Table.grid(padding=(0, 2)), Table.grid(padding=(0, 2))
        rows = f"{progress.rows.complete} of {progress.rows.total} rows complete"
        note = f"{rows}, {duration(progress.elapsed)}"
        if progress.finished < progress.jobs:
            note += f", about {duration(progress.seconds_left())} left"
        bars.add_row(*_bar("all", progress.finished, progress.jobs, "bold"), Text(note, "cyan"))
        for method, total in progress.total.items():
            bars.add_row(*_bar(method, progress.done[method], total), Text())
        for one in self._running[:RUNNING_SHOWN]:
            spent = Text(duration(one.seconds), "cyan")
            jobs.add_row(Text(one.where, "dim"), Text(name_of(one.job)), spent)
        if len(self._running) > RUNNING_SHOWN:
            jobs.add_row("", f"and {len(self._running) - RUNNING_SHOWN} more", "")
        parts: list[RenderableType] = [bars]
        if self._running:
            parts += [Text(), jobs]
        if progress.latest:
            parts += [Text(), *[Text(line, "dim") for line in progress.latest]]
        if progress.failures:
            failed = {s: n for s, n in progress.statuses.items() if s in FAILURES}
            head = f"Failed so far: {counts(failed)}; the latest:"
            parts += [Text(), Text(head, "yellow")]
            parts += [Text(f"  {line}", "yellow") for line in progress.failures]
        return Panel(
            Group(*parts), title=Text(self._title), title_align="left", border_style="blue"
        )


def _bar(name: str, done: int, total: int, style: str = "") -> tuple[RenderableType, ...]:
    colours: Any = {"complete_style": "blue", "finished_style": "green"}
    bar = ProgressBar(total=max(total, 1), completed=done, width=32, **colours)
    return Text(name, style), bar, Text(f"{done:,}/{total:,}", style, justify="right")


class Refresher:
    """A listener that runs verbs such as ``tables`` in the background as rows complete.

    One after the other beside the jobs, at most every half minute, and never beside a job that
    is measured alone.

    Parameters
    ----------
    verbs : of ``python -m experiments``; each is given ``--store``.
    jobs : what the run has to do.
    store : folder of the runs, to which the verbs write.
    options : given to every verb as well.
    """

    def __init__(
        self, verbs: Sequence[str], jobs: Sequence[Job], store: Path, options: Sequence[str] = ()
    ) -> None:
        self._verbs, self._store, self._options = list(verbs), store, list(options)
        self._rows = Rows(jobs)
        self._stale = False
        self._to_run: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._began = -PROGRESS_SECONDS

    def started(self, job: Job) -> None:
        """A job that is measured alone must not be disturbed."""
        if job.measured == "alone" and self._busy():
            self.close()
            self._stale = True

    def finished(self, run: Run) -> None:
        self._stale |= self._rows.completed_by(run)

    def tick(self, running: Sequence[Running]) -> None:
        if self._busy() or any(one.job.measured == "alone" for one in running):
            return
        if not self._to_run and self._stale and time.monotonic() > self._began + PROGRESS_SECONDS:
            self._to_run, self._stale, self._began = list(self._verbs), False, time.monotonic()
        if self._to_run:
            self._process = subprocess.Popen(
                self._command(self._to_run.pop(0)),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    def _busy(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def close(self) -> None:
        """Stop refreshing; ``final`` makes everything up to date once more."""
        if self._process is not None and self._busy():
            self._process.kill()
            self._process.wait()

    def final(self) -> None:
        """Run every verb once more, and let it speak."""
        for verb in self._verbs:
            if subprocess.run(self._command(verb), check=False).returncode:
                say(f"{verb} could not be brought up to date; see above")

    def _command(self, verb: str) -> list[str]:
        place = ["--store", str(self._store)]
        return [sys.executable, "-m", "experiments", verb, *place, *self._options]
