"""The paper's tables of tuned hyperparameters, and beside them what our search found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.tables.definitions import method_name
from experiments.tables.model import Entry, Sheet, SheetColumn
from experiments.verdicts.paper import TUNED_METHODS, Paper

Searched = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""method -> dataset -> parameter -> value"""


def hyperparameter_sheet(method: str, paper: Paper, searched: Searched) -> Sheet:
    """Published values of every dataset; further columns for ours where a search was run.

    The learners' own parameter names differ from the printed ones (``loss`` and
    ``polyLoss`` of the paper are one argument of an estimator, say), so ours stand under
    their own names.
    """
    published = paper.hyperparameters[method]
    ours = searched.get(method, {})
    names = list(next(iter(published.values())))
    our_names = sorted({name for values in ours.values() for name in values})
    rows: list[tuple[Entry, ...]] = []
    for dataset in paper.datasets:
        if dataset.slug not in published:
            continue
        found = ours.get(dataset.slug)
        mine: list[Entry] = [None if found is None else _text(found.get(key)) for key in our_names]
        rows.append((dataset.name, *(published[dataset.slug][name] for name in names), *mine))
    return Sheet(
        name=f"hyperparameters-{method}",
        title=f"Hyperparameters of {method_name(method)}",
        caption=f"Tuned hyperparameters of {method_name(method)}"
        + (", published and found by our search" if ours else ", as published"),
        source="paper, as printed" + (" and our search" if ours else ""),
        columns=(
            SheetColumn("Dataset"),
            *(SheetColumn(name, group="Published" if ours else "") for name in names),
            *(SheetColumn(name, group="Ours") for name in our_names),
        ),
        rows=tuple(rows),
    )


def hyperparameter_sheets(paper: Paper, searched: Searched) -> list[Sheet]:
    return [hyperparameter_sheet(method, paper, searched) for method in TUNED_METHODS]


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
