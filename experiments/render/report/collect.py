"""From run records and the paper's numbers to everything the report shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.analysis.duels import duels_sheet
from experiments.analysis.findings import Findings
from experiments.analysis.grids import Results
from experiments.analysis.model import Table
from experiments.analysis.paper import grids, method_name
from experiments.analysis.summaries import Spec
from experiments.analysis.verifying import Repeats
from experiments.core.record import STATUSES, RunRecord
from experiments.render.clean import clean_section, pairs_of
from experiments.render.figures.trees import Curve
from experiments.render.files import tested_sheets
from experiments.render.report import compact, comparisons
from experiments.render.report.comparisons import (
    quirks_section,
    small_trees_plate,
    small_trees_section,
)
from experiments.render.report.gallery import entry, finding_plates, plates
from experiments.render.report.model import (
    ComparedTable,
    DatasetPage,
    EnvironmentEntry,
    Failure,
    Plate,
    ReportData,
    Section,
    SheetGroup,
    Totals,
)
from experiments.render.report.payload import read_trees
from experiments.render.report.revised import revised_section
from experiments.render.report.sections import (
    SEARCH_SHEETS,
    draws_of,
    firmness_section,
    search_section,
    seeds_section,
    selectors_section,
)
from experiments.render.wording import TESTS

PAPER, CLEAN = "paper", "clean"
SEEDS = "seeds"
ABOUT_PAPER = ("datasets", "paper-inconsistencies")
IN_SECTIONS = (SEEDS, "firmness", *SEARCH_SHEETS)
"""Sheets that have a section of their own."""


@dataclass(frozen=True)
class Inputs:
    """What a report is made of, all of it read before and none of it changed.

    Attributes
    ----------
    records : every record that counts, searches included: what was spent.
    registry : dataset -> its record.
    environments : identifier -> versions and machine.
    trees : folder of stored trees, if there is one.
    run_options : what the commands that repeat a cell need besides.
    repeats : the fits beside the committed ones, for any other store than that.
    """

    findings: Findings
    records: Sequence[RunRecord]
    registry: Mapping[str, Spec]
    environments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    trees: Path | None = None
    curves: Sequence[Curve] = ()
    run_options: str = ""
    repeats: Repeats | None = None


def draw(inputs: Inputs) -> list[Plate]:
    """The figures of the report; they can be saved as files too."""
    found = inputs.findings
    clean = found.table_sets[CLEAN].tables if CLEAN in found.table_sets else {}
    ours = found.table_sets[PAPER].tables
    draws = draws_of(found.table_sets[PAPER].sheets.get(SEEDS))
    pages = dataset_pages(inputs)
    return [
        *finding_plates(found),
        *plates(ours, found.printed.tables, clean, pages, inputs.curves, draws),
        *small_trees_plate(found),
    ]


def assemble(inputs: Inputs, figures: Iterable[Plate]) -> ReportData:
    """Everything the page shows."""
    found = inputs.findings
    table_set = found.table_sets[PAPER]
    return ReportData(
        tables=tuple(_tables(found)),
        sheet_groups=tuple(_sheet_groups(found)),
        claims=found.claims,
        datasets=(*dataset_pages(inputs), *other_pages(inputs)),
        figures=tuple(entry(plate) for plate in figures),
        sections=(
            *clean_section(pairs_of(found), found.categorical, (found.claims, found.clean_claims)),
            *quirks_section(found),
            *selectors_section(found),
            *search_section(found),
            *seeds_section(table_set.sheets.get(SEEDS)),
            *firmness_section(found),
            *revised_section(found),
            *small_trees_section(found),
        ),
        failures=tuple(failures_of(found.results)),
        superseded=tuple(f"{len(some):,} records: {why}" for why, some in found.superseded.items()),
        environments=tuple(_environments(inputs)),
        totals=totals_of(inputs.records, found.results),
        method_names=_method_names(found),
        run_options=inputs.run_options,
        verdict_test=TESTS,
        first=_first(found),
        repeats=inputs.repeats,
    )


def _first(found: Findings) -> Section | None:
    """GradTree against CART; nothing before both have been run on a few datasets."""
    if not found.duels:
        return None
    return Section(
        slug="against-cart",
        title=comparisons.DUELS_TITLE,
        paragraphs=tuple(comparisons.duels_answer(found.duels)),
        sheets=(compact.duels(found.duels),),
        figures=(comparisons.DUELS_FIGURE,),
    )


def _tables(found: Findings) -> Iterable[ComparedTable]:
    for name, table in found.table_sets[PAPER].tables.items():
        verdicts = tuple(verdict for verdict in found.verdicts if verdict.table == name)
        yield ComparedTable(table, verdicts, counted=not grids()[name].machine_dependent)
    for protocol, table_set in found.table_sets.items():
        own = {} if protocol == PAPER else table_set.tables
        tables = [*own.values(), *table_set.beyond.values()]
        yield from (ComparedTable(table) for table in tables if _compares(table))
    yield from (ComparedTable(table) for table in found.others)


def _sheet_groups(found: Findings) -> Iterable[SheetGroup]:
    """What stands beside the tables, by kind; other draws have a section of their own."""
    table_set = found.table_sets[PAPER]
    settings, about_paper, summaries = [], [], []
    for sheet in table_set.sheets.values():
        if sheet.name.startswith("hyperparameters"):
            settings.append(sheet)
        elif sheet.name in ABOUT_PAPER:
            about_paper.append(sheet)
        elif sheet.name not in IN_SECTIONS:
            summaries.append(sheet)
    for title, sheets in (
        ("Summaries", summaries),
        ("Over datasets", [duels_sheet(found.duels), *tested_sheets(table_set)]),
        ("Hyperparameters", settings),
        ("The paper’s", about_paper),
    ):
        yield SheetGroup(title, tuple(sheet for sheet in sheets if sheet.rows))


def _compares(table: Table) -> bool:
    """Whether two methods have results: one alone may be there for another table's sake."""
    rows = [row for block in table.blocks for row in block.rows]
    found = [
        any(row.cells[at].mean is not None for row in rows) for at in range(len(table.columns))
    ]
    return sum(found) > 1


