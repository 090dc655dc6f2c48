"""From run records to cells, and from cells to dataset x method tables, ours and the paper's."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from experiments.analysis import ranking
from experiments.analysis.model import (
    TASKS,
    Block,
    Cell,
    Column,
    Measure,
    Row,
    Statistic,
    Summary,
    Table,
    Task,
)
from experiments.analysis.paper import (
    BEYOND_GROUP,
    TRIALS,
    Grid,
    Paper,
    SummaryName,
    beyond_grids,
    grids,
)
from experiments.analysis.ranking import mean_of, population_std
from experiments.core.job import Job
from experiments.core.record import RunRecord

Address = tuple[str, str, str, str]
"""protocol, experiment, dataset, method"""

PAPER_LIMIT_SECONDS = 3600.0
LONGEST_REASON = 12
"""Characters that fit into a cell; a longer reason is told elsewhere."""
REPEATS_ITSELF = ("skipped", "timeout", "memory")
"""How a run ends for reasons that lie in the method and the dataset, not in the trial."""
NOT_A_TREE = "n/a"
"""Printed where a method has a result but not this measure, e.g. the size of an ensemble."""


@dataclass(frozen=True)
class Attempt:
    """One planned run of a cell and its record, if it has been made."""

    trial: int
    seed: int
    record: RunRecord | None
    key: str = ""
    """Of the job: attempts of several experiments may be the same job."""


@dataclass(frozen=True)
class Results:
    """All planned runs with their records, by protocol, experiment, dataset and method."""

    attempts: Mapping[Address, tuple[Attempt, ...]]

    def cell(
        self, protocol: str, experiment: str, dataset: str, method: str, measure: Measure
    ) -> Cell:
        return summarise(self.attempts.get((protocol, experiment, dataset, method), ()), measure)

    def jobs(self) -> tuple[int, int]:
        """Distinct jobs that have a record, and those planned: one that two tables use counts once.

        An experiment shares a job with another where dataset, method, trial, seed and
        parameters are equal, which is what a key says.
        """
        every = [attempt for attempts in self.attempts.values() for attempt in attempts]
        made = {attempt.key for attempt in every if attempt.record is not None}
        return len(made), len({attempt.key for attempt in every})


def collect(jobs: Iterable[Job], records: Mapping[str, RunRecord]) -> Results:
    """Join jobs and records on the job's key; a job listed twice counts once."""
    grouped: dict[Address, dict[tuple[int, int, str], Attempt]] = {}
    for job in jobs:
        address = (job.protocol, job.experiment, job.dataset, job.method)
        attempt = Attempt(job.trial, job.seed, records.get(job.key), job.key)
        grouped.setdefault(address, {})[job.trial, job.seed, job.key] = attempt
    return Results(
        {
            address: tuple(attempts[at] for at in sorted(attempts))
            for address, attempts in grouped.items()
        }
    )


def summarise(
    attempts: Iterable[Attempt], measure: Measure | Callable[[RunRecord], float | None]
) -> Cell:
    """Mean and population deviation over the runs that ended well, or why there is none.

    Parameters
    ----------
    measure : a field of the record, or a function of it.
    """
    planned = tuple(attempts)
    trials, values = [], []
    for attempt in planned:
        if attempt.record is not None and attempt.record.status == "ok":
            record = attempt.record
            value = measure(record) if callable(measure) else getattr(record, measure)
            if value is not None and math.isfinite(value):
                trials.append(attempt.trial)
                values.append(float(value))
    if not values:
        return Cell(expected=len(planned), missing=_reason(planned))
    return Cell(
        mean=mean_of(values),
        std=population_std(values),
        n=len(values),
        expected=len(planned),
        values=tuple(values),
        trials=tuple(trials),
    )


def _reason(planned: tuple[Attempt, ...]) -> str:
    """What to print when no run gave a number; empty while one still may.

    What refuses a dataset or exceeds its limits will do so in the open trials as well;
    after a crash or an error the others are waited for.
    """
    made = [attempt.record for attempt in planned if attempt.record is not None]
    if len(made) < len(planned) and not all(record.status in REPEATS_ITSELF for record in made):
        return ""
    texts = Counter(reason_text(record) for record in made)
    return max(sorted(texts), key=texts.__getitem__, default="")


def reason_text(record: RunRecord) -> str:
    """The few characters that stand in a table for a run without a number."""
    if record.status == "ok":
        return NOT_A_TREE
    if record.status == "skipped" and len(record.reason) <= LONGEST_REASON:
        return record.reason
    if record.status == "timeout":
        return _timeout_text(record.extra.get("limit", PAPER_LIMIT_SECONDS))
    return record.status


def _timeout_text(seconds: float) -> str:
    return f">{seconds / 60:g} min" if seconds >= 60 else f">{seconds:g} s"


Lookup = Callable[[str, str], Cell]
"""(dataset, method) -> cell"""


def our_table(grid: Grid, results: Results, paper: Paper, protocol: str) -> Table:
    """A grid filled from run records of one protocol, datasets in the paper's order."""
    printed = paper.cells.get(grid.name, {}) if protocol == "paper" else {}

    def lookup(dataset: str, method: str) -> Cell:
        cell = results.cell(protocol, grid.experiment, dataset, method, grid.measure)
        theirs = printed.get((dataset, method))
        return cell if theirs is None else _as_far_as_printed(cell, theirs, grid)

    beside = tuple(
        column
        for column in grid.beside
        if any(lookup(dataset.slug, column.method).mean is not None for dataset in paper.datasets)
    )
    return _table(grid, paper, lookup, protocol, beside)


