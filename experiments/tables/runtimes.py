"""Runtimes of two machines made comparable: every method relative to CART and to DL8.5."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.tables.model import TASK_NAMES, TASKS, Entry, Sheet, SheetColumn, Table, Task
from experiments.tables.ranking import mean_of

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
        caption="Mean seconds over the datasets a method finished, and the same divided by "
        "the mean of CART and of DL8.5 over the datasets both finished; the paper's machine had "
        "a GPU",
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
