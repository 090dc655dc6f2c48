"""What people see of a run: its numbers, lines for logs and pipes, a picture on a terminal."""

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

from experiments.core.job import Job
from experiments.core.outcome import Running
from experiments.core.record import RunRecord
from experiments.core.text import counts, duration, outcome
from experiments.runner.estimate import Estimate

FAILURES = ("timeout", "memory", "crash", "error")
FAILURES_SHOWN = 5
LATEST_SHOWN = 3
TRUSTED_SHARE = 0.05
"""Of the expected work that must be done before the pace so far corrects the estimate."""


class Progress:
    """Counts what has ended and estimates when the rest will have.

    Parameters
    ----------
    jobs : everything this run has to do.
    estimates : seconds per job, by key.
    workers : jobs that run at a time.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        estimates: Mapping[str, Estimate],
        workers: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total = Counter(job.method for job in jobs)
        self.done: Counter[str] = Counter()
        self.statuses: Counter[str] = Counter()
        self.failures: deque[str] = deque(maxlen=FAILURES_SHOWN)
        self.latest: deque[str] = deque(maxlen=LATEST_SHOWN)
        self._row_of = {job.key: (job.protocol, job.experiment, job.dataset) for job in jobs}
        self._left_of_row = Counter(self._row_of.values())
        self.rows = len(self._left_of_row)
        self.rows_complete = 0
        self._seconds = {job.key: estimates[job.key].seconds for job in jobs}
        self._expected = sum(self._seconds.values())
        self._left = self._expected
        self._workers = workers
        self._clock = clock
        self._began = clock()

    @property
    def finished(self) -> int:
        return self.done.total()

    @property
    def jobs(self) -> int:
        return self.total.total()

    @property
    def elapsed(self) -> float:
        return self._clock() - self._began

    def note(self, record: RunRecord) -> None:
        self.done[record.method] += 1
        self.statuses[record.status] += 1
        self._left -= self._seconds.pop(record.key, 0.0)
        if record.key in self._row_of:
            row = self._row_of.pop(record.key)
            self._left_of_row[row] -= 1
            self.rows_complete += not self._left_of_row[row]
        line = f"{record.dataset} {record.method} trial {record.trial}: {outcome(record)}"
        if record.status in FAILURES:
            self.failures.append(line)
        elif record.status == "ok":
            self.latest.append(line)

    def seconds_left(self) -> float:
        """The estimate of what remains, corrected by how the estimate has fared so far."""
        done = self._expected - self._left
        pace = 1.0
        if done > TRUSTED_SHARE * self._expected:
            pace = self.elapsed * self._workers / done
        return max(0.0, self._left) * pace / self._workers


HEARTBEAT_SECONDS = 60.0


class PlainDisplay:
    """One line per finished job, and a sign of life while long ones run."""

    def __init__(self, progress: Progress, stream: TextIO | None = None) -> None:
        self._progress = progress
        self._names: dict[str, str] = {}
        self._stream = stream or sys.stdout
        self._last = time.monotonic()

    def started(self, job: Job) -> None:
        self._names[job.key] = str(job)

    def finished(self, record: RunRecord) -> None:
        self._progress.note(record)
        name = self._names.pop(record.key, f"{record.dataset} {record.method} trial {record.trial}")
        count = f"[{self._progress.finished}/{self._progress.jobs}]"
        self._say(f"{count} {name}: {outcome(record)}")

    def tick(self, running: Sequence[Running]) -> None:
        if time.monotonic() - self._last < HEARTBEAT_SECONDS:
            return
        for one in running:
            self._say(f"running {one.job} for {duration(one.seconds)}")
        self._say(f"about {duration(self._progress.seconds_left())} left")

    def close(self) -> None:
        self._stream.flush()

    def _say(self, text: str) -> None:
        stamp = datetime.now().strftime("%Y-%m-%d %H:%M:%S")
        print(stamp, text, file=self._stream, flush=True)
        self._last = time.monotonic()


REFRESH_SECONDS = 0.2
BAR_WIDTH = 32
RUNNING_SHOWN = 8


class LiveDisplay:
    """Redraws a panel a few times a second, however fast jobs end."""

    def __init__(self, progress: Progress, title: str, console: Console | None = None) -> None:
        self._progress = progress
        self._title = title
        self._running: Sequence[Running] = ()
        self._drawn = 0.0
        self._live = Live(self.render(), console=console or Console(), auto_refresh=False)
        self._live.start()

    def started(self, job: Job) -> None:
        """Running jobs are shown from the next tick on."""

    def finished(self, record: RunRecord) -> None:
        self._progress.note(record)

    def tick(self, running: Sequence[Running]) -> None:
        self._running = running
        if time.monotonic() - self._drawn >= REFRESH_SECONDS:
            self._draw()

    def close(self) -> None:
        self._running = ()
        self._draw()
        self._live.stop()

    def _draw(self) -> None:
        self._live.update(self.render(), refresh=True)
        self._drawn = time.monotonic()

    def render(self) -> RenderableType:
        parts: list[RenderableType] = [self._bars()]
        if self._running:
            parts += [Text(), self._jobs()]
        if self._progress.latest:
            parts += [Text(), *[Text(line, "dim") for line in self._progress.latest]]
        if self._progress.failures:
            parts += [Text(), self._failures()]
        return Panel(Group(*parts), title=self._title, title_align="left", border_style="blue")

    def _bars(self) -> Table:
        progress = self._progress
        grid = Table.grid(padding=(0, 2))
        rows = f"{progress.rows_complete} of {progress.rows} rows complete"
        note = f"{rows}, {duration(progress.elapsed)}"
        if progress.finished < progress.jobs:
            note += f", about {duration(progress.seconds_left())} left"
        grid.add_row(*_bar("all", progress.finished, progress.jobs), Text(note, "cyan"))
        for method, total in progress.total.items():
            grid.add_row(*_bar(method, progress.done[method], total), Text())
        return grid

    def _jobs(self) -> Table:
        grid = Table.grid(padding=(0, 2))
        for one in self._running[:RUNNING_SHOWN]:
            grid.add_row(Text(one.where, "dim"), str(one.job), Text(duration(one.seconds), "cyan"))
        if len(self._running) > RUNNING_SHOWN:
            grid.add_row("", f"and {len(self._running) - RUNNING_SHOWN} more", "")
        return grid

    def _failures(self) -> Group:
        statuses = {s: n for s, n in self._progress.statuses.items() if s in FAILURES}
        lines = [Text(f"Not well so far: {counts(statuses)}; the latest:", "yellow")]
        lines += [Text(f"  {text}", "yellow") for text in self._progress.failures]
        return Group(*lines)


def _bar(name: str, done: int, total: int) -> tuple[RenderableType, ...]:
    style = "bold" if name == "all" else ""
    bar = ProgressBar(
        total=max(total, 1),
        completed=done,
        width=BAR_WIDTH,
        complete_style="blue",
        finished_style="green",
    )
    return Text(name, style), bar, Text(f"{done:,}/{total:,}", style, justify="right")
