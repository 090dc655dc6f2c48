"""Tables and grids as the texts that the page's script draws when they are unfolded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from experiments.analysis.answer import Grid, Table
from experiments.analysis.runs import Runs
from experiments.output import formats

SLUGS = ("dataset", "method", "learner")
"""Columns whose slugs are shown as names."""
WHOLE, SCALED = 0, 4
"""Digits behind the point that the trials of a cell are kept to."""


def table_data(table: Table, runs: Runs) -> dict[str, Any]:
    """A table as JSON: headers, groups, which columns are numbers, and lines of texts."""
    frame = table.frame
    named = {c: frame[c].map(runs.name) for c in frame if str(c).lower() in SLUGS}
    shown = formats.shown(_with_frame(table, frame.assign(**named)))
    return {**_heads(shown), "lines": [_texts(line.cells) for line in shown.lines]}


def _with_frame(table: Table, frame: pd.DataFrame) -> Table:
    return Table(**{**vars(table), "frame": frame})


def grid_data(grid: Grid, runs: Runs) -> dict[str, Any]:
    """A dataset x method table as JSON, with what stands behind each cell.

    ``behind`` has, beside every line, the slug of its dataset and a list per cell: the verdict, the
    paper's number, the difference from it, a note, the scores of the trials as whole numbers of
    10**-digits, and the numbers of the trials where they are not 0, 1, 2, ...
    """
    shown = formats.shown_grid(grid, runs)
    trials = runs.of(grid.protocol, grid.experiment)
    trials = trials[trials["status"] == "ok"].dropna(subset=[grid.metric])
    digits = WHOLE if (trials[grid.metric] % 1 == 0).all() else SCALED
    scores = {
        place: (part["trial"].tolist(), (part[grid.metric] * 10**digits).round().astype(int))
        for place, part in trials.groupby(["dataset", "method"], sort=False)
    }
    cells = {(c["dataset"], c["method"]): c for c in grid.frame.to_dict("records")}
    behind = []
    for dataset in _datasets(grid, len(shown.lines[0].cells) == 1, shown.lines):
        behind.append(
            dataset
            and [
                dataset,
                *(
                    _behind(cells.get((dataset, m)), grid, *scores.get((dataset, m), ([], [])))
                    for m in grid.methods
                ),
            ]
        )
    return {
        **_heads(shown),
        "lines": [_texts(line.cells) for line in shown.lines],
        "behind": behind,
        "methods": list(grid.methods),
        "experiment": grid.experiment,
        "protocol": grid.protocol,
        "digits": digits,
    }


def _datasets(grid: Grid, headed: bool, lines: Sequence[Any]) -> Iterator[str]:
    """The dataset of each line, empty for headings and summaries."""
    blocks = grid.frame.groupby("task", sort=False)["dataset"].unique()
    remaining: list[str] = [] if headed else list(blocks.iloc[0])
    following = iter(blocks)
    for line in lines:
        if len(line.cells) == 1:
            remaining = list(next(following))
            yield ""
        else:
            yield remaining.pop(0) if remaining else ""


def _behind(
    cell: dict[str, Any] | None, grid: Grid, trials: Sequence[int], scores: Sequence[int]
) -> list[Any]:
    if cell is None:
        return []
    paper = difference = note = ""
    if not formats.missing(cell.get("paper_mean")):
        paper = formats.fixed(cell["paper_mean"], grid.decimals)
        if not formats.missing(cell["paper_std"]):
            paper += f" ± {formats.deviation(cell['paper_std'], grid.std_decimals)}"
        if not formats.missing(cell["mean"]):
            difference = formats.change(cell["mean"] - cell["paper_mean"], grid.decimals)
    else:
        paper = formats.show(cell.get("paper_missing"))
    refitted: Any = cell.get("refitted_trials")
    if not formats.missing(refitted) and cell["stable_trials"] < refitted:
        changed = f"{refitted - cell['stable_trials']:.0f} of {refitted:.0f} trials"
        note = f"† A rounding error in the training rows changes {changed}."
    verdict = formats.show(cell.get("verdict"))
    counted = list(trials) == list(range(len(trials)))
    found = [verdict, paper, difference, note, list(map(int, scores)), [] if counted else trials]
    while found and not found[-1]:
        found.pop()
    return found


def _heads(shown: formats.Shown) -> dict[str, Any]:
    grouped = any(shown.groups)
    return {
        "headers": list(shown.headers),
        "groups": shown.spans(range(len(shown.headers))) if grouped else [],
        "numeric": [int(numeric) for numeric in shown.numeric],
    }


def _texts(cells: Sequence[formats.Text]) -> list[Any]:
    """Each cell its text; a bold or marked one a list of text, bold and mark."""
    return [
        [cell.text, int(cell.bold), cell.mark] if cell.bold or cell.mark else cell.text
        for cell in cells
    ]
