"""What scores hang on: the label leak of protocol ``paper``, and roundings.

The protocols ``paper`` and ``clean`` differ in more than the leak (stratified
splits, cross-fitted encoding, rebalancing), and every learner is trained anew
under both, so the differences are those of the whole protocol. The leak itself
can act only where there are categorical columns; changes are therefore shown for
datasets with and without them.

Training in single precision follows the order in which numbers are added. Where
two features tie, the last digit decides, and another processor may end in another
tree. The experiment ``firmness`` fits every tuned trial anew with training rows
moved by about one unit of float32, a few times with other draws. A trial is firm
if its test F1 is the same to the last digit in all of these refits, and a cell is
fragile if one of its trials is not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from experiments.analysis.grids import Results
from experiments.analysis.model import TASK_NAMES, TASKS, Entry, Sheet, SheetColumn, Table, Task
from experiments.analysis.paper import Paper
from experiments.analysis.ranking import OrderChange, mean_of, order_change
from experiments.analysis.statistics import wilcoxon
from experiments.core.job import PERTURBATION
from experiments.core.record import RunRecord

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


EXPERIMENT, METHOD = "firmness", "gradtree"
REFITS = 5
MARKED = ("test-f1-tuned", "ablation-tuned")
"""Tables whose cells are test F1 of tuned GradTree."""


@dataclass(frozen=True)
class Firmness:
    """One cell: trials with every refit, those that keep their score, and the largest move."""

    dataset: str
    trials: int
    firm: int
    largest_move: float

    @property
    def fragile(self) -> bool:
        return self.firm < self.trials


def firmness(
    results: Results, records: Iterable[RunRecord], paper: Paper, protocol: str = "paper"
) -> list[Firmness]:
    """Every dataset of which a trial has all its refits.

    Refits belong to the tuned run of the same data, versions and parameters; those of an
    older version belong to none.
    """
    refits: dict[tuple[str, int, int], dict[int, RunRecord]] = {}
    for record in records:
        if (
            record.status == "ok"
            and (record.protocol, record.method) == (protocol, METHOD)
            and record.params.get(PERTURBATION)
        ):
            place = (record.dataset, record.trial, record.seed)
            refits.setdefault(place, {})[int(record.params[PERTURBATION])] = record
    found = []
    for dataset in paper.datasets:
        moves = []
        for attempt in results.attempts.get((protocol, "tuned", dataset.slug, METHOD), ()):
            place = (dataset.slug, attempt.trial, attempt.seed)
            moves += _moves(attempt.record, list(refits.get(place, {}).values()))
        if moves:
            firm = sum(move == 0 for move in moves)
            found.append(Firmness(dataset.slug, len(moves), firm, max(moves)))
    return found


def _moves(fit: RunRecord | None, refits: Sequence[RunRecord]) -> list[float]:
    """How far the farthest refit of a trial is off; nothing before all have been made."""
    if fit is None or fit.test_f1 is None:
        return []
    own = [each.test_f1 for each in refits if each.test_f1 is not None and _same_job(fit, each)]
    if len(own) < REFITS:
        return []
    return [max(abs(score - fit.test_f1) for score in own)]


def _same_job(fit: RunRecord, refit: RunRecord) -> bool:
    return _identity(fit) == _identity(refit)


def _identity(record: RunRecord) -> tuple[object, ...]:
    params = {name: value for name, value in record.params.items() if name != PERTURBATION}
    versions = (record.content_hash, record.protocol_version, record.method_version)
    return (*versions, params)


def marked(tables: Mapping[str, Table], found: Sequence[Firmness]) -> dict[str, Table]:
    """The tables with the number of firm trials in the cells of tuned GradTree."""
    firm = {each.dataset: each for each in found}
    return {
        name: _marked(table, firm) if name in MARKED and firm else table
        for name, table in tables.items()
    }


def _marked(table: Table, firm: Mapping[str, Firmness]) -> Table:
    at = table.column(METHOD)
    blocks = []
    for block in table.blocks:
        rows = []
        for row in block.rows:
            known = firm.get(row.dataset)
            cells = list(row.cells)
            if known is not None and cells[at].mean is not None:
                cells[at] = replace(cells[at], firm=known.firm, refitted=known.trials)
            rows.append(replace(row, cells=tuple(cells)))
        blocks.append(replace(block, rows=tuple(rows)))
    return replace(table, blocks=tuple(blocks))


def firmness_sheet(found: Sequence[Firmness], paper: Paper, source: str) -> Sheet:
    """One row per tuned GradTree cell."""
    datasets = {dataset.slug: dataset for dataset in paper.datasets}
    rows: list[tuple[Entry, ...]] = [
        (
            datasets[each.dataset].name,
            TASK_NAMES[datasets[each.dataset].task],
            each.trials,
            each.firm,
            each.largest_move,
            "fragile" if each.fragile else "firm",
        )
        for each in found
    ]
    return Sheet(
        name=EXPERIMENT,
        title="Firm and fragile trials",
        caption=f"Tuned GradTree, every trial fitted {REFITS} more times with training rows moved "
        "by about one unit of float32: trials that keep their test F1 in all refits, and the "
        "largest change of test F1",
        source=source,
        columns=(
            SheetColumn("Dataset"),
            SheetColumn("Task"),
            SheetColumn("trials", 0),
            SheetColumn("firm", 0),
            SheetColumn("largest change"),
            SheetColumn("cell"),
        ),
        rows=tuple(rows),
    )
