"""How numbers are shown: LaTeX, Markdown, HTML and sentences all ask here.

Each format adds its own marks (bold, escapes), none decides on digits. CSV keeps every digit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pandas as pd

from experiments.analysis.answer import Format, Grid, Table
from experiments.analysis.runs import Runs

GAP = "–"
SMALLEST_P = 0.0001
PLAIN = Format()
NUMBER = re.compile(r"[-+<]?[\d.,]+")
NOISE = 1e-12
"""Differences below this are rounding errors."""
TASKS = {"binary": "Binary", "multi": "Multi-class"}
STATISTICS = {
    "MRR": "Mean Reciprocal Rank (MRR)",
    "MRD": "Mean Relative Difference (MRD)",
    "Mean": "Mean",
    "Wins": "Wins",
}
SPREAD, LOW, HIGH = " spread", ": low", ": high"


def number(value: float, decimals: int = 3) -> str:
    """A number with thousands separators; one that rounds to zero keeps a digit if it is near."""
    if not math.isfinite(value):
        return "not a number"
    if abs(value) < NOISE:
        value = 0.0
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


def p_value(value: float) -> str:
    """A p-value: never zero."""
    if not math.isfinite(value):
        return "not a number"
    if value < SMALLEST_P:
        return f"<{SMALLEST_P}"
    return f"{value:.4f}" if value < 0.01 else f"{value:.3f}"


def missing(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def show(value: Any, how: Format = PLAIN) -> str:
    """A field of a table as text; empty for a gap."""
    if missing(value):
        return ""
    if isinstance(value, str):
        return value
    if value is True or value is False:
        return "yes" if value else "no"
    if how.kind == "p":
        return p_value(float(value))
    if how.kind == "change":
        return change(float(value), how.decimals)
    if how.kind == "count" or how.kind == "text" or not isinstance(value, float):
        return f"{int(value):,}" if value == int(value) else number(float(value), how.decimals)
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


def shown(table: Table) -> Shown:
    """A table with its numbers as texts and the best ones in bold.

    A column ``X spread`` is shown behind ± in column ``X``; ``X: low`` and ``X: high`` become one
    column of intervals.
    """
    frame = table.frame
    names = [str(name) for name in frame]
    inside = {f"{name}{SPREAD}" for name in names} | {
        f"{name.removesuffix(LOW)}{HIGH}" for name in names if name.endswith(LOW)
    }
    names = [name for name in names if name not in inside]
    formats = {name: table.formats.get(name, PLAIN) for name in names}
    best = _best(table, names, formats)
    columns, headers, groups = [], [], []
    for at, name in enumerate(names):
        how = formats[name]
        texts = [show(value, how) for value in frame[name].astype(object)]
        group = how.group or name.rpartition(": ")[0]
        spread, high = frame.get(f"{name}{SPREAD}"), None
        if name.endswith(LOW):
            high = frame.get(f"{name.removesuffix(LOW)}{HIGH}")
        for other, pattern in ((spread, "{} ± {}"), (high, "[{},\u00a0{}]")):
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
    return Shown(
        headers=tuple(headers),
        groups=tuple(groups),
        numeric=tuple(
            formats[name].kind != "text" and bool(_values(frame[name])) for name in names
        ),
        lines=tuple(Line(cells) for cells in zip(*columns, strict=True)),
    )


def _numeric(column: pd.Series[Any]) -> bool:
    """Whether a column holds numbers, or texts that all read like one."""
    texts = [value for value in column.astype(object) if isinstance(value, str) and value]
    return all(map(NUMBER.fullmatch, texts)) if texts else bool(_values(column))


def _values(column: pd.Series[Any]) -> dict[int, float]:
    """The numbers of a column by row."""
    return {
        row: float(value)
        for row, value in enumerate(column.astype(object))
        if not missing(value) and not isinstance(value, str | bool)
    }


def _best(
    table: Table, names: Sequence[str], formats: Mapping[str, Format]
) -> set[tuple[int, int]]:
    """(row, column) of the numbers in bold.

    Where the best of a row is asked for and some columns name it as theirs (``Format.best``),
    only those compete; else all numbers that are no counts.
    """
    values = {at: _values(table.frame[name]) for at, name in enumerate(names)}
    direction = {"max": max, "min": min}
    found = set()
    if not table.best_in_row:
        for at, name in enumerate(names):
            if formats[name].best and values[at]:
                top = direction[formats[name].best](values[at].values())
                found |= {(row, at) for row, value in values[at].items() if value == top}
        return found
    rivals = [at for at, name in enumerate(names) if formats[name].best] or [
        at for at, name in enumerate(names) if at and formats[name].kind in ("number", "change")
    ]
    for row in range(len(table.frame)):
        line = {at: values[at][row] for at in rivals if row in values[at]}
        if line:
            top = direction[table.best_in_row](line.values())
            found |= {(row, at) for at, value in line.items() if value == top}
    return found


def shown_grid(grid: Grid, names: Runs, task: str = "") -> Shown:
    """A dataset x method table as the paper prints it: mean ± deviation (rank), the best bold."""
    blocks: dict[str, dict[str, dict[str, Any]]] = {}
    for cell in grid.frame.to_dict("records"):
        if task in ("", cell["task"]):
            rows = blocks.setdefault(cell["task"], {})
            rows.setdefault(cell["dataset"], {})[cell["method"]] = cell
    lines: list[Line] = []
    for each, rows in blocks.items():
        if len(blocks) > 1:
            lines.append(Line((Text(TASKS.get(each, each)),), rule_above=bool(lines)))
        for dataset, row in rows.items():
            shown_cells = [_cell(row.get(method), grid) for method in grid.methods]
            lines.append(Line((Text(names.name(dataset)), *shown_cells)))
        lines += _summary(grid, each)
    facts = [names.learners.get(method, {}) for method in grid.methods]
    headers = [grid.names.get(m) or names.name(m) for m in grid.methods]
    groups = [str(fact.get("group") or "") for fact in facts]
    if len(set(groups)) == 1 or any(m in grid.names for m in grid.methods):
        groups = [""] * len(groups)
    return Shown(
        headers=("Dataset", *headers),
        groups=("", *groups),
        numeric=(False, *(True for _ in headers)),
        lines=tuple(lines),
    )


def _cell(cell: Mapping[str, Any] | None, grid: Grid) -> Text:
    if cell is None:
        return Text(GAP)
    if missing(cell["mean"]) or show(cell["missing"]):  # a reason, or ours where the paper has none
        return Text(show(cell["missing"]) or GAP)
    ranked = not missing(cell["rank"])
    text = fixed(cell["mean"], grid.decimals)
    if not missing(cell["std"]):
        text += f" ± {deviation(cell['std'], grid.std_decimals)}"
    if ranked:
        text += f" ({int(cell['rank'])})"
    mark = str(int(cell["n"])) if cell["n"] < cell["expected"] else ""
    refitted = cell.get("refitted_trials")
    if not missing(refitted) and cell["stable_trials"] < refitted:
        mark += "†"
    return Text(text, bold=ranked and cell["rank"] == 1, mark=mark)


def fixed(value: float, decimals: int) -> str:
    """A number as the paper rounds it."""
    return f"{value:,.{decimals}f}"


def deviation(value: float, decimals: int) -> str:
    """A deviation of F1 as the paper prints it: without the zero before the point."""
    text = fixed(value, decimals)
    return text.removeprefix("0") if decimals == 3 else text


def _summary(grid: Grid, task: str) -> list[Line]:
    """The lines below a block: those that the paper prints."""
    lines: list[Line] = []
    by_statistic: dict[str, dict[str, Any]] = {}
    for value in grid.summary.to_dict("records"):
        if value["task"] == task and value["statistic"] in grid.printed:
            by_statistic.setdefault(value["statistic"], {})[value["method"]] = value
    for statistic, values in by_statistic.items():
        smaller = statistic == "MRD" or (statistic == "Mean" and grid.smaller_is_better)
        label = f"{STATISTICS.get(statistic, statistic)} {'↓' if smaller else '↑'}"
        cells = [statistic_text(values.get(method), grid) for method in grid.methods]
        lines.append(Line((Text(label), *cells), rule_above=not lines))
    return lines


def statistic_text(values: Mapping[Any, Any] | None, grid: Grid) -> Text:
    """A summary value with its spread and rank."""
    if values is None or missing(values["value"]):
        return Text(GAP)
    decimals = {"Mean": grid.summary_decimals, "Wins": 0}.get(values["statistic"], 3)
    text = fixed(values["value"], decimals)
    if not missing(values["spread"]):
        text += f" ± {deviation(values['spread'], decimals)}"
    ranked = not missing(values["rank"])
    return Text(f"{text} ({values['rank']})" if ranked else text, ranked and values["rank"] == 1)