def dataset_pages(inputs: Inputs) -> tuple[DatasetPage, ...]:
    """One page per dataset in the paper's order; shapes as loaded."""
    return tuple(_page(each.slug, each.name, inputs) for each in inputs.findings.paper.datasets)


def _page(slug: str, name: str, inputs: Inputs) -> DatasetPage:
    spec = inputs.registry[slug]
    return DatasetPage(
        slug=slug,
        name=name,
        task="binary" if len(spec.class_counts) == 2 else "multi",
        rows=spec.n_rows,
        features=spec.n_features,
        class_counts=tuple(spec.class_counts),
        trees=read_trees(inputs.trees, slug) if inputs.trees else (),
    )


def other_pages(inputs: Inputs) -> tuple[DatasetPage, ...]:
    """Pages of the datasets beyond the paper that a table shows."""
    printed = {dataset.slug for dataset in inputs.findings.paper.datasets}
    rows = [r for t in inputs.findings.others for block in t.blocks for r in block.rows]
    shown = {row.dataset: row.name for row in rows if row.dataset not in printed}
    return tuple(_page(slug, name, inputs) for slug, name in shown.items())


def failures_of(results: Results) -> list[Failure]:
    """Runs without a score, drawn together where they ended alike; each run once."""
    grouped: dict[tuple[str, str, str, str, str, str], list[RunRecord]] = {}
    seen: set[str] = set()
    for (protocol, experiment, dataset, method), attempts in results.attempts.items():
        for attempt in attempts:
            record = attempt.record
            if record is None or record.status == "ok" or record.key in seen:
                continue
            seen.add(record.key)
            where = (protocol, experiment, dataset, method, record.status, record.reason)
            grouped.setdefault(where, []).append(record)
    order = {status: place for place, status in enumerate(STATUSES)}
    found = [
        Failure(*where, tuple(run.trial for run in runs), runs[0].traceback or runs[0].log_tail)
        for where, runs in grouped.items()
    ]
    # What went wrong comes before what was never possible.
    return sorted(found, key=lambda each: (each.status == "skipped", order[each.status]))  # type: ignore[index]


def totals_of(records: Sequence[RunRecord], results: Results) -> Totals:
    by_status = Counter(record.status for record in records)
    made, planned = results.jobs()
    return Totals(
        runs=len(records),
        made=made,
        planned=planned,
        by_status=tuple((status, by_status[status]) for status in STATUSES if by_status[status]),
        cpu_hours=sum(record.cpu_seconds or 0.0 for record in records) / 3600,
        wall_hours=sum(record.wall_seconds or 0.0 for record in records) / 3600,
    )


def _environments(inputs: Inputs) -> list[EnvironmentEntry]:
    counts = Counter(record.environment for record in inputs.records if record.environment)
    return [
        EnvironmentEntry(name, runs, tuple(_facts(inputs.environments.get(name, {}))))
        for name, runs in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    ]


def _facts(description: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for name, value in description.get("machine", {}).items():
        yield ("memory", f"{value} GB") if name == "memory_gb" else (name, str(value))
    for name, value in description.get("versions", {}).items():
        yield name, str(value)


def _method_names(found: Findings) -> dict[str, str]:
    columns = dict.fromkeys(c.method for grid in grids().values() for c in grid.columns)
    others = dict.fromkeys(address[3] for address in found.results.attempts)
    named = {c.method: c.name for table in found.others for c in table.columns}
    return {method: method_name(method) for method in {**columns, **others}} | named
