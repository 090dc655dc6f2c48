"""What runs cost: hours spent, runtimes relative to CART and DL8.5."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from experiments.analysis.grids import Results
from experiments.analysis.model import (
    TASK_NAMES,
    TASKS,
    Entry,
    Sheet,
    SheetColumn,
    Table,
    Task,
)
from experiments.analysis.paper import Paper, grids, method_name
from experiments.analysis.ranking import mean_of
from experiments.analysis.small_trees import READINGS
from experiments.core.record import RunRecord

SECONDS_PER_HOUR = 3600.0
SAME_PROGRAM = dict.fromkeys(
    ("gradtree-gumbel", "gradtree-gumbel-proper", "gradtree-annealed"), "gradtree"
)
"""Variants that the authors' program trains at much the same pace as the learner itself."""


@dataclass(frozen=True)
class Spent:
    """Runs of one learner that ended well; hours of the processor, and by the authors' runtimes.

    The authors' runtimes are printed for single runs on tuned hyperparameters: a training that
    was restarted counts as many times, and what only the experiments of small trees use is not
    compared. ``None`` where the paper prints none for the learner.
    """

    method: str
    runs: int
    hours: float
    compared_runs: int
    compared_hours: float
    authors_hours: float | None


def spent(results: Results, paper: Paper) -> list[Spent]:
    """One entry per learner, of all protocols and experiments; a shared run counts once."""
    by_method: dict[str, dict[str, RunRecord]] = {}
    compared = set()
    for (_, experiment, _, _), attempts in results.attempts.items():
        for attempt in attempts:
            record = attempt.record
            if record is not None and record.status == "ok":
                by_method.setdefault(record.method, {})[record.key] = record
                if experiment not in READINGS:
                    compared.add(record.key)
    known = [column.method for grid in grids().values() for column in grid.columns]
    order = [*dict.fromkeys(known), *sorted(by_method.keys() - set(known))]
    return [
        _spent(method, [found[key] for key in sorted(found)], compared, paper)
        for method in order
        if (found := by_method.get(method))
    ]


def _spent(method: str, records: list[RunRecord], comparable: set[str], paper: Paper) -> Spent:
    printed = paper.cells["runtime"]
    program = SAME_PROGRAM.get(method, method)
    compared, theirs = [], 0.0
    for record in records:
        cell = printed.get((record.dataset, program))
        if cell is not None and cell.mean is not None and record.key in comparable:
            compared.append(record)
            theirs += cell.mean * (1 + int(record.params.get("restarts") or 0))
    return Spent(
        method,
        len(records),
        _hours(records),
        len(compared),
        _hours(compared),
        theirs / SECONDS_PER_HOUR if compared else None,
    )


def _hours(records: list[RunRecord]) -> float:
    return sum(record.cpu_seconds or 0.0 for record in records) / SECONDS_PER_HOUR


def compute_sheet(results: Results, paper: Paper) -> Sheet:
    """Core-hours per learner, ours and by the paper's runtimes."""
    rows: list[tuple[Entry, ...]] = []
    for one in spent(results, paper):
        ours = one.compared_hours if one.authors_hours is not None else None
        rows.append((method_name(one.method), one.runs, one.hours, ours, one.authors_hours))
    return Sheet(
        name="compute",
        title="Compute spent",
        caption="Hours of fitting on one core, over all protocols and experiments except the "
        "search. On the right, only runs whose runtime the paper prints: our hours, and the "
        "printed seconds times the number of restarts (on a machine with a GPU)",
        source="paper",
        columns=(
            SheetColumn("Method"),
            SheetColumn("runs", 0),
            SheetColumn("hours", 3),
            SheetColumn("ours", 3, group="Hours for the same runs"),
            SheetColumn("authors", 3, group="Hours for the same runs"),
        ),
        rows=tuple(rows),
    )


REFERENCES = {"cart": "CART", "dl85": "DL8.5"}


def runtime_sheet(ours: Mapping[str, Table], paper: Mapping[str, Table]) -> Sheet:
    """Mean seconds over datasets, and as multiples of CART's and DL8.5's on the same datasets."""
    mine, theirs = ours["runtime"], paper["runtime"]
    rows: list[tuple[Entry, ...]] = []
    for task in TASKS:
        for column in mine.columns:
            row: list[Entry] = [column.name, TASK_NAMES[task]]
            row += [mean_seconds(table, task, column.method) for table in (mine, theirs)]
            for reference in REFERENCES:
                row += [multiple(table, task, column.method, reference) for table in (mine, theirs)]
            rows.append(tuple(row))
    return Sheet(
        name="runtime-ratios",
        title="Runtime relative to CART and DL8.5",
        caption="Mean seconds over the datasets that a method finished, and these relative to CART "
        "and to DL8.5 over the datasets that both finished; the paper's machine had a GPU",
        source=mine.source,
        columns=(
            SheetColumn("Method"),
            SheetColumn("Task"),
            SheetColumn("ours", 2, group="Seconds"),
            SheetColumn("paper", 2, group="Seconds"),
            *(
                SheetColumn(source, 3, group=f"Relative to {name}")
                for name in REFERENCES.values()
                for source in ("ours", "paper")
            ),
        ),
        rows=tuple(rows),
    )


def mean_seconds(table: Table, task: Task, method: str) -> float | None:
    """Mean over the datasets that a method finished."""
    own = table.column(method)
    found = [row.cells[own].mean for row in table.block(task).rows]
    seconds = [value for value in found if value is not None]
    return mean_of(seconds) if seconds else None


def multiple(table: Table, task: Task, method: str, reference: str) -> float | None:
    """Mean seconds of a method divided by another's, over the datasets that both finished."""
    own, other = table.column(method), table.column(reference)
    pairs = [
        (row.cells[own].mean or 0.0, row.cells[other].mean or 0.0)
        for row in table.block(task).rows
        if row.cells[own].mean is not None and row.cells[other].mean is not None
    ]
    if not any(seconds for _, seconds in pairs):
        return None
    return mean_of([mine for mine, _ in pairs]) / mean_of([theirs for _, theirs in pairs])
