#!/usr/bin/env python
"""Take screenshots of the report and the terminal display for the READMEs.

    .venv/bin/python scripts/screenshots.py

Needs a Chromium (``apt-get install chromium``) and a report (``make report``).
The terminal picture replays committed records through the display that ``run`` shows.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "tests" / "experiments")]

if TYPE_CHECKING:
    from browser import Browser

    from experiments.core.job import Job, Running
    from experiments.core.record import RunRecord

DESKTOP, PHONE = (1280, 800), (390, 844)
SCALE = 1.5
MAIN_TABLE = "test-f1-tuned-paper"
SHOWN_DATASET, SHOWN_METHOD_COLUMN = "titanic", 2
TERMINAL_WIDTH = 104
REPLAYED_SHARE = 0.62
WORKERS = 2


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    results = REPOSITORY / "results"
    parser.add_argument(
        "--report",
        type=Path,
        default=results / "report.html",
        metavar="FILE",
        help="page to show (default: results/report.html)",
    )
    parser.add_argument(
        "--store",
        type=Path,
        default=results / "records",
        metavar="FOLDER",
        help="records to replay in the terminal (default: results/records)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=results / "figures",
        metavar="FOLDER",
        help="where to write (default: results/figures)",
    )
    parser.add_argument("--no-terminal", action="store_true", help="leave out the terminal display")
    return parser.parse_args()


@dataclass(frozen=True)
class Replay:
    """A run as its display saw it at one moment."""

    jobs: Sequence[Job]
    finished: Sequence[RunRecord]
    running: Sequence[Running]
    elapsed: float


def main() -> int:
    args = arguments()
    if not args.report.exists():
        print(f"{args.report} does not exist; write it with `make report`", file=sys.stderr)
        return 1
    for path in photograph(args.report, args.output):
        print(path)
    if not args.no_terminal:
        print(draw_terminal(args.store, args.output / "terminal.svg"))
    return 0


def photograph(report: Path, folder: Path) -> list[Path]:
    """The first screen, a table with a cell open, a dataset with its tree, and a phone."""
    from browser import Browser

    with Browser(width=DESKTOP[0], height=DESKTOP[1]) as browser:
        browser.resize(*DESKTOP, scale=SCALE)
        browser.prefer("light")
        browser.open(report.resolve().as_uri())
        pictures = [
            browser.picture(folder / "report-light.png"),
            _table(browser, folder / "report-table.png"),
        ]
        browser.prefer("dark")
        pictures.append(_dataset(browser, folder / "report-dark.png"))
        browser.prefer("light")
        browser.resize(*PHONE, scale=2, mobile=True)
        pictures.append(_phone(browser, folder / "report-phone.png"))
        return pictures


def _table(browser: Browser, path: Path) -> Path:
    browser.run("document.getElementById('filters').scrollIntoView()")
    browser.settle()
    row = f"#table-{MAIN_TABLE} tr[data-dataset={SHOWN_DATASET}]"
    cell = f"{row} td:nth-child({SHOWN_METHOD_COLUMN})"
    # Without scrolling to it: the picture is framed already.
    x, y = browser.run(
        f"(() => {{ const b = document.querySelector('{cell}').getBoundingClientRect();"
        "return [b.left + b.width / 2, b.top + b.height / 2]; })()"
    )
    browser.mouse("mouseMoved", x, y)
    browser.wait_for("!document.getElementById('popover').hidden")
    picture = browser.picture(path)
    browser.mouse("mouseMoved", 2, 2)
    return picture


def _dataset(browser: Browser, path: Path) -> Path:
    browser.run(f"location.hash = 'dataset-{SHOWN_DATASET}'")
    body = f"#dataset-{SHOWN_DATASET} .body"
    browser.wait_for(f"document.querySelector('{body}').dataset.drawn === 'yes'")
    browser.run(f"document.querySelector('{body} .trees').scrollIntoView()")
    browser.wait_for(
        f"document.querySelector('{body} .trees .empty, {body} .viewer .tools button') !== null"
    )
    return browser.picture(path)


def _phone(browser: Browser, path: Path) -> Path:
    browser.run("scrollTo(0, 0)")
    return browser.picture(path)


def draw_terminal(store: Path, path: Path) -> Path:
    """The live display at some moment of the tuned experiment, from its real records."""
    from rich.console import Console

    from experiments.core.files import write_files
    from experiments.core.store import Store
    from experiments.runner.display import LiveDisplay
    from experiments.runner.estimate import Estimator
    from experiments.runner.progress import Progress

    records = Store(store).latest()
    replay = _replay(records)
    estimator = Estimator(records.values(), 3600)
    now = [0.0]
    estimates = {job.key: estimator.estimate(job) for job in replay.jobs}
    progress = Progress(replay.jobs, estimates, WORKERS, clock=lambda: now[0])
    with Path("/dev/null").open("w") as nowhere:
        display = LiveDisplay(progress, "profile paper", Console(file=nowhere))
        for record in replay.finished:
            display.finished(record)
        now[0] = replay.elapsed
        display.tick(replay.running)
        paper = Console(
            file=nowhere,
            record=True,
            width=TERMINAL_WIDTH,
            force_terminal=True,
            color_system="truecolor",
        )
        paper.print(display.render())
        display.close()
    drawing = paper.export_svg(title="make reproduce", unique_id="terminal")
    write_files(path.parent, {path.name: _without_web_fonts(drawing)})
    return path


def _without_web_fonts(drawing: str) -> str:
    """Rich would have the viewer fetch a typeface; any monospaced one that is there will do."""
    local = re.sub(r"@font-face \{.*?\}\s*|<!--.*?-->\s*", "", drawing, flags=re.DOTALL)
    return local.replace("Fira Code", "ui-monospace, Menlo, Consolas, DejaVu Sans Mono")


def _replay(records: dict[str, RunRecord]) -> Replay:
    from experiments.core.job import Running
    from experiments.runner.profiles import Filters, profiles, select

    wanted = Filters(experiments=["tuned"], protocols=["paper"])
    jobs = [job for job in select(profiles()["paper"], wanted) if job.key in records]
    if len(jobs) <= WORKERS:
        raise SystemExit("the store has no records of the tuned experiment to replay")
    done = int(REPLAYED_SHARE * len(jobs))
    finished = [records[job.key] for job in jobs[:done]]
    running = [
        Running(job, (records[job.key].wall_seconds or 0.0) / 2, f"worker {number + 1}")
        for number, job in enumerate(jobs[done : done + WORKERS])
    ]
    elapsed = sum(record.wall_seconds or 0.0 for record in finished) / WORKERS
    return Replay(jobs, finished, running, elapsed)


if __name__ == "__main__":
    raise SystemExit(main())
