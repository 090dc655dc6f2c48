"""All tables as files: first as texts by name, then written so that no reader sees half of one.

Single numbers are LaTeX macros, to be quoted in a text. A name is put together from what it stands
for, digits spelled out, e.g. ``TestFOneTunedBinaryMRRDLEightFive``; tables of the clean protocol
begin with ``Clean``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from experiments.analysis.duels import duels_sheet, selectors_sheet
from experiments.analysis.findings import Findings
from experiments.analysis.model import CLAIM_OUTCOMES, OUTCOMES, TASKS, Claim, Sheet, Table, Verdict
from experiments.analysis.paper import grids
from experiments.analysis.quirks import orders_sheet, quirks_sheet
from experiments.analysis.revised import worths_sheet
from experiments.analysis.sensitivity import changes
from experiments.analysis.significance import comparisons, intervals_sheet, pairs_sheet, ranks_sheet
from experiments.analysis.small_trees_sheets import sheets_of as small_trees_sheets
from experiments.analysis.table_set import DatasetRow, TableSet
from experiments.core.files import write_files
from experiments.render import clean, csvfiles, latex, numbers
from experiments.render.latex import GAP

TESTED = ("test-f1-tuned", "test-f1-default")
"""The tables that are compared over datasets."""


def files_of(found: Findings) -> dict[str, str]:
    """Every file by its name below the output folder."""
    files: dict[str, str] = {}
    for sheet in [duels_sheet(found.duels), *shared_sheets(found)]:
        files.update(_sheet_files(sheet))
    for table_set in found.table_sets.values():
        ours = table_set.source == "paper"
        judged, printed = (found.verdicts, found.paper.summaries) if ours else ((), {})
        for name, text in _table_set_files(table_set, judged, printed):
            files[f"{table_set.source}/{name}"] = text
    inputs = [name.removesuffix(".tex") for name in files if name.endswith(".tex")]
    files["macros.tex"] = macros_latex(found.table_sets.values(), found.verdicts, found.claims)
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
        worths_sheet(found.revised),
        *small_trees_sheets(found.small_trees),
    ]


def _sheet_files(sheet: Sheet) -> dict[str, str]:
    if not sheet.rows:
        return {}
    return {
        f"{sheet.name}.csv": csvfiles.sheet_csv(sheet),
        f"{sheet.name}.tex": latex.sheet_latex(sheet),
    }


def _table_set_files(
    table_set: TableSet,
    verdicts: Sequence[Verdict],
    printed: Mapping[str, csvfiles.PrintedSummaries],
) -> Iterator[tuple[str, str]]:
    by_table: dict[str, dict[tuple[str, str], Verdict]] = {}
    for verdict in verdicts:
        by_table.setdefault(verdict.table, {})[verdict.dataset, verdict.method] = verdict
    for name, table in {**table_set.tables, **table_set.beyond}.items():
        if table_set.source != "paper" and not table.has_results:
            continue
        yield f"{name}.csv", csvfiles.table_csv(table, by_table.get(name))
        yield f"{name}-summary.csv", csvfiles.summary_csv(table, printed.get(name))
        yield from _table_latex(table)
    for sheet in [*table_set.sheets.values(), *tested_sheets(table_set)]:
        yield from _sheet_files(sheet).items()


def _table_latex(table: Table) -> Iterator[tuple[str, str]]:
    if table.name in grids() and grids()[table.name].split_by_task:
        for task in TASKS:
            yield f"{table.name}-{task}.tex", latex.table_latex(table, task)
    else:
        yield f"{table.name}.tex", latex.table_latex(table)


def tested_sheets(table_set: TableSet) -> list[Sheet]:
    """The statistics over datasets of the tables of test F1."""
    sheets = []
    for name in TESTED:
        table = table_set.tables[name]
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


def write_comparisons(folder: Path, comparisons: Sequence[DatasetRow]) -> None:
    """CSV with the paper's figures beside ours, and LaTeX."""
    files: dict[str, str] = {}
    for comparison in comparisons:
        verdicts = {(v.dataset, v.method): v for v in comparison.verdicts} or None
        table = comparison.table
        files[f"{table.name}.csv"] = csvfiles.table_csv(table, verdicts)
        files[f"{table.name}.tex"] = latex.table_latex(table)
    write_files(folder, files)


_DIGITS = dict(
    zip(
        "0123456789",
        ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"),
        strict=True,
    )
)


def macro_name(*parts: str) -> str:
    """Letters only, as TeX wants: words capitalised and joined, digits spelled out."""
    words = [word for part in parts for word in re.split(r"[^A-Za-z0-9]+", part) if word]
    spelled = ("".join(_DIGITS.get(letter, letter) for letter in word) for word in words)
    return "".join(word[0].upper() + word[1:] for word in spelled)


def macros_latex(
    table_sets: Iterable[TableSet], verdicts: Iterable[Verdict] = (), claims: Iterable[Claim] = ()
) -> str:
    r"""One ``\newcommand`` per summary figure, and the counts of verdicts and claims."""
    lines = []
    for table_set in table_sets:
        prefix = "" if table_set.source == "paper" else table_set.source
        for table in table_set.tables.values():
            lines += list(_table_macros(table, prefix))
    lines += list(_counts(verdicts, claims))
    return "".join(rf"\newcommand{{\{name}}}{{{value}}}" + "\n" for name, value in lines)


def _table_macros(table: Table, prefix: str) -> Iterator[tuple[str, str]]:
    for block in table.blocks:
        for line in block.summaries:
            for column, statistic in zip(table.columns, line.statistics, strict=True):
                name = macro_name(prefix, table.name, block.task, line.name, column.name)
                yield name, numbers.statistic(statistic, line.decimals)[0] or GAP


def _counts(verdicts: Iterable[Verdict], claims: Iterable[Claim]) -> Iterator[tuple[str, str]]:
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for verdict in verdicts:
        if verdict.paper.mean is not None:
            line = counts.setdefault((verdict.table, verdict.method), dict.fromkeys(OUTCOMES, 0))
            line[verdict.outcome] += 1
    for (table, method), line in counts.items():
        for outcome, count in line.items():
            yield macro_name("Cells", table, method, outcome), str(count)
    outcomes = [claim.outcome for claim in claims]
    if outcomes:
        for claim_outcome in CLAIM_OUTCOMES:
            yield macro_name("Claims", claim_outcome), str(outcomes.count(claim_outcome))
