"""The picture on a terminal: bars, running jobs, failures, time left."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from experiments.display.progress import FAILURES, Progress
from experiments.display.text import counts, duration
from experiments.executors.contract import Running
from experiments.planning.jobs import Job
from experiments.records.record import RunRecord

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
