#!/usr/bin/env python
"""Save what a run looks like on a terminal as an SVG for the README.

    .venv/bin/python scripts/picture_of_run.py results/figures/run.svg

Runs real jobs on a few small datasets into a temporary store and keeps the
picture of the moment at which a given share of them is done.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY))

from rich.console import Console  # noqa: E402 - the suite runs from its checkout

from experiments.catalogue import jobs_of  # noqa: E402
from experiments.display.live import LiveDisplay  # noqa: E402
from experiments.display.progress import Progress  # noqa: E402
from experiments.executors.contract import Limits, Running  # noqa: E402
from experiments.executors.pool import ProcessExecutor  # noqa: E402
from experiments.jobs import Job  # noqa: E402
from experiments.planning import make_plan  # noqa: E402
from experiments.queue import Queue  # noqa: E402
from experiments.record import RunRecord  # noqa: E402
from experiments.session import run_session  # noqa: E402
from experiments.store import Store  # noqa: E402

WIDTH = 104
WORKERS = 2


class Photographer:
    """A listener that keeps the picture of one moment."""

    def __init__(self, progress: Progress, title: str, share: float) -> None:
        self._console = Console(file=io.StringIO(), width=WIDTH, record=True)
        quiet = Console(file=io.StringIO(), width=WIDTH)
        self._display = LiveDisplay(progress, title, quiet)
        self._progress = progress
        self._title = title
        self._share = share
        self.svg = ""

    def started(self, job: Job) -> None:
        self._display.started(job)

    def finished(self, record: RunRecord) -> None:
        self._display.finished(record)

    def tick(self, running: Sequence[Running]) -> None:
        self._display.tick(running)
        if (
            not self.svg
            and running
            and self._progress.finished >= self._share * self._progress.jobs
        ):
            self._console.print(self._display.render())
            self.svg = self._console.export_svg(title="make reproduce")

    def close(self) -> None:
        self._display.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path, help="where to write the SVG")
    parser.add_argument("--share", type=float, default=0.55, help="of the jobs that are done")
    parser.add_argument(
        "--dataset", default="iris,echocardiogram,wine,hepatitis", help="slugs, by comma"
    )
    args = parser.parse_args()
    jobs = jobs_of("tuned", "paper", args.dataset.split(","))
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        plan = make_plan(jobs, store, Limits(), WORKERS)
        progress = Progress(plan.pending, plan.estimates, WORKERS)
        photographer = Photographer(progress, "profile paper → .runs", args.share)
        executor = ProcessExecutor(WORKERS, Limits())
        queue = Queue(plan.pending, harmless=plan.harmless())
        run_session(queue, store, executor, [photographer])
    # Fonts of the reader's system instead of ones fetched from the network.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", photographer.svg, flags=re.DOTALL)
    args.file.parent.mkdir(parents=True, exist_ok=True)
    args.file.write_text(svg, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
