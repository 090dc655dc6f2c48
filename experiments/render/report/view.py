"""From measured tables to what the page prints: texts, classes and counts, nothing else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from experiments.analysis.model import (
    OUTCOMES,
    TASK_NAMES,
    Cell,
    Entry,
    Outcome,
    Row,
    Sheet,
    SheetColumn,
    Statistic,
    Summary,
    Table,
    Verdict,
)
from experiments.render import numbers
from experiments.render.report.model import ComparedTable, ReportData

GLYPHS: dict[Outcome, str] = {
    "exact": "=",
    "equivalent": "≈",
    "undecided": "?",
    "better": "▲",
    "worse": "▼",
    "missing": "–",
}
GAP = "·"
FRAGILE = "†"


@dataclass(frozen=True)
class CellView:
    """One cell three ways (ours, the paper's, the difference) and its colour."""

    outcome: str
    best: bool
    ours: str
    spread: str
    rank: str
    note: str
    paper: str
    paper_spread: str
    difference: str


@dataclass(frozen=True)
class RowView:
    dataset: str
    name: str
    cells: tuple[CellView, ...]


@dataclass(frozen=True)
class SummaryView:
    name: str
    texts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class BlockView:
    task: str
    title: str
    rows: tuple[RowView, ...]
    summaries: tuple[SummaryView, ...]


@dataclass(frozen=True)
class Share:
    """A slice of a stacked bar."""

    outcome: str
    count: int
    percent: str


@dataclass(frozen=True)
class Bar:
    """Verdicts of some cells, counted; ``agree`` are those shown to agree."""

    shares: tuple[Share, ...]
    total: int
    agree: int

    @property
    def label(self) -> str:
        return ", ".join(f"{share.count} {share.outcome}" for share in self.shares) or "no cells"


def number(value: float | None, decimals: int) -> str:
    return GAP if value is None else numbers.fixed(value, decimals, grouped=True)


def signed(value: float | None, decimals: int) -> str:
    return GAP if value is None else numbers.signed(value, decimals, grouped=True)


def table_blocks(compared: ComparedTable) -> tuple[BlockView, ...]:
    table = compared.ours
    return tuple(
        BlockView(
            block.task,
            TASK_NAMES[block.task],
            tuple(_row(compared, row) for row in block.rows),
            tuple(_summary(line) for line in block.summaries),
        )
        for block in table.blocks
    )


def _row(compared: ComparedTable, row: Row) -> RowView:
    table = compared.ours
    cells = tuple(
        _cell(table, cell, rank, compared.verdict(row.dataset, column.method))
        for column, cell, rank in zip(table.columns, row.cells, row.ranks, strict=True)
    )
    return RowView(row.dataset, row.name, cells)


def _cell(table: Table, cell: Cell, rank: int | None, verdict: Verdict | None) -> CellView:
    printed = verdict.paper if verdict else Cell()
    return CellView(
        outcome=_outcome(cell, verdict),
        best=rank == 1,
        ours=_value(cell, table.decimals),
        spread=_spread(cell, table.std_decimals),
        rank="" if rank is None else str(rank),
        note=(f"{cell.n}/{cell.expected}" if cell.partial else "") + (FRAGILE * cell.fragile),
        paper=_value(printed, table.decimals),
        paper_spread=_spread(printed, table.std_decimals),
        difference=signed(verdict.difference if verdict else None, table.decimals),
    )


def _outcome(cell: Cell, verdict: Verdict | None) -> str:
    if cell.pending:
        return "pending"
    if verdict is None:
        return "unjudged"
    # Where the paper has no number and neither have we, there is nothing to colour.
    void = verdict.outcome == "exact" and verdict.paper.mean is None
    return "void" if void else verdict.outcome


def _value(cell: Cell, decimals: int) -> str:
    return cell.missing or number(cell.mean, decimals)


def _spread(cell: Cell, decimals: int) -> str:
    return "" if cell.mean is None or cell.std is None else number(cell.std, decimals)


def _summary(line: Summary) -> SummaryView:
    return SummaryView(line.name, tuple(statistic(s, line.decimals) for s in line.statistics))


def statistic(value: Statistic, decimals: int) -> tuple[str, str]:
    """A summary figure and its spread, the latter empty where there is none."""
    text, spread = numbers.statistic(value, decimals, grouped=True)
    return text or GAP, spread


def entry(value: Entry, column: SheetColumn) -> tuple[str, str]:
    """A field of a sheet as text, with the spread of a statistic beside it."""
    text, spread = numbers.entry(value, column, grouped=True)
    return _unbroken(text) or GAP, spread


def _unbroken(text: str) -> str:
    """Keep intervals, counts such as 3-0-9 and p-values of a narrow column in one piece."""
    text = re.sub(r"(?<=\d)-(?=\d)", "\N{NON-BREAKING HYPHEN}", text)
    return re.sub(
        r"\[[^][]*\]|\bp [=<] \S+", lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), text
    )


def sort_value(value: Entry) -> str:
    """What a column of a sheet is sorted by."""
    bare = _bare(value)
    return "" if bare is None else str(bare)


def best_fields(sheet: Sheet) -> set[tuple[int, int]]:
    """Places (row, column) of the numbers set in bold: best of their row, or of their column."""
    lines: list[tuple[str, list[tuple[int, int]]]] = [
        (sheet.best_in_row, [(at, column) for column in range(1, len(sheet.columns))])
        for at in range(len(sheet.rows))
    ]
    lines += [
        (column.best, [(row, at) for row in range(len(sheet.rows))])
        for at, column in enumerate(sheet.columns)
    ]
    found: set[tuple[int, int]] = set()
    for direction, places in lines:
        numbers = {
            place: value
            for place in places
            if direction and isinstance(value := _bare(sheet.rows[place[0]][place[1]]), int | float)
        }
        if numbers:
            best = max(numbers.values()) if direction == "max" else min(numbers.values())
            found |= {place for place, value in numbers.items() if value == best}
    return found


def _bare(value: Entry) -> Entry:
    return value.value if isinstance(value, Statistic) else value


def is_numeric(sheet: Sheet, column: int) -> bool:
    fields = [row[column] for row in sheet.rows if row[column] is not None]
    return bool(fields) and not any(isinstance(field, str) for field in fields)


def bar(verdicts: Iterable[Verdict]) -> Bar:
    """Count verdicts for a stacked bar, in the fixed order from exact to missing."""
    counts = Counter(verdict.outcome for verdict in verdicts)
    total = sum(counts.values())
    shares = tuple(
        Share(outcome, counts[outcome], f"{100 * counts[outcome] / total:.2f}")
        for outcome in OUTCOMES
        if counts[outcome]
    )
    return Bar(shares, total, counts["exact"] + counts["equivalent"])


def counted(data: ReportData) -> list[ComparedTable]:
    """Tables whose verdicts enter the headline."""
    return [table for table in data.tables if table.verdicts and table.counted]


def judged(data: ReportData) -> list[ComparedTable]:
    return [table for table in data.tables if table.verdicts]


def methods_of(tables: Sequence[ComparedTable]) -> list[str]:
    """Every column that is judged in some tables, in the order of first appearance."""
    return list(dict.fromkeys(verdict.method for t in tables for verdict in t.verdicts))