def _as_far_as_printed(cell: Cell, theirs: Cell, grid: Grid) -> Cell:
    """In brackets, and in no rank or mean, where the paper has no number to compare with.

    A faster solver would else bring a dataset into a column's ranks that the paper's lack.
    """
    if cell.mean is None or theirs.mean is not None:
        return cell
    return Cell(expected=cell.expected, missing=f"({cell.mean:.{grid.decimals}f})")


def paper_table(grid: Grid, paper: Paper) -> Table:
    """The same grid from the printed cells, its summaries recomputed from them."""
    cells = paper.cells[grid.name]
    return _table(grid, paper, lambda dataset, method: cells[dataset, method], "paper, as printed")


def our_tables(results: Results, paper: Paper, protocol: str) -> dict[str, Table]:
    return {name: our_table(grid, results, paper, protocol) for name, grid in grids().items()}


def beyond_tables(results: Results, paper: Paper, protocol: str) -> dict[str, Table]:
    """Tables with learners that the paper does not have, where they have been run."""
    tables = [our_table(grid, results, paper, protocol) for grid in beyond_grids().values()]
    return {table.name: table for table in tables if _goes_beyond(table)}


def _goes_beyond(table: Table) -> bool:
    """Whether a learner that the paper lacks has a result; any learner in a table of ours alone."""
    newcomers = [at for at, column in enumerate(table.columns) if column.group == BEYOND_GROUP]
    return any(
        row.cells[at].mean is not None
        for block in table.blocks
        for row in block.rows
        for at in newcomers or range(len(table.columns))
    )


def paper_tables(paper: Paper) -> dict[str, Table]:
    return {name: paper_table(grid, paper) for name, grid in grids().items()}


def _table(
    grid: Grid, paper: Paper, lookup: Lookup, source: str, beside: tuple[Column, ...] = ()
) -> Table:
    return Table(
        name=grid.name,
        title=grid.title,
        caption=grid.caption,
        measure=grid.measure,
        experiment=grid.experiment,
        source=source,
        columns=(*grid.columns, *beside),
        blocks=tuple(_block(grid, paper, task, lookup, beside) for task in TASKS),
        smaller_is_better=grid.smaller_is_better,
        decimals=grid.decimals,
        std_decimals=grid.std_decimals,
        trials=TRIALS,
    )


def _block(
    grid: Grid, paper: Paper, task: Task, lookup: Lookup, beside: tuple[Column, ...]
) -> Block:
    rows, ranked = [], []
    for dataset in paper.of_task(task):
        cells = tuple(lookup(dataset.slug, column.method) for column in grid.columns)
        others = tuple(lookup(dataset.slug, column.method) for column in beside)
        ranks = ranking.bracket_ranks(cells, grid.smaller_is_better)
        rows.append(Row(dataset.slug, dataset.name, cells + others, ranks + (None,) * len(others)))
        ranked.append(cells)
    summaries = []
    for name in grid.summaries:
        line = _summary(grid, name, ranked)
        more = tuple(
            _beside(grid, name, [row.cells[len(grid.columns) + at] for row in rows])
            for at in range(len(beside))
        )
        summaries.append(replace(line, statistics=line.statistics + more))
    return Block(task, tuple(rows), tuple(summaries))


def _beside(grid: Grid, name: SummaryName, cells: Sequence[Cell]) -> Statistic:
    """A column that is not ranked has a mean and nothing else."""
    if name != "Mean":
        return Statistic()
    spread = grid.mean_spread == "trials"
    found = ranking.mean_over_datasets([(cell,) for cell in cells], False, spread)[0]
    return replace(found, rank=None)


def _summary(grid: Grid, name: SummaryName, rows: Sequence[Sequence[Cell]]) -> Summary:
    smaller = grid.smaller_is_better
    in_paper = name in grid.printed
    if name == "MRR":
        lines = ranking.mean_reciprocal_rank(rows, smaller)
        return Summary(name, tuple(lines), False, grid.summary_decimals, in_paper)
    if name == "MRD":
        lines = ranking.mean_relative_difference(rows, smaller)
        return Summary(name, tuple(lines), True, grid.summary_decimals, in_paper)
    if name == "Wins":
        return Summary(name, tuple(ranking.wins(rows, smaller)), False, 0, in_paper)
    lines = ranking.mean_over_datasets(
        [_without_omitted(grid, row) for row in rows], smaller, grid.mean_spread == "trials"
    )
    return Summary(name, tuple(lines), smaller, grid.summary_decimals, in_paper)


def _without_omitted(grid: Grid, row: Sequence[Cell]) -> list[Cell]:
    """The paper leaves a method out of Mean that has results on the easy half of the datasets."""
    return [
        Cell() if column.method in grid.mean_omits else cell
        for column, cell in zip(grid.columns, row, strict=True)
    ]


def mean_statistic(table: Table, task: Task, method: str) -> Statistic:
    """Mean over datasets of one column, also where the paper's Mean row omits it."""
    at = table.column(method)
    rows = [(row.cells[at],) for row in table.block(task).rows]
    return ranking.mean_over_datasets(rows, table.smaller_is_better)[0]
