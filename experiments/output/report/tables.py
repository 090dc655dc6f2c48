"""Tables and grids as the texts that the page's script draws when they are unfolded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

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
    shown = formats.shown(replace(table, frame=frame.assign(**named)))
    return {**_heads(shown), "lines": [_texts(line.cells) for line in shown.lines]}


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
    numbers = trials["trial"].to_numpy()
    whole = (trials[grid.metric].to_numpy(float) * 10**digits).round().astype(int)
    places = trials.groupby(["dataset", "method"], sort=False).indices.items()
    scores = {place: (numbers[at].tolist(), whole[at].tolist()) for place, at in places}
    cells = {(c["dataset"], c["method"]): c for c in grid.frame.to_dict("records")}
    behind: list[Any] = []
    for dataset in _datasets(grid, shown.lines):
        own = [(dataset, method) for method in grid.methods if dataset]
        line = [_behind(cells.get(at), grid, *scores.get(at, ([], []))) for at in own]
        behind.append([dataset, *line] if dataset else "")
    return {
        **_heads(shown),
        "lines": [_texts(line.cells) for line in shown.lines],
        "behind": behind,
        "methods": list(grid.methods),
        "experiment": grid.experiment,
        "protocol": grid.protocol,
        "digits": digits,
    }


def _datasets(grid: Grid, lines: Sequence[formats.Line]) -> Iterator[str]:
    """The dataset of each line, empty for headings (where there are two tasks) and summaries."""
    blocks = [list(each) for each in grid.frame.groupby("task", sort=False)["dataset"].unique()]
    remaining = blocks.pop() if len(blocks) == 1 else []
    for line in lines:
        if len(line.cells) == 1:
            remaining = blocks.pop(0)
            yield ""
        else:
            yield remaining.pop(0) if remaining else ""


def _behind(
    cell: dict[str, Any] | None, grid: Grid, trials: list[int], scores: list[int]
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
    counted = trials == list(range(len(trials)))
    found = [verdict, paper, difference, note, scores, [] if counted else trials]
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
