"""The first screen: the answer in one line, and the few figures behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from experiments.analysis.judging import Agreement, agreements, published_run
from experiments.analysis.model import Verdict
from experiments.analysis.paper import grids
from experiments.analysis.verifying import Tally, tally
from experiments.render import numbers, wording
from experiments.render.report import view
from experiments.render.report.model import ComparedTable, ReportData
from experiments.render.report.view import Bar
from experiments.render.wording import counted_claims


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
    """Agreement of one table, per method a bar and the test over datasets beside it.

    ``None`` and an empty text where the table has no such column.
    """

    name: str
    title: str
    bars: tuple[Bar | None, ...]
    pooled: tuple[str, ...]


@dataclass(frozen=True)
class Matrix:
    columns: tuple[str, ...]
    rows: tuple[MatrixRow, ...]


def printed_numbers(table: ComparedTable) -> list[Verdict]:
    """Verdicts on the cells in which the paper prints a number."""
    return [verdict for verdict in table.verdicts if verdict.paper.mean is not None]


def headline(data: ReportData) -> Headline:
    verdicts = [verdict for table in view.counted(data) for verdict in printed_numbers(table)]
    found = tally(verdicts)
    return Headline(
        wording.title(found),
        " ".join(_sentences(found, data)),
        view.bar(verdicts if found.claims else ()),
        tuple(_tiles(data, found)),
    )


def _sentences(found: Tally, data: ReportData) -> Iterator[str]:
    yield wording.sentence(found)
    if data.repeats is not None and data.repeats.compared:
        yield f"{data.repeats.sentence}."
    if data.claims and found.claims:
        rulings = Counter(claim.outcome for claim in data.claims)
        yield f"Of the {len(data.claims)} claims checked, {counted_claims(rulings)}."


def _tiles(data: ReportData, found: Tally) -> list[Tile]:
    tiles = []
    if data.repeats is not None and data.repeats.compared:
        equal = f"{data.repeats.equal:,} of {data.repeats.compared:,}"
        tiles.append(Tile("Fits equal to the committed ones", equal, "to the last digit"))
    if found.claims:
        rulings = Counter(claim.outcome for claim in data.claims)
        tiles.append(
            Tile(
                "Claims that hold",
                f"{rulings['holds']} of {len(data.claims)}",
                f"{rulings['does not hold']} do not, {rulings['cannot be told']} open",
            )
        )
        more = (_difference_tile(data, "gradtree"), _exact_tile(data, "cart"))
        tiles += [tile for tile in more if tile]
    tiles.append(
        Tile(
            "Compute",
            f"{data.totals.cpu_hours:,.1f} h",
            f"of processor time for {data.totals.made:,} of {data.totals.planned:,} planned jobs",
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
    return Tile(f"{name} exact", f"{exact} of {len(verdicts)}", "equal to the printed digits")


def primary(data: ReportData) -> ComparedTable | None:
    """The table that stands for the paper's main result: the first with verdicts."""
    return next(iter(view.judged(data)), None)


def matrix(data: ReportData) -> Matrix:
    tables = view.judged(data)
    methods = view.methods_of(tables)
    compared = agreements([verdict for table in tables for verdict in table.verdicts])
    by_place = {(each.table, each.method): each for each in compared}
    rows = []
    for table in tables:
        own = {column.method for column in table.ours.columns}
        verdicts = printed_numbers(table)
        bars = tuple(
            view.bar(v for v in verdicts if v.method == method) if method in own else None
            for method in methods
        )
        pooled = tuple(
            _pooled(by_place.get((table.ours.name, method)), compared) for method in methods
        )
        title = table.ours.title + ("" if table.counted else " (another machine)")
        rows.append(MatrixRow(table.name, title, bars, pooled))
    names = tuple(data.method_names.get(method, method) for method in methods)
    return Matrix(names, tuple(rows))


def _pooled(agreement: Agreement | None, compared: Sequence[Agreement]) -> str:
    """The mean difference with its test, also beside the table of the published run."""
    if agreement is None or agreement.few_trials:
        return ""
    text = _difference(agreement)
    published = published_run(agreement, compared)
    if published is not None and _difference(published):
        text += f"; against the paper’s ablation table {_difference(published)}"
    return text


def _difference(agreement: Agreement) -> str:
    if agreement.mean_difference is None or agreement.counts["exact"] == agreement.total:
        return ""
    digits = grids()[agreement.table].decimals + 1
    difference = numbers.signed(agreement.mean_difference, digits)
    return f"{difference}, {numbers.p_phrase(agreement.p_value or 0.0)}"
