"""What all runs took, beside what the authors' programs would have taken for the same runs."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.records.record import RunRecord
from experiments.tables.cells import Results
from experiments.tables.definitions import grids, method_name
from experiments.tables.model import Entry, Sheet, SheetColumn
from experiments.verdicts.paper import Paper

SECONDS_PER_HOUR = 3600.0
SAME_PROGRAM = {"gradtree-gumbel": "gradtree", "gradtree-annealed": "gradtree"}
"""Variants that the authors' program trains at much the same pace as the learner itself."""


@dataclass(frozen=True)
class Spent:
    """Runs of one learner that ended well; hours of the processor, and by the authors' runtimes.

    The authors' runtimes are printed for single runs on tuned hyperparameters: a training that
    was restarted counts as many times. ``None`` where the paper prints none for the learner.
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
    for attempts in results.attempts.values():
        for attempt in attempts:
            record = attempt.record
            if record is not None and record.status == "ok":
                by_method.setdefault(record.method, {})[record.key] = record
    known = [column.method for grid in grids().values() for column in grid.columns]
    order = [*dict.fromkeys(known), *sorted(by_method.keys() - set(known))]
    return [
        _spent(method, [found[key] for key in sorted(found)], paper)
        for method in order
        if (found := by_method.get(method))
    ]


def _spent(method: str, records: list[RunRecord], paper: Paper) -> Spent:
    printed = paper.cells["runtime"]
    program = SAME_PROGRAM.get(method, method)
    compared, theirs = [], 0.0
    for record in records:
        cell = printed.get((record.dataset, program))
        if cell is not None and cell.mean is not None:
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
        caption="Hours of fitting on one core, all protocols and experiments but the search; on "
        "the right for the runs whose runtime the paper prints, and those printed seconds for "
        "the same runs, times the number of restarted trainings (on a machine with a GPU)",
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
