"""Tables as CSV: one line per cell at full precision, the paper's figure beside it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from experiments.analysis.model import (
    Claim,
    Entry,
    Sheet,
    SheetColumn,
    Statistic,
    Table,
    Task,
    Verdict,
)
from experiments.analysis.sensitivity import Change
from experiments.analysis.verifying import CLAIMS, VERDICTS
from experiments.render import numbers

Field = str | int | float | None
PrintedSummaries = Mapping[tuple[Task, str, str], Statistic]
"""(task, statistic, method) -> the figure the paper prints"""

CELL_COLUMNS = (
    "task",
    "dataset",
    "method",
    "mean",
    "std",
    "n",
    "expected",
    "rank",
    "missing",
)
PAPER_COLUMNS = ("paper_mean", "paper_std", "paper_missing", "verdict")
FIRM_COLUMNS = ("firm_trials", "refitted_trials")
PRINTED_COLUMNS = ("paper_value", "paper_spread", "paper_rank")
SUMMARY_COLUMNS = ("task", "statistic", "method", "value", "spread", "n", "rank")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Field]]) -> str:
    """Lines end in a newline alone; floats are written so that they read back unchanged."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([numbers.exact(value) for value in row])
    return buffer.getvalue()


def table_csv(table: Table, verdicts: Mapping[tuple[str, str], Verdict] | None = None) -> str:
    """The cells of a grid; with verdicts, by (dataset, method), the paper's cells as well.

    Where trials were fitted anew on moved rows, how many of them are firm.
    """
    refitted = any(c.refitted for block in table.blocks for row in block.rows for c in row.cells)
    rows: list[list[Field]] = []
    for block in table.blocks:
        for row in block.rows:
            for column, cell, rank in zip(table.columns, row.cells, row.ranks, strict=True):
                line: list[Field] = [block.task, row.dataset, column.method]
                line += [cell.mean, cell.std, cell.n, cell.expected, rank, cell.missing]
                if verdicts is not None:
                    line += _printed(verdicts.get((row.dataset, column.method)))
                if refitted:
                    line += [cell.firm, cell.refitted] if cell.refitted else [None, None]
                rows.append(line)
    header = CELL_COLUMNS if verdicts is None else CELL_COLUMNS + PAPER_COLUMNS
    return csv_text(header + FIRM_COLUMNS if refitted else header, rows)


def _printed(verdict: Verdict | None) -> list[Field]:
    """The paper's cell with the verdict; gaps for a column that the paper lacks."""
    if verdict is None:
        return [None] * len(PAPER_COLUMNS)
    printed = verdict.paper
    return [printed.mean, printed.std, printed.missing, verdict.outcome]


def summary_csv(table: Table, printed: PrintedSummaries | None = None) -> str:
    """The summary lines of a grid, those beyond the paper's included.

    With ``printed``, the figures of the paper's own lines stand beside, as printed.
    """
    rows: list[list[Field]] = []
    for block in table.blocks:
        for line in block.summaries:
            for column, mine in zip(table.columns, line.statistics, strict=True):
                row: list[Field] = [block.task, line.name, column.method]
                row += [mine.value, mine.spread, mine.n, mine.rank]
                if printed is not None:
                    theirs = printed.get((block.task, line.name, column.method), Statistic())
                    row += [theirs.value, theirs.spread, theirs.rank]
                rows.append(row)
    header = SUMMARY_COLUMNS if printed is None else SUMMARY_COLUMNS + PRINTED_COLUMNS
    return csv_text(header, rows)


def sheet_csv(sheet: Sheet) -> str:
    """A sheet as it stands; a column of statistics becomes two, value and spread."""
    spread_columns = {
        at
        for at in range(len(sheet.columns))
        if any(isinstance(row[at], Statistic) for row in sheet.rows)
    }
    header: list[str] = []
    for at, column in enumerate(sheet.columns):
        header.append(_heading(column))
        if at in spread_columns:
            header.append(f"{_heading(column)} spread")
    rows = [
        [field for at, entry in enumerate(row) for field in _fields(entry, at in spread_columns)]
        for row in sheet.rows
    ]
    return csv_text(header, rows)


def _heading(column: SheetColumn) -> str:
    return f"{column.group}: {column.name}" if column.group else column.name


def _fields(entry: Entry, with_spread: bool) -> list[Field]:
    if isinstance(entry, Statistic):
        return [entry.value, entry.spread]
    return [entry, None] if with_spread else [entry]


def verdict_files(verdicts: Iterable[Verdict], claims: Iterable[Claim]) -> dict[str, str]:
    """Both files as texts by name."""
    return {VERDICTS: verdicts_csv(verdicts), CLAIMS: claims_csv(claims)}


def verdicts_csv(verdicts: Iterable[Verdict]) -> str:
    return csv_text(
        (
            *("table", "task", "dataset", "method"),
            *("ours_mean", "ours_std", "ours_n", "paper_mean", "paper_std"),
            *("difference", "p_value", "p_adjusted", "p_equivalent", "outcome", "note"),
        ),
        [
            (
                *(each.table, each.task, each.dataset, each.method),
                *(each.ours.mean, each.ours.std, each.ours.n, each.paper.mean, each.paper.std),
                *(each.difference, each.p_value, each.p_adjusted, each.p_equivalent),
                *(each.outcome, each.note),
            )
            for each in verdicts
        ],
    )


def claims_csv(claims: Iterable[Claim]) -> str:
    return csv_text(
        ("claim", "sentence", "where", "outcome", "ours", "in_paper", "paper", "note"),
        [
            (
                *(each.slug, each.sentence, each.where, each.outcome, each.ours),
                *(each.in_paper, each.paper, each.note),
            )
            for each in claims
        ],
    )


def changes_csv(found: Sequence[Change]) -> str:
    """Every cell under both protocols."""
    return csv_text(
        ("table", "task", "dataset", "method", "categorical", "paper", "clean", "difference"),
        [
            (
                *(each.table, each.task, each.dataset, each.method),
                "yes" if each.categorical else "no",
                *(each.paper, each.clean, each.difference),
            )
            for each in found
        ],
    )
