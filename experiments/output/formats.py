"""How numbers are shown: LaTeX, Markdown, HTML and sentences ask here. CSV keeps every digit."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pandas as pd

from experiments.analysis.answer import Format, Grid, Table
from experiments.analysis.printed import TASK_NAMES as TASKS
from experiments.analysis.runs import Runs

GAP = "–"
SMALLEST_P = 0.0001
PLAIN = Format()
NOISE = 1e-12
"""Differences below this are rounding errors."""
STATISTICS = {"MRR": "Mean Reciprocal Rank (MRR)", "MRD": "Mean Relative Difference (MRD)"}
SPREAD, LOW, HIGH = " spread", ": low", ": high"


def number(value: float, decimals: int = 3) -> str:
    """A number with thousands separators; one that rounds to zero keeps a digit if it is near."""
    if not math.isfinite(value):
        return "not a number"
    value = 0.0 if abs(value) < NOISE else value
    for digits in range(decimals, decimals + 3):
        text = f"{value:,.{digits}f}"
        if not value or text.strip("-0.,"):
            return text
    return f"{value:,.{decimals}f}".removeprefix("-")


def change(value: float, decimals: int = 3) -> str:
    """A difference with its sign, kept where it rounds to zero."""
    text = number(value, decimals)
    if not math.isfinite(value) or abs(value) < NOISE:
        return text
    return f"{'-' if value < 0 else '+'}{text.removeprefix('-')}"


def missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def show(value: Any, how: Format = PLAIN) -> str:
    """A field of a table as text; empty for a gap. A p-value is never zero."""
    if missing(value):
        return ""
    if isinstance(value, str):
        return value
    if how.kind == "p" and math.isfinite(value):
        small = f"<{SMALLEST_P}" if value < SMALLEST_P else f"{value:.4f}"
        return small if value < 0.01 else f"{value:.3f}"
    if how.kind == "change":
        return change(float(value), how.decimals)
    counts = how.kind in ("count", "text") or not isinstance(value, float)
    if counts and value == int(value):
        return f"{int(value):,}"
    return number(float(value), how.decimals)


@dataclass(frozen=True)
class Text:
    """A cell as it is shown; ``mark`` stands behind it as an exponent."""

    text: str
    bold: bool = False
    mark: str = ""


@dataclass(frozen=True)
class Line:
    """A row of a shown table; a line of one cell is a heading over all columns."""

    cells: tuple[Text, ...]
    rule_above: bool = False
    dataset: str = ""


@dataclass(frozen=True)
class Shown:
    """A table as texts: what LaTeX, Markdown and HTML have in common."""

    headers: tuple[str, ...]
    groups: tuple[str, ...]
    numeric: tuple[bool, ...]
    lines: tuple[Line, ...]

    def spans(self, columns: Iterable[int]) -> list[tuple[str, int]]:
        """Neighbouring columns of one group: (heading, how many)."""
        return [(name, len(list(some))) for name, some in groupby(self.groups[c] for c in columns)]


def caption(table: Table | Grid) -> str:
    """The caption, and the protocol of whose runs the table is."""
    under = f" (protocol {table.protocol})" if table.protocol else ""
    return f"{table.caption.rstrip('.')}{under}."


def shown(table: Table) -> Shown:
    """A table with its numbers as texts and the best ones in bold. ``X spread`` is shown behind ±
    in column ``X``; ``X: low`` and ``X: high`` become one column of intervals.
    """
    frame, names = table.frame, [str(name) for name in table.frame]
    inside = {f"{name}{SPREAD}" for name in names}
    inside |= {f"{name.removesuffix(LOW)}{HIGH}" for name in names if name.endswith(LOW)}
    names = [name for name in names if name not in inside]
    formats = [table.formats.get(name, PLAIN) for name in names]
    values = [_values(frame[name]) for name in names]
    best = _best(table, formats, values)
    columns, headers, groups = [], [], []
    for at, (name, how) in enumerate(zip(names, formats, strict=True)):
        texts = [show(value, how) for value in frame[name].astype(object)]
        group = name.rpartition(": ")[0]
        high = frame.get(f"{name.removesuffix(LOW)}{HIGH}") if name.endswith(LOW) else None
        for other, pattern in ((frame.get(f"{name}{SPREAD}"), "{} ± {}"), (high, "[{},\u00a0{}]")):
            if other is not None:
                beside = [show(value, how) for value in other.astype(object)]
                pairs = zip(texts, beside, strict=True)
                texts = [pattern.format(a, b) if a and b else a for a, b in pairs]
        columns.append([Text(t or GAP, (row, at) in best) for row, t in enumerate(texts)])
        header = name.removeprefix(f"{group}: ")
        if high is not None and sum(other.startswith(f"{group}: ") for other in names) == 1:
            group, _, header = group.rpartition(": ")
        headers.append("95 % interval" if header == LOW[2:] else header)
        groups.append(group)
    numeric = [how.kind != "text" and bool(v) for how, v in zip(formats, values, strict=True)]
    lines = [Line(cells) for cells in zip(*columns, strict=True)]
    return Shown(tuple(headers), tuple(groups), tuple(numeric), tuple(lines))


def _values(column: pd.Series) -> dict[int, float]:
    """The numbers of a column by row."""
    return {
        row: float(value)
        for row, value in enumerate(column.astype(object))
        if not missing(value) and not isinstance(value, str | bool)
    }


def _best(
    table: Table, formats: list[Format], values: list[dict[int, float]]
) -> set[tuple[int, int]]:
    """(row, column) of the numbers in bold: the best of a column (``Format.best``), or of a row
    among these columns, or else among all numbers that are no counts.
    """
    named = [at for at, how in enumerate(formats) if how.best]
    lines = [(formats[at].best, {(row, at): v for row, v in values[at].items()}) for at in named]
    if by_row := table.best_in_row:
        usual = [at for at, how in enumerate(formats) if at and how.kind in ("number", "change")]
        rivals, rows = [(at, values[at]) for at in named or usual], range(len(table.frame))
        lines = [(by_row, {(r, at): own[r] for at, own in rivals if r in own}) for r in rows]
    found = set()
    for direction, line in lines:
        top = (max if direction == "max" else min)(line.values(), default=None)
        found |= {place for place, value in line.items() if value == top}
    return found


def shown_grid(grid: Grid, names: Runs, task: str = "") -> Shown:
    """A table as the paper prints it: mean ± deviation (rank), the best bold, and summary lines."""
    cells, summary = _lines(grid.frame, "dataset"), _lines(grid.summary, "statistic")
    tasks = [each for each in grid.frame["task"].unique() if task in ("", each)]
    lines: list[Line] = []
    for each in tasks:
        if len(tasks) > 1:
            lines.append(Line((Text(TASKS.get(each, each)),), rule_above=bool(lines)))
        for dataset, row in cells[each].items():
            texts = [_cell(row[method], grid) for method in grid.methods]
            lines.append(Line((Text(names.name(dataset)), *texts), dataset=dataset))
        printed = {name: row for name, row in summary[each].items() if name in grid.printed}
        for at, (statistic, row) in enumerate(printed.items()):
            smaller = statistic == "MRD" or (statistic == "Mean" and grid.smaller_is_better)
            label = f"{STATISTICS.get(statistic, statistic)} {'↓' if smaller else '↑'}"
            texts = [statistic_text(row[method], grid) for method in grid.methods]
            lines.append(Line((Text(label), *texts), rule_above=at == 0))
    headers = [grid.names.get(m) or names.name(m) for m in grid.methods]
    groups = [str(names.learners.get(m, {}).get("group") or "") for m in grid.methods]
    if len(set(groups)) == 1 or any(m in grid.names for m in grid.methods):
        groups = [""] * len(groups)
    numeric = (False, *(True for _ in headers))
    return Shown(("Dataset", *headers), ("", *groups), numeric, tuple(lines))


def _lines(frame: pd.DataFrame, by: str) -> dict[str, dict[str, dict[str, dict[str, Any]]]]:
    """Lines of a frame by task, dataset or statistic, and method."""
    found: dict[str, Any] = defaultdict(lambda: defaultdict(dict))
    for line in frame.to_dict("records"):
        found[line["task"]][line[by]][line["method"]] = line
    return found


def _cell(cell: Mapping[str, Any], grid: Grid) -> Text:
    if missing(cell["mean"]) or show(cell["missing"]):  # a reason, or ours where the paper has none
        return Text(show(cell["missing"]) or GAP)
    mark = str(int(cell["n"])) if cell["n"] < cell["expected"] else ""
    text = spread(cell["mean"], cell["std"], grid.decimals, grid.std_decimals)
    return _ranked(text, cell["rank"], mark + ("†" if unstable(cell) else ""))


def _ranked(text: str, rank: Any, mark: str = "") -> Text:
    """A text with its rank, the first in bold."""
    ranked = not missing(rank)
    return Text(f"{text} ({int(rank)})" if ranked else text, ranked and rank == 1, mark)


def unstable(cell: Mapping[str, Any]) -> float:
    """How many trials of a cell a rounding error in the training rows changes."""
    refitted = cell.get("refitted_trials")
    return 0 if missing(refitted) else refitted - cell["stable_trials"]


def spread(mean: float, std: float, decimals: int, std_decimals: int) -> str:
    """Mean ± deviation, where there is one; deviations of F1 without the zero before the point."""
    text, deviation = f"{mean:,.{decimals}f}", "" if missing(std) else f"{std:,.{std_decimals}f}"
    deviation = deviation.removeprefix("0") if std_decimals == 3 else deviation
    return f"{text} ± {deviation}" if deviation else text


def statistic_text(values: Mapping[Any, Any], grid: Grid) -> Text:
    """A summary value with its spread and rank."""
    if missing(values["value"]):
        return Text(GAP)
    decimals = {"Mean": grid.summary_decimals, "Wins": 0}.get(values["statistic"], 3)
    return _ranked(spread(values["value"], values["spread"], decimals, decimals), values["rank"])
