"""One dataset: its row in every table, beside the paper's where that has it.

Datasets and learners that the paper lacks have tables of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from experiments.analysis.cells import Results, collect
from experiments.analysis.definitions import grids
from experiments.analysis.grids import our_table, paper_table
from experiments.analysis.judging import judge_table
from experiments.analysis.model import Table, Verdict
from experiments.analysis.other_tables import other_tables
from experiments.analysis.paper import Paper, load_paper
from experiments.core.job import Job
from experiments.core.planned import DatasetFacts, LearnerFacts
from experiments.core.record import RunRecord


@dataclass(frozen=True)
class Comparison:
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
) -> list[Comparison]:
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
        Comparison(only(table, dataset), ())
        for table in other_tables(results, paper, protocol, datasets, learners)
    ]
    return [comparison for comparison in compared if comparison.table.has_results]


def _row_of(name: str, dataset: str, protocol: str, results: Results, paper: Paper) -> Comparison:
    grid = grids()[name]
    ours = only(our_table(grid, results, paper, protocol), dataset)
    printed = only(paper_table(grid, paper), dataset)
    return Comparison(ours, tuple(judge_table(grid, ours, printed, paper)))


def only(table: Table, dataset: str) -> Table:
    """A table with a single row and nothing below it."""
    blocks = [
        replace(block, rows=tuple(r for r in block.rows if r.dataset == dataset), summaries=())
        for block in table.blocks
    ]
    return replace(table, blocks=tuple(block for block in blocks if block.rows))
