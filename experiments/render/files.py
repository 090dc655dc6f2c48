"""All tables as files: first as texts by name, then written so that no reader sees half of one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from experiments.analysis.clean_effect import changes
from experiments.analysis.definitions import grids
from experiments.analysis.findings import Findings
from experiments.analysis.model import TASKS, Claim, Sheet, Table, Verdict
from experiments.analysis.one_dataset import Comparison
from experiments.analysis.paper import Paper
from experiments.analysis.significance import comparisons, intervals_sheet, pairs_sheet, ranks_sheet
from experiments.analysis.table_set import Book
from experiments.core.files import write_files
from experiments.render import csvfiles, latex
from experiments.render.macros import macros_latex
from experiments.render.protocol_page import changes_csv, protocol_page

TESTED = ("test-f1-tuned", "test-f1-default")
"""The tables that are compared over datasets and between protocols."""


def table_files(
    books: Sequence[Book],
    paper: Paper,
    verdicts: Sequence[Verdict] = (),
    claims: Sequence[Claim] = (),
    clean_claims: Sequence[Claim] = (),
    categorical: Collection[str] = (),
) -> dict[str, str]:
    """Every file by its name below the output folder.

    Parameters
    ----------
    books : one per protocol that has records; the one of protocol ``paper`` first.
    paper : the printed figures, which stand beside those of protocol ``paper``.
    verdicts, claims : of protocol ``paper``; ``clean_claims`` of ``clean``.
    categorical : datasets with categorical columns, for the comparison of protocols.
    """
    files: dict[str, str] = {}
    for book in books:
        judged, printed = (verdicts, paper.summaries) if book.source == "paper" else ((), {})
        for name, text in _book_files(book, judged, printed):
            files[f"{book.source}/{name}"] = text
    inputs = [name.removesuffix(".tex") for name in files if name.endswith(".tex")]
    files["macros.tex"] = macros_latex(books, verdicts, claims)
    files["all.tex"] = latex.document_latex(inputs)
    by_source = {book.source: book for book in books}
    if {"paper", "clean"} <= set(by_source):
        pair = (by_source["paper"], by_source["clean"])
        files.update(_protocol_files(*pair, categorical, (claims, clean_claims)))
    return files


def files_of(found: Findings) -> dict[str, str]:
    """The files of everything that was found."""
    books = list(found.books.values())
    files = table_files(
        books, found.paper, found.verdicts, found.claims, found.clean_claims, found.categorical
    )
    for table in found.others:
        files[f"{table.source}/{table.name}.csv"] = csvfiles.table_csv(table)
        files[f"{table.source}/{table.name}-summary.csv"] = csvfiles.summary_csv(table)
        files[f"{table.source}/{table.name}.tex"] = latex.table_latex(table)
    return files


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
        if sheet.rows:
            yield f"{sheet.name}.csv", csvfiles.sheet_csv(sheet)
            yield f"{sheet.name}.tex", latex.sheet_latex(sheet)


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


def _protocol_files(
    paper: Book,
    clean: Book,
    categorical: Collection[str],
    claims: tuple[Sequence[Claim], Sequence[Claim]],
) -> dict[str, str]:
    tables = {name: (paper.tables[name], clean.tables[name]) for name in TESTED}
    found = {name: changes(*pair, categorical) for name, pair in tables.items()}
    return {
        "clean.csv": changes_csv([change for group in found.values() for change in group]),
        "clean.md": protocol_page(tables, found, claims),
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
