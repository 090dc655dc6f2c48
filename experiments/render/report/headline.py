"""The first screen: the answer in one line, and the few figures behind it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from experiments.analysis.model import Verdict
from experiments.render.report import view
from experiments.render.report.model import ComparedTable, ReportData
from experiments.render.report.view import Bar


@dataclass(frozen=True)
class Tile:
    label: str
    value: str
    note: str


@dataclass(frozen=True)
class Headline:
    title: str
    sentence: str
    bar: Bar
    tiles: tuple[Tile, ...]


@dataclass(frozen=True)
class MatrixRow:
    """Agreement of one table, a bar per method (``None`` where it has no such column)."""

    name: str
    title: str
    bars: tuple[Bar | None, ...]


@dataclass(frozen=True)
class Matrix:
    columns: tuple[str, ...]
    rows: tuple[MatrixRow, ...]


def printed_numbers(table: ComparedTable) -> list[Verdict]:
    """Verdicts on the cells in which the paper prints a number."""
    return [verdict for verdict in table.verdicts if verdict.paper.mean is not None]


def headline(data: ReportData) -> Headline:
    verdicts = [verdict for table in view.counted(data) for verdict in printed_numbers(table)]
    bar = view.bar(verdicts)
    return Headline(_title(bar), _sentence(bar, data), bar, tuple(_tiles(data)))


def _title(bar: Bar) -> str:
    if not bar.agree:
        return "Nothing has been measured yet"
    return f"{bar.agree:,} of the paper’s {bar.total:,} numbers reproduce"


def _sentence(bar: Bar, data: ReportData) -> str:
    counts = Counter({share.outcome: share.count for share in bar.shares})
    parts = ["Exact to the printed digit, or not significantly different."]
    if counts["better"] + counts["worse"]:
        parts.append(
            f"{counts['better'] + counts['worse']:,} differ significantly "
            f"({counts['better']:,} better, {counts['worse']:,} worse)."
        )
    if counts["missing"]:
        parts.append(f"{counts['missing']:,} have no measured counterpart.")
    rulings = Counter(claim.outcome for claim in data.claims)
    if data.claims:
        parts.append(
            f"Of the {len(data.claims)} claims checked, {rulings['holds']} hold"
            f"{'s' if rulings['holds'] == 1 else ''}, {rulings['does not hold']} do"
            f"{'es' if rulings['does not hold'] == 1 else ''} not and "
            f"{rulings['cannot be told']} cannot be told."
        )
    return " ".join(parts)


def _tiles(data: ReportData) -> list[Tile]:
    rulings = Counter(claim.outcome for claim in data.claims)
    tiles = [
        Tile(
            "Claims that hold",
            f"{rulings['holds']} of {len(data.claims)}",
            f"{rulings['does not hold']} do not, {rulings['cannot be told']} open",
        )
    ]
    tiles += [
        tile
        for tile in (
            _difference_tile(data, "gradtree"),
            _exact_tile(data, "cart"),
        )
        if tile
    ]
    tiles.append(
        Tile(
            "Spent",
            f"{data.totals.cpu_hours:,.1f} h",
            f"of processor time in {data.totals.runs:,} runs",
        )
    )
    return tiles


def _difference_tile(data: ReportData, method: str) -> Tile | None:
    table = primary(data)
    if table is None:
        return None
    gaps = [v.difference for v in table.verdicts if v.method == method and v.difference is not None]
    if not gaps:
        return None
    mean = view.signed(sum(gaps) / len(gaps), 4)
    name = data.method_names.get(method, method)
    return Tile(f"{name} against the paper", mean, f"mean F1 difference, {len(gaps)} datasets")


def _exact_tile(data: ReportData, method: str) -> Tile | None:
    verdicts = [
        verdict
        for table in view.counted(data)
        for verdict in printed_numbers(table)
        if verdict.method == method
    ]
    if not verdicts:
        return None
    exact = sum(verdict.outcome == "exact" for verdict in verdicts)
    name = data.method_names.get(method, method)
    return Tile(f"{name} exact", f"{exact} of {len(verdicts)}", "equal to the printed digit")


def primary(data: ReportData) -> ComparedTable | None:
    """The table that stands for the paper's main result: the first with verdicts."""
    return next(iter(view.judged(data)), None)


def matrix(data: ReportData) -> Matrix:
    tables = view.judged(data)
    methods = view.methods_of(tables)
    rows = []
    for table in tables:
        own = {column.method for column in table.ours.columns}
        verdicts = printed_numbers(table)
        bars = tuple(
            view.bar(v for v in verdicts if v.method == method) if method in own else None
            for method in methods
        )
        title = table.ours.title + ("" if table.counted else " (another machine)")
        rows.append(MatrixRow(table.name, title, bars))
    names = tuple(data.method_names.get(method, method) for method in methods)
    return Matrix(names, tuple(rows))
