"""The same tables without the label leak: what changes from protocol ``paper`` to ``clean``.

The protocols differ in more than the leak (stratified splits, cross-fitted
encoding, rebalancing), and every learner is trained anew under both, so the
differences are those of the whole protocol. The leak itself can act only where
there are categorical columns; changes are therefore shown for datasets with and
without them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from experiments.analysis.model import TASKS, Table, Task
from experiments.analysis.ranking import OrderChange, mean_of, order_change
from experiments.analysis.statistics import wilcoxon

MOVED = 0.01
"""A difference of mean F1 that is worth counting as a gain or a loss."""


@dataclass(frozen=True)
class Change:
    """One method on one dataset under both protocols; ``categorical`` tells of columns that
    could leak."""

    table: str
    task: Task
    dataset: str
    method: str
    categorical: bool
    paper: float | None
    clean: float | None

    @property
    def difference(self) -> float | None:
        if self.paper is None or self.clean is None:
            return None
        return self.clean - self.paper


@dataclass(frozen=True)
class MethodChange:
    """One method over some datasets: mean change, gains, losses, Wilcoxon's p."""

    method: str
    n: int
    mean: float
    gains: int
    losses: int
    p_value: float


@dataclass(frozen=True)
class RankingChange(OrderChange):
    """The methods of one task ordered by MRR under ``paper`` and under ``clean``."""

    table: str
    task: Task


def changes(paper: Table, clean: Table, categorical: Collection[str]) -> list[Change]:
    """Every cell of a table under both protocols, in the table's order.

    A cell with some of its trials only has no place here: the trials differ in their splits.
    """
    return [
        Change(
            paper.name,
            block.task,
            row.dataset,
            column.method,
            row.dataset in categorical,
            None if before.partial else before.mean,
            None if after.partial else after.mean,
        )
        for block, clean_block in zip(paper.blocks, clean.blocks, strict=True)
        for row, clean_row in zip(block.rows, clean_block.rows, strict=True)
        for column, before, after in zip(paper.columns, row.cells, clean_row.cells, strict=True)
    ]


def method_changes(found: Sequence[Change]) -> list[MethodChange]:
    """Summaries by method, in the order of their first appearance."""
    by_method: dict[str, list[float]] = {}
    for change in found:
        differences = by_method.setdefault(change.method, [])
        if change.difference is not None:
            differences.append(change.difference)
    return [
        MethodChange(
            method,
            len(values),
            mean_of(values),
            sum(value >= MOVED for value in values),
            sum(value <= -MOVED for value in values),
            wilcoxon(values),
        )
        for method, values in by_method.items()
        if values
    ]


def ranking_change(paper: Table, clean: Table, task: Task) -> RankingChange | None:
    """Both orders over the datasets whose row is complete under both protocols."""
    before_rows, after_rows = [], []
    for row, clean_row in zip(paper.block(task).rows, clean.block(task).rows, strict=True):
        finished = [
            not (cell.pending or other.pending) and (cell.mean is None) == (other.mean is None)
            for cell, other in zip(row.cells, clean_row.cells, strict=True)
        ]
        if all(finished):
            before_rows.append(row.cells)
            after_rows.append(clean_row.cells)
    if not before_rows:
        return None
    found = order_change(before_rows, after_rows, [column.method for column in paper.columns])
    return RankingChange(found.before, found.after, found.datasets, paper.name, task)


def ranking_changes(paper: Table, clean: Table) -> list[RankingChange]:
    found = [ranking_change(paper, clean, task) for task in TASKS]
    return [change for change in found if change is not None]
