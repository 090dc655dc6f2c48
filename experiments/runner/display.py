"""What people see of a run: lines for logs and pipes, a picture on a terminal, and tables and
report that are brought up to date whenever rows of them complete.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from experiments.core.job import Job, Running
from experiments.core.record import RunRecord
from experiments.core.text import counts, duration, outcome, say
from experiments.runner.executors.process import worker_environment
from experiments.runner.progress import FAILURES, Progress, RowsLeft

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
        rows = f"{progress.rows.complete} of {progress.rows.total} rows complete"
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
        lines = [Text(f"Failed so far: {counts(statuses)}; the latest:", "yellow")]
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


PAUSE_SECONDS = 30.0


class Refresher:
    """A listener that runs verbs such as ``tables`` in the background as rows complete.

    One after the other beside the jobs, never two at a time and not more often
    than every ``PAUSE_SECONDS``, so the run is hardly slowed; and never beside a
    job that is measured alone.

    Parameters
    ----------
    verbs : of ``python -m experiments``; each is given ``--store`` and ``--output``.
    jobs : what the run has to do.
    store : folder of the records; results go to folders named after the verbs in it.
    options : given to every verb as well.
    """

    def __init__(
        self, verbs: Sequence[str], jobs: Sequence[Job], store: Path, options: Sequence[str] = ()
    ) -> None:
        self._verbs = list(verbs)
        self._store = store
        self._options = list(options)
        self._rows = RowsLeft(jobs)
        self._stale = False
        self._to_run: list[str] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._began = -PAUSE_SECONDS

    def started(self, job: Job) -> None:
        """A job that is measured alone must not be disturbed."""
        if job.measured == "alone" and self._busy():
            self.close()
            self._stale = True

    def finished(self, record: RunRecord) -> None:
        self._stale |= self._rows.completed_by(record)

    def tick(self, running: Sequence[Running]) -> None:
        if self._busy() or any(one.job.measured == "alone" for one in running):
            return
        if not self._to_run and self._stale and time.monotonic() > self._began + PAUSE_SECONDS:
            self._to_run, self._stale, self._began = list(self._verbs), False, time.monotonic()
        if self._to_run:
            self._process = subprocess.Popen(
                self._command(self._to_run.pop(0)),
                env=worker_environment(threads=1),
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
        place = ["--store", str(self._store), "--output", str(self._store / verb)]
        return [sys.executable, "-m", "experiments", verb, *place, *self._options]
