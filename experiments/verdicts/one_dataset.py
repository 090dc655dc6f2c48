"""One dataset end to end: its row beside the paper's, its tables and its trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from experiments.display.text import table as text_table
from experiments.planning.jobs import Job
from experiments.records import artifacts
from experiments.records.record import RunRecord
from experiments.running.splits import load_dataset, load_split
from experiments.tables.cells import Results, collect
from experiments.tables.csvfiles import table_csv
from experiments.tables.definitions import grids
from experiments.tables.files import write_files
from experiments.tables.grids import our_table, paper_table
from experiments.tables.latex import table_latex
from experiments.tables.model import Cell, Table
from experiments.tables.outcomes import Verdict
from experiments.verdicts.judging import judge_table
from experiments.verdicts.paper import Paper, load_paper

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gradtree.trees.tree import Tree

TREES_SHOWN_DEPTH = 4


@dataclass(frozen=True)
class Comparison:
    """One table of the paper cut down to one row, and what is to be said of its cells."""

    table: Table
    verdicts: tuple[Verdict, ...]


def compare(
    dataset: str, protocol: str, jobs: Sequence[Job], records: Mapping[str, RunRecord]
) -> list[Comparison]:
    """The row of a dataset in every table that the jobs contribute to."""
    results, paper = collect(jobs, records), load_paper()
    experiments = {job.experiment for job in jobs}
    compared = [
        _row_of(name, dataset, protocol, results, paper)
        for name, grid in grids().items()
        if grid.experiment in experiments and not grid.machine_dependent
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


def render(comparison: Comparison) -> str:
    """Method by method: ours, the paper's, and the verdict."""
    table = comparison.table
    names = {column.method: column.name for column in table.columns}
    rows = [
        [
            names[verdict.method],
            cell_text(verdict.ours, table.decimals),
            cell_text(verdict.paper, table.decimals),
            "not run" if verdict.ours.pending else verdict.outcome,
        ]
        for verdict in comparison.verdicts
    ]
    return f"{table.title}\n" + text_table(["", "ours", "paper", "verdict"], rows)


def cell_text(cell: Cell, decimals: int) -> str:
    """``0.938 ± 0.057``, with the number of trials where some are missing."""
    if cell.mean is None or cell.std is None:
        return cell.missing or "–"
    part = f" ({cell.n} of {cell.expected} trials)" if cell.partial else ""
    return f"{cell.mean:.{decimals}f} ± {cell.std:.{decimals}f}{part}"


def write_tables(folder: Path, comparisons: Sequence[Comparison]) -> None:
    """CSV with the paper's figures beside ours, and LaTeX."""
    files: dict[str, str] = {}
    for comparison in comparisons:
        verdicts = {(v.dataset, v.method): v for v in comparison.verdicts}
        table = comparison.table
        files[f"{table.name}.csv"] = table_csv(table, verdicts)
        files[f"{table.name}.tex"] = table_latex(table)
    write_files(folder, files)


def draw_trees(
    folder: Path, jobs: Sequence[Job], records: Mapping[str, RunRecord], store: Path
) -> list[Path]:
    """The tree of each learner in its first job, thresholds in original units."""
    from experiments.figures.save import save

    first = {job.method: job for job in reversed(jobs) if _is_ok(job, records)}
    written: list[Path] = []
    for method, job in first.items():
        tree = artifacts.load_tree(store, records[job.key])
        if tree is not None:
            written += save(_picture(tree, job), folder / method)
    return written


def _picture(tree: Tree, job: Job) -> Figure:
    import matplotlib.pyplot as plt

    from gradtree.units.original import original_units
    from gradtree.views.plot import plot_tree

    split = load_split(job.dataset, job.protocol, job.trial)
    raw = None if split.rows is None else load_dataset(job.dataset).X.iloc[split.rows.train]
    axes = plot_tree(
        tree,
        class_names=split.class_names,
        units=original_units(split.preprocessing, raw),
        max_depth=TREES_SHOWN_DEPTH,
    )
    figure = cast("Figure", axes.figure)
    plt.close(figure)
    return figure


def _is_ok(job: Job, records: Mapping[str, RunRecord]) -> bool:
    return job.key in records and records[job.key].status == "ok"
