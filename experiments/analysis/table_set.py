"""All tables together: of one source, ours under a protocol or the paper's; or of one dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from experiments.analysis.costs import compute_sheet, runtime_sheet
from experiments.analysis.grids import (
    Results,
    beyond_tables,
    collect,
    our_table,
    our_tables,
    paper_table,
    paper_tables,
)
from experiments.analysis.judging import judge_table
from experiments.analysis.model import Cell, Sheet, Table, Verdict
from experiments.analysis.own_tables import other_tables
from experiments.analysis.paper import Paper, grids, load_paper
from experiments.analysis.settings import (
    Searched,
    growth,
    growth_sheet,
    hyperparameter_sheets,
    optimism_sheet,
    searched_sheet,
    seeds_sheet,
)
from experiments.analysis.solvers import library_cells, solver_times_sheet, solvers_sheet
from experiments.analysis.summaries import (
    SETTINGS,
    Penalty,
    Spec,
    ablation_sheet,
    inconsistencies_sheet,
    our_penalty,
    paper_penalty,
    penalty_sheet,
    specs_sheet,
    summary_sheet,
)
from experiments.core.job import Job
from experiments.core.planned import DatasetFacts, LearnerFacts
from experiments.core.record import RunRecord


@dataclass(frozen=True)
class TableSet:
    """Grids and sheets by name; ``penalty`` holds the numbers behind its sheet unrounded."""

    source: str
    tables: Mapping[str, Table]
    sheets: Mapping[str, Sheet]
    penalty: Penalty
    beyond: Mapping[str, Table] = field(default_factory=dict)
    """Grids with learners that the paper does not have."""
    library: Mapping[str, Cell] = field(default_factory=dict)
    """Test F1 of DL8.5 by the library pydl8.5, by dataset."""


def our_table_set(
    results: Results,
    paper: Paper,
    protocol: str = "paper",
    searched: Searched | None = None,
    registry: Mapping[str, Spec] | None = None,
) -> TableSet:
    """Every table from run records of one protocol; sheets only of what has been run."""
    tables = our_tables(results, paper, protocol)
    penalty = our_penalty(results, paper, protocol)
    found = searched or {}
    sheets = [summary_sheet(tables)]
    if any(tables[f"ablation-{setting}"].has_results for setting in SETTINGS):
        sheets.append(ablation_sheet(tables))
    if any(mean.n for (_, _, variant), mean in penalty.items() if variant == "no_penalty"):
        sheets.append(penalty_sheet(penalty, protocol))
    if tables["runtime"].has_results:
        sheets.append(runtime_sheet(tables, paper_tables(paper)))
    sheets += [
        seeds_sheet(results, paper, protocol),
        solvers_sheet(results, paper, protocol),
        solver_times_sheet(results, paper, protocol),
        searched_sheet(results, paper, protocol, found),
        optimism_sheet(results, paper, protocol, found),
        growth_sheet(growth(results, paper, protocol), protocol),
    ]
    if protocol == "paper" or found:
        sheets += hyperparameter_sheets(paper, found)
    if protocol == "paper":
        sheets += [
            compute_sheet(results, paper),
            specs_sheet(paper, registry or {}),
            inconsistencies_sheet(paper),
        ]
    sheets = [sheet for sheet in sheets if sheet.rows]
    beyond = beyond_tables(results, paper, protocol)
    library = library_cells(results, paper, protocol)
    return TableSet(protocol, tables, _by_name(sheets), penalty, beyond, library)


def paper_table_set(paper: Paper) -> TableSet:
    """The paper's own tables, all summaries recomputed from its printed cells."""
    tables = paper_tables(paper)
    penalty = paper_penalty(paper)
    source = next(iter(tables.values())).source
    sheets = [
        summary_sheet(tables),
        ablation_sheet(tables),
        penalty_sheet(penalty, source),
        *hyperparameter_sheets(paper, {}),
    ]
    tuned = tables["test-f1-tuned"]
    library = {each.slug: tuned.cell(each.slug, "dl85") for each in paper.datasets}
    return TableSet(source, tables, _by_name(sheets), penalty, library=library)


def _by_name(sheets: Iterable[Sheet]) -> dict[str, Sheet]:
    return {sheet.name: sheet for sheet in sheets}


@dataclass(frozen=True)
class DatasetRow:
    """A table cut down to one row, with verdicts where the paper prints it."""

    table: Table
    verdicts: tuple[Verdict, ...]


def compare(
    dataset: str,
    protocol: str,
    jobs: Sequence[Job],
    records: Mapping[str, RunRecord],
    datasets: Mapping[str, DatasetFacts],
    learners: Mapping[str, LearnerFacts],
) -> list[DatasetRow]:
    """The row of a dataset in every table that the jobs contribute to.

    Parameters
    ----------
    datasets, learners : names and shapes of those that the paper may lack.
    """
    results, paper = collect(jobs, records), load_paper()
    experiments = {job.experiment for job in jobs}
    compared = [
        _row_of(name, dataset, protocol, results, paper)
        for name, grid in grids().items()
        if grid.experiment in experiments and not grid.machine_dependent
    ]
    compared += [
        DatasetRow(only(table, dataset), ())
        for table in other_tables(results, paper, protocol, datasets, learners)
    ]
    return [comparison for comparison in compared if comparison.table.has_results]


def _row_of(name: str, dataset: str, protocol: str, results: Results, paper: Paper) -> DatasetRow:
    grid = grids()[name]
    ours = only(our_table(grid, results, paper, protocol), dataset)
    printed = only(paper_table(grid, paper), dataset)
    return DatasetRow(ours, tuple(judge_table(grid, ours, printed, paper)))


def only(table: Table, dataset: str) -> Table:
    """A table with a single row and nothing below it."""
    blocks = [
        replace(block, rows=tuple(r for r in block.rows if r.dataset == dataset), summaries=())
        for block in table.blocks
    ]
    return replace(table, blocks=tuple(block for block in blocks if block.rows))
