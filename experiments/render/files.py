"""All tables as files: first as texts by name, then written so that no reader sees half of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from experiments.analysis.duels import duels_sheet, selectors_sheet
from experiments.analysis.findings import Findings
from experiments.analysis.model import TASKS, Sheet, Table, Verdict
from experiments.analysis.paper import grids
from experiments.analysis.quirks import orders_sheet, quirks_sheet
from experiments.analysis.sensitivity import changes
from experiments.analysis.significance import comparisons, intervals_sheet, pairs_sheet, ranks_sheet
from experiments.analysis.table_set import Book, Comparison
from experiments.core.files import write_files
from experiments.render import clean, csvfiles, latex
from experiments.render.macros import macros_latex

TESTED = ("test-f1-tuned", "test-f1-default")
"""The tables that are compared over datasets."""


def files_of(found: Findings) -> dict[str, str]:
    """Every file by its name below the output folder."""
    files: dict[str, str] = {}
    for sheet in [duels_sheet(found.duels), *shared_sheets(found)]:
        files.update(_sheet_files(sheet))
    for book in found.books.values():
        ours = book.source == "paper"
        judged, printed = (found.verdicts, found.paper.summaries) if ours else ((), {})
        for name, text in _book_files(book, judged, printed):
            files[f"{book.source}/{name}"] = text
    inputs = [name.removesuffix(".tex") for name in files if name.endswith(".tex")]
    files["macros.tex"] = macros_latex(found.books.values(), found.verdicts, found.claims)
    files["all.tex"] = latex.document_latex(inputs)
    files.update(_clean_files(found))
    for table in found.others:
        files[f"{table.source}/{table.name}.csv"] = csvfiles.table_csv(table)
        files[f"{table.source}/{table.name}-summary.csv"] = csvfiles.summary_csv(table)
        files[f"{table.source}/{table.name}.tex"] = latex.table_latex(table)
    return files


def shared_sheets(found: Findings) -> list[Sheet]:
    """Sheets that belong to no single protocol, or to the paper's alone."""
    return [
        selectors_sheet(found.selectors, "paper"),
        quirks_sheet(found.quirks),
        orders_sheet(found.quirk_orders),
    ]


def _sheet_files(sheet: Sheet) -> dict[str, str]:
    if not sheet.rows:
        return {}
    return {
        f"{sheet.name}.csv": csvfiles.sheet_csv(sheet),
        f"{sheet.name}.tex": latex.sheet_latex(sheet),
    }


def _book_files(
    book: Book, verdicts: Sequence[Verdict], printed: Mapping[str, csvfiles.PrintedSummaries]
) -> Iterator[tuple[str, str]]:
    by_table: dict[str, dict[tuple[str, str], Verdict]] = {}
    for verdict in verdicts:
        by_table.setdefault(verdict.table, {})[verdict.dataset, verdict.method] = verdict
    for name, table in {**book.tables, **book.beyond}.items():
        if book.source != "paper" and not table.has_results:
            continue
        yield f"{name}.csv", csvfiles.table_csv(table, by_table.get(name))
        yield f"{name}-summary.csv", csvfiles.summary_csv(table, printed.get(name))
        yield from _table_latex(table)
    for sheet in [*book.sheets.values(), *tested_sheets(book)]:
        yield from _sheet_files(sheet).items()


def _table_latex(table: Table) -> Iterator[tuple[str, str]]:
    if table.name in grids() and grids()[table.name].split_by_task:
        for task in TASKS:
            yield f"{table.name}-{task}.tex", latex.table_latex(table, task)
    else:
        yield f"{table.name}.tex", latex.table_latex(table)


def tested_sheets(book: Book) -> list[Sheet]:
    """The statistics over datasets of the tables of test F1."""
    sheets = []
    for name in TESTED:
        table = book.tables[name]
        compared = comparisons(table)
        sheets += [
            ranks_sheet(table, compared),
            pairs_sheet(table, compared),
            intervals_sheet(table),
        ]
    return sheets


def _clean_files(found: Findings) -> dict[str, str]:
    pairs = clean.pairs_of(found)
    if not pairs:
        return {}
    compared = [change for pair in reversed(pairs) for change in changes(*pair, found.categorical)]
    claims = (found.claims, found.clean_claims)
    return {
        "clean.csv": csvfiles.changes_csv(compared),
        "clean.md": clean.clean_page(pairs, found.categorical, claims),
    }


def write_comparisons(folder: Path, comparisons: Sequence[Comparison]) -> None:
    """CSV with the paper's figures beside ours, and LaTeX."""
    files: dict[str, str] = {}
    for comparison in comparisons:
        verdicts = {(v.dataset, v.method): v for v in comparison.verdicts} or None
        table = comparison.table
        files[f"{table.name}.csv"] = csvfiles.table_csv(table, verdicts)
        files[f"{table.name}.tex"] = latex.table_latex(table)
    write_files(folder, files)
