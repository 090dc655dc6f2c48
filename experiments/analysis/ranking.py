"""Ranks within a dataset and what the paper makes of them over datasets.

A row is a sequence of cells, one per method; methods without a result are not
ranked and take part in no average. All statistics are those of the paper:

- the rank in brackets breaks ties in column order;
- MRR is the mean of 1/rank where ties share the better rank;
- MRD is the mean of (best - x) / x, from means rounded to the printed digits;
- the deviations of MRR, MRD and Mean are sample deviations over datasets.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from experiments.analysis.model import Cell, Statistic

T = TypeVar("T")
Cells = Sequence[Cell]
MRD_DECIMALS = 3


def mean_of(values: Sequence[float]) -> float:
    """The correctly rounded mean, whatever the order of the values (so that ties are ties)."""
    return math.fsum(values) / len(values)


def population_std(values: Sequence[float]) -> float:
    centre = mean_of(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / len(values))


def sample_std(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    return population_std(values) * math.sqrt(len(values) / (len(values) - 1))


def bracket_ranks(cells: Cells, smaller_is_better: bool = False) -> tuple[int | None, ...]:
    """1 for the best; equal cells are ranked in column order."""
    order = sorted(
        (_standing(cell, smaller_is_better), at)
        for at, cell in enumerate(cells)
        if cell.mean is not None
    )
    rank = {at: place for place, (_, at) in enumerate(order, start=1)}
    return tuple(rank.get(at) for at in range(len(cells)))


def shared_ranks(cells: Cells, smaller_is_better: bool = False) -> tuple[int | None, ...]:
    """1 for the best; equal cells share the better rank (1, 1, 3)."""
    standings = [
        None if cell.mean is None else _standing(cell, smaller_is_better) for cell in cells
    ]
    ranked = [standing for standing in standings if standing is not None]
    return tuple(
        None if mine is None else 1 + sum(other < mine for other in ranked) for mine in standings
    )


def _standing(cell: Cell, smaller_is_better: bool) -> tuple[float, int]:
    """Sort key, best first. The paper's rank decides between means that only print alike."""
    assert cell.mean is not None
    return (cell.mean if smaller_is_better else -cell.mean, cell.printed_rank)


def mean_reciprocal_rank(rows: Sequence[Cells], smaller_is_better: bool = False) -> list[Statistic]:
    reciprocals = [
        [None if rank is None else 1 / rank for rank in shared_ranks(row, smaller_is_better)]
        for row in rows
    ]
    return _ranked([_over_datasets(column) for column in _columns(reciprocals)], smaller=False)


def mean_relative_difference(
    rows: Sequence[Cells], smaller_is_better: bool = False
) -> list[Statistic]:
    differences = [_relative_differences(row, smaller_is_better) for row in rows]
    return _ranked([_over_datasets(column) for column in _columns(differences)], smaller=True)


def _relative_differences(row: Cells, smaller_is_better: bool) -> list[float | None]:
    rounded = [None if cell.mean is None else round(cell.mean, MRD_DECIMALS) for cell in row]
    present = [value for value in rounded if value is not None]
    if not present:
        return [None for _ in row]
    best = min(present) if smaller_is_better else max(present)
    return [None if value is None else _relative(best, value) for value in rounded]


def _relative(best: float, value: float) -> float:
    if value == best:
        return 0.0
    return abs(best - value) / value if value else math.inf


def wins(rows: Sequence[Cells], smaller_is_better: bool = False) -> list[Statistic]:
    """Datasets on which no other method is better."""
    ranks = _columns([shared_ranks(row, smaller_is_better) for row in rows])
    return _ranked(
        [
            Statistic(
                float(sum(rank == 1 for rank in column)) if any(column) else None,
                n=sum(rank is not None for rank in column),
            )
            for column in ranks
        ],
        smaller=False,
    )


def mean_over_datasets(
    rows: Sequence[Cells], smaller_is_better: bool = False, spread_between_trials: bool = False
) -> list[Statistic]:
    """Mean of the cells' means; the spread is between datasets, or the mean one of the trials."""
    statistics = []
    for column in _columns(rows):
        statistic = _over_datasets([cell.mean for cell in column])
        if spread_between_trials:
            deviations = [cell.std for cell in column if cell.std is not None]
            spread = mean_of(deviations) if deviations else None
            statistic = Statistic(statistic.value, spread, statistic.n)
        statistics.append(statistic)
    return _ranked(statistics, smaller_is_better)


def _over_datasets(column: Iterable[float | None]) -> Statistic:
    present = [value for value in column if value is not None]
    if not present:
        return Statistic()
    if math.inf in present:
        return Statistic(math.inf, None, len(present))
    return Statistic(mean_of(present), sample_std(present), len(present))


def _columns(rows: Sequence[Sequence[T]]) -> list[list[T]]:
    return [list(column) for column in zip(*rows, strict=True)]


def _ranked(statistics: Sequence[Statistic], smaller: bool) -> list[Statistic]:
    ranks = bracket_ranks([Cell(mean=statistic.value) for statistic in statistics], smaller)
    return [
        Statistic(statistic.value, statistic.spread, statistic.n, rank)
        for statistic, rank in zip(statistics, ranks, strict=True)
    ]


@dataclass(frozen=True)
class OrderChange:
    """The methods ordered by MRR before and after something, on the same datasets."""

    before: tuple[tuple[str, float], ...]
    after: tuple[tuple[str, float], ...]
    datasets: int

    @property
    def leader_survives(self) -> bool:
        return bool(self.before) and self.before[0][0] == self.after[0][0]

    @property
    def order_survives(self) -> bool:
        return [method for method, _ in self.before] == [method for method, _ in self.after]


def order_change(
    before: Sequence[Cells], after: Sequence[Cells], methods: Sequence[str]
) -> OrderChange:
    """Both orders; a method without a result on these datasets is left out."""
    orders = []
    for rows in (before, after):
        scores = [
            (method, statistic.value)
            for method, statistic in zip(methods, mean_reciprocal_rank(rows), strict=True)
            if statistic.value is not None
        ]
        orders.append(tuple(sorted(scores, key=lambda each: -each[1])))
    return OrderChange(orders[0], orders[1], len(before))
