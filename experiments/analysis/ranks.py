"""Ranks within a dataset, and what the paper makes of them over datasets.

The rank in brackets breaks ties in column order; MRR is the mean of 1/rank where ties share the
better rank; MRD is the mean of (best - x) / x, from means rounded to the printed digits; the
deviations of MRR, MRD and Mean are sample deviations over datasets.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from experiments.analysis.answer import Grid
from experiments.analysis.declared import Declared

MRD_DECIMALS = 3
AS_PRINTED = "paper, as printed"
"""The protocol of a table of the paper's own numbers."""
Cell = Mapping[str, Any]
EMPTY: Cell = {"mean": math.nan, "std": math.nan, "n": 0, "expected": 0, "missing": ""}
SUMMARY_COLUMNS = ("task", "statistic", "method", "value", "spread", "n", "rank")


def mean_of(values: Sequence[float]) -> float:
    """The correctly rounded mean, whatever the order of the values (so that ties are ties)."""
    return math.fsum(values) / len(values)


def population_std(values: Sequence[float]) -> float:
    centre = mean_of(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / len(values))


def sample_std(values: Sequence[float]) -> float:
    """NaN for a single value."""
    if len(values) < 2:
        return math.nan
    return population_std(values) * math.sqrt(len(values) / (len(values) - 1))


def has(cell: Cell) -> bool:
    return not math.isnan(cell["mean"])


def _standing(cell: Cell, smaller: bool) -> tuple[float, float]:
    """Sort key, best first. The paper ranked unrounded means: where two only print alike, its
    rank decides."""
    return (cell["mean"] if smaller else -cell["mean"], cell.get("rank", 0))


def bracket_ranks(row: Sequence[Cell], smaller: bool = False) -> list[int | None]:
    """1 for the best; equal cells are ranked in column order."""
    order = sorted((_standing(cell, smaller), at) for at, cell in enumerate(row) if has(cell))
    rank = {at: place for place, (_, at) in enumerate(order, start=1)}
    return [rank.get(at) for at in range(len(row))]


def shared_ranks(row: Sequence[Cell], smaller: bool = False) -> list[int | None]:
    """1 for the best; equal cells share the better rank (1, 1, 3)."""
    standings = [_standing(cell, smaller) if has(cell) else None for cell in row]
    known = [each for each in standings if each is not None]
    return [None if s is None else 1 + sum(other < s for other in known) for s in standings]


def relative_differences(row: Sequence[Cell], smaller: bool = False) -> list[float | None]:
    """How far each cell is behind the best, relative to itself, as printed."""
    rounded = [round(cell["mean"], MRD_DECIMALS) if has(cell) else None for cell in row]
    known = [value for value in rounded if value is not None]
    best = (min if smaller else max)(known, default=0.0)
    return [
        None if x is None else 0.0 if x == best else abs(best - x) / x if x else math.inf
        for x in rounded
    ]


def over_datasets(values: Iterable[float | None]) -> dict[str, Any]:
    """Mean, sample deviation and number of the known values."""
    known = [value for value in values if value is not None and not math.isnan(value)]
    if not known:
        return {"value": math.nan, "spread": math.nan, "n": 0}
    if math.inf in known:
        return {"value": math.inf, "spread": math.nan, "n": len(known)}
    return {"value": mean_of(known), "spread": sample_std(known), "n": len(known)}


def summary_line(
    table: Declared,
    name: str,
    block: Sequence[Sequence[Cell]],
    methods: Sequence[str],
    beside: Sequence[str],
) -> list[dict[str, Any]]:
    """One summary line: a statistic with its rank per column. Columns beside have a Mean alone."""
    ranked = [row[: len(methods)] for row in block]
    smaller = table.smaller
    if name == "Mean":
        columns = list(zip(*block, strict=True)) or [()] * (len(methods) + len(beside))
        omitted = [method in table.mean_omits for method in (*methods, *beside)]
        line = [
            over_datasets(() if omit else [cell["mean"] for cell in column])
            for column, omit in zip(columns, omitted, strict=True)
        ]
        if table.mean_spread == "trials":
            for statistic, column in zip(line, columns, strict=True):
                stds = [cell["std"] for cell in column if not math.isnan(cell["std"])]
                statistic["spread"] = mean_of(stds) if stds and statistic["n"] else math.nan
    else:
        per_row = {"MRR": shared_ranks, "Wins": shared_ranks, "MRD": relative_differences}[name]
        values = [per_row(row, smaller) for row in ranked]
        columns = list(zip(*values, strict=True)) or [()] * len(methods)
        if name == "Wins":
            line = [wins(column) for column in columns]
        elif name == "MRR":
            line = [over_datasets(None if r is None else 1 / r for r in c) for c in columns]
        else:
            line = [over_datasets(column) for column in columns]
        line += [over_datasets(()) for _ in beside]
    direction = {"Mean": smaller, "MRD": True}.get(name, False)
    standing = [{"mean": statistic["value"]} for statistic in line[: len(methods)]]
    ranks = bracket_ranks(standing, direction) + [None] * len(beside)
    return [{**statistic, "rank": rank} for statistic, rank in zip(line, ranks, strict=True)]


def wins(ranks: Sequence[float | None]) -> dict[str, Any]:
    """Datasets on which no other learner is better, and those it has a result on."""
    known = [rank for rank in ranks if rank is not None]
    won = float(sum(rank == 1 for rank in known)) if known else math.nan
    return {"value": won, "spread": math.nan, "n": len(known)}


def contributions(table: Grid, task: str, statistic: str) -> pd.DataFrame:
    """What each dataset adds to a summary line (Mean, MRR or MRD): datasets x methods."""
    frame = table.frame[table.frame["task"] == task]
    if statistic == "Mean":
        means = frame.pivot(index="dataset", columns="method", values="mean")
        return means.reindex(index=frame["dataset"].unique(), columns=list(table.methods))
    ranked = frame["mean"].where(frame["rank"].notna())
    ties = frame["rank"] if table.protocol == AS_PRINTED else frame["rank"] * 0
    lines: dict[str, list[Cell]] = {}
    for slug, mean, tie in zip(frame["dataset"], ranked, ties, strict=True):
        lines.setdefault(slug, []).append({"mean": mean, "rank": tie})
    values = []
    for row in lines.values():
        if statistic == "MRR":
            ranks = shared_ranks(row, table.smaller_is_better)
            values.append([math.nan if rank is None else 1 / rank for rank in ranks])
        else:
            values.append([math.nan if d is None else d for d in relative_differences(row)])
    return pd.DataFrame(values, index=list(lines), columns=list(table.methods))
