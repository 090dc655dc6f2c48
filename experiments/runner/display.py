"""What people see of a run: lines for logs and pipes, bars on a terminal."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TextIO

import rich.progress
from rich.console import Console, RenderableType
from rich.text import Text

from experiments.runner import registry
from experiments.runner.executors import Running
from experiments.runner.experiments import MODEL_SEED
from experiments.runs.job import PERTURBATION, Job
from experiments.runs.schema import HOLDOUT, Run
from experiments.text import duration, outcome

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
        return f"{what} with {drawn or 'no parameters'}"
    seed = "" if job.seed == MODEL_SEED else f", seed {job.seed}"
    moved = f", perturbation {params[PERTURBATION]}" if params.get(PERTURBATION) is not None else ""
    return f"{what} trial {job.trial}{seed}{moved}"


class Progress:
    """Counts what has ended (of ``count``, where no job is known before) and estimates, by the
    ``seconds`` that each job is expected to take, when the rest will have.
    """

    def __init__(
        self,
        jobs: Collection[Job],
        seconds: Mapping[str, float],
        workers: int,
        count: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total = Counter(job.method for job in jobs)
        self.jobs, self.finished = len(jobs) or count, 0
        self._waiting = {job.key: (job, seconds.get(job.key, 0.0)) for job in jobs}
        self._expected = self._left = sum(spent for _, spent in self._waiting.values())
        self._workers, self._clock, self._began = workers, clock, clock()

    def note(self, run: Run) -> str:
        """Count a run that has ended; the line about it."""
        self.finished += 1
        job, seconds = self._waiting.pop(run["key"], (None, 0.0))
        self._left -= seconds
        plain = f"{run['protocol']} {run['dataset']} {run['method']} trial {run['trial']}"
        return f"{name_of(job) if job else plain}: {outcome(run)}"

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

    def ended(self, run: Run) -> None:
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


class LiveDisplay(rich.progress.Progress):
    """Bars, and below them what runs just now; failures scroll by above them."""

    def __init__(self, progress: Progress, title: str, console: Console | None = None) -> None:
        name = rich.progress.TextColumn("{task.description}", markup=False)
        bars = (rich.progress.BarColumn(32), rich.progress.MofNCompleteColumn())
        note = rich.progress.TextColumn("{task.fields[note]}", style="cyan")
        self._progress, self._title = progress, title
        self._drawn, self._now = 0.0, list[Text]()
        super().__init__(name, *bars, note, console=console, auto_refresh=False)
        counts = {"all": progress.jobs, **progress.total}
        self._bars = {name: self.add_task(name, total=n, note="") for name, n in counts.items()}

    def ended(self, run: Run) -> None:
        line = self._progress.note(run)
        for name in ("all", run["method"]):
            if name in self._bars:
                self.advance(self._bars[name])
        if run["status"] not in ("ok", "skipped"):
            self.console.print(line, style="yellow", markup=False)

    def tick(self, running: Sequence[Running]) -> None:
        if not self.live.is_started:
            self.console.print(self._title, style="blue", markup=False)
            self.start()
        if time.monotonic() - self._drawn >= REFRESH_SECONDS:
            shown = [f"{one.where}  {name_of(one.job)}  {duration(one.seconds)}" for one in running]
            more = [f"and {len(shown) - RUNNING_SHOWN} more"] if len(shown) > RUNNING_SHOWN else []
            self._now = [Text(line) for line in (*shown[:RUNNING_SHOWN], *more)]
            self.update(self._bars["all"], note=self._progress.times(), refresh=True)
            self._drawn = time.monotonic()

    def get_renderables(self) -> Iterator[RenderableType]:
        yield self.make_tasks_table(self.tasks)
        yield from self._now

    def close(self) -> None:
        self._now = []
        self.update(self._bars["all"], note=self._progress.times())
        self.stop()
