"""Runtimes of two machines made comparable: every method relative to one of them."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.tables.model import TASK_NAMES, TASKS, Entry, Sheet, SheetColumn, Table, Task
from experiments.tables.ranking import mean_of

REFERENCE = "gradtree"


def runtime_sheet(ours: Mapping[str, Table], paper: Mapping[str, Table]) -> Sheet:
    """Mean seconds over datasets, and as a multiple of GradTree's on the same datasets."""
    mine, theirs = ours["runtime"], paper["runtime"]
    rows: list[tuple[Entry, ...]] = []
    for task in TASKS:
        for column in mine.columns:
            seconds, multiple = relative_seconds(mine, task, column.method)
            printed, printed_multiple = relative_seconds(theirs, task, column.method)
            rows.append(
                (column.name, TASK_NAMES[task], seconds, printed, multiple, printed_multiple)
            )
    return Sheet(
        name="runtime-ratios",
        title="Runtime relative to GradTree",
        caption="Mean seconds over the datasets a method finished, and the same divided by "
        "GradTree's mean over these datasets; the paper's machine had a GPU",
        source=mine.source,
        columns=(
            SheetColumn("Method"),
            SheetColumn("Task"),
            SheetColumn("ours", 2, group="Seconds"),
            SheetColumn("paper", 2, group="Seconds"),
            SheetColumn("ours", 4, group="Relative to GradTree"),
            SheetColumn("paper", 4, group="Relative to GradTree"),
        ),
        rows=tuple(rows),
    )


def relative_seconds(table: Table, task: Task, method: str) -> tuple[float | None, float | None]:
    """Mean seconds of a method, and divided by the reference on the datasets both finished."""
    own, reference = table.column(method), table.column(REFERENCE)
    all_seconds, shared, shared_reference = [], [], []
    for row in table.block(task).rows:
        seconds, yardstick = row.cells[own].mean, row.cells[reference].mean
        if seconds is not None:
            all_seconds.append(seconds)
            if yardstick is not None:
                shared.append(seconds)
                shared_reference.append(yardstick)
    mean = mean_of(all_seconds) if all_seconds else None
    if not shared or not any(shared_reference):
        return mean, None
    return mean, mean_of(shared) / mean_of(shared_reference)
