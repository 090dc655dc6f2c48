"""Statistics over datasets of a grid of test F1: what differs significantly, and how surely.

A test over datasets needs every method on every dataset. DNDT has results on
the datasets with at most 12 features only, so there are two kinds of scope: all
datasets of a task without DNDT, and DNDT's datasets with all methods. Datasets
on which a method of the scope has no result are left out, and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from experiments.analysis import statistics
from experiments.analysis.model import (
    TASK_NAMES,
    TASKS,
    Entry,
    Row,
    Sheet,
    SheetColumn,
    Table,
    Task,
)
from experiments.analysis.ranking import shared_ranks
from experiments.analysis.statistics import FEWEST_DATASETS, Interval, PairTest, RankGroups

PARTIAL_METHOD = "dndt"


@dataclass(frozen=True)
class Comparison:
    """All methods of a scope on the datasets that all of them have.

    ``scope`` is ``binary``, ``multi``, ``all`` or ``dndt`` (its datasets, with it).
    """

    table: str
    scope: str
    title: str
    datasets: tuple[str, ...]
    left_out: tuple[str, ...]
    ranks: RankGroups
    pairs: tuple[PairTest, ...]


@dataclass(frozen=True)
class MethodInterval:
    """Bootstrap intervals over datasets for one method of one task."""

    task: Task
    method: str
    mean: Interval
    mrr: Interval
    n: int


def comparisons(table: Table) -> list[Comparison]:
    """Every scope of which at least a handful of datasets is complete."""
    everywhere = [column.method for column in table.columns if column.method != PARTIAL_METHOD]
    scopes: list[tuple[str, str, list[Row], list[str]]] = [
        (task, f"{TASK_NAMES[task]} datasets", list(table.block(task).rows), everywhere)
        for task in TASKS
    ]
    rows = [row for block in table.blocks for row in block.rows]
    scopes.append(("all", "All datasets", rows, everywhere))
    if PARTIAL_METHOD in [column.method for column in table.columns]:
        at = table.column(PARTIAL_METHOD)
        small = [row for row in rows if row.cells[at].mean is not None]
        scopes.append(
            ("dndt", "Datasets of DNDT", small, [column.method for column in table.columns])
        )
    found = [_comparison(table, *scope) for scope in scopes]
    return [comparison for comparison in found if comparison is not None]


def _comparison(
    table: Table, scope: str, title: str, rows: Sequence[Row], methods: Sequence[str]
) -> Comparison | None:
    columns = [table.column(method) for method in methods]
    scores, datasets, left_out = [], [], []
    for row in rows:
        values = [row.cells[at].mean for at in columns]
        present = [value for value in values if value is not None]
        if len(present) == len(values):
            scores.append(present)
            datasets.append(row.dataset)
        else:
            left_out.append(row.dataset)
    if len(datasets) < FEWEST_DATASETS or len(methods) < 3:
        return None
    return Comparison(
        table.name,
        scope,
        title,
        tuple(datasets),
        tuple(left_out),
        statistics.rank_groups(scores, methods, smaller_is_better=table.smaller_is_better),
        statistics.wilcoxon_holm(scores, methods),
    )


def intervals(table: Table) -> list[MethodInterval]:
    """Bootstrap intervals of Mean and MRR as the paper defines them, per task and method."""
    found = []
    for block in table.blocks:
        ranks = [shared_ranks(row.cells, table.smaller_is_better) for row in block.rows]
        for at, column in enumerate(table.columns):
            scores = [row.cells[at].mean for row in block.rows]
            values = [score for score in scores if score is not None]
            reciprocals = [1 / rank for line in ranks if (rank := line[at]) is not None]
            if len(values) >= FEWEST_DATASETS:
                found.append(
                    MethodInterval(
                        block.task,
                        column.method,
                        statistics.bootstrap(values),
                        statistics.bootstrap(reciprocals),
                        len(values),
                    )
                )
    return found


def pairs_sheet(table: Table, compared: Sequence[Comparison]) -> Sheet:
    """Wilcoxon's test of every pair of methods, corrected by Holm within a scope."""
    names = {column.method: column.name for column in table.columns}
    rows: list[tuple[Entry, ...]] = [
        (
            comparison.title,
            names[pair.first],
            names[pair.second],
            len(comparison.datasets),
            pair.mean_difference,
            pair.wins,
            pair.losses,
            pair.p_value,
            pair.p_adjusted,
        )
        for comparison in compared
        for pair in comparison.pairs
    ]
    return Sheet(
        name=f"{table.name}-pairs",
        title=f"{table.title}: pairs of methods",
        caption=f"{table.caption}: Wilcoxon signed-rank tests over datasets, p-values with "
        "Holm's correction",
        source=table.source,
        columns=(
            SheetColumn("Scope"),
            SheetColumn("Method"),
            SheetColumn("Other"),
            SheetColumn("datasets", 0),
            SheetColumn("mean difference"),
            SheetColumn("better", 0),
            SheetColumn("worse", 0),
            SheetColumn("p", kind="p"),
            SheetColumn("p (Holm)", kind="p"),
        ),
        rows=tuple(rows),
    )


def ranks_sheet(table: Table, compared: Sequence[Comparison]) -> Sheet:
    """Average ranks, the groups that Wilcoxon's tests do not tell apart, and Friedman's test."""
    names = {column.method: column.name for column in table.columns}
    rows: list[tuple[Entry, ...]] = []
    for comparison in compared:
        found = comparison.ranks
        ranks = dict(zip(found.methods, found.average_ranks, strict=True))
        rows.append(
            (
                comparison.title,
                found.n_datasets,
                *(ranks.get(column.method) for column in table.columns),
                "; ".join(", ".join(names[each] for each in group) for group in found.groups)
                or "none",
                found.friedman.p_value,
            )
        )
    return Sheet(
        name=f"{table.name}-ranks",
        title=f"{table.title}: average ranks",
        caption=f"{table.caption}: average ranks (1 is best), the groups of methods in which no "
        "pair differs significantly (Wilcoxon's test with Holm's correction, level "
        f"{statistics.LEVEL:g}), and the p-value of Friedman's test (Iman-Davenport)",
        source=table.source,
        columns=(
            SheetColumn("Scope"),
            SheetColumn("datasets", 0),
            *(SheetColumn(column.name, 2) for column in table.columns),
            SheetColumn("not told apart"),
            SheetColumn("p (Friedman)", kind="p"),
        ),
        rows=tuple(rows),
    )


def intervals_sheet(table: Table) -> Sheet:
    """Mean and MRR with 95 % bootstrap intervals over datasets."""
    names = {column.method: column.name for column in table.columns}
    rows: list[tuple[Entry, ...]] = [
        (
            names[each.method],
            TASK_NAMES[each.task],
            each.n,
            *(each.mean.estimate, each.mean.low, each.mean.high),
            *(each.mrr.estimate, each.mrr.low, each.mrr.high),
        )
        for each in intervals(table)
    ]
    return Sheet(
        name=f"{table.name}-intervals",
        title=f"{table.title}: intervals",
        caption=f"{table.caption}: mean and MRR with 95 % bootstrap intervals over datasets",
        source=table.source,
        columns=(
            SheetColumn("Method"),
            SheetColumn("Task"),
            SheetColumn("datasets", 0),
            *(
                SheetColumn(name, group=group)
                for group in ("Mean", "MRR")
                for name in ("estimate", "low", "high")
            ),
        ),
        rows=tuple(rows),
    )
