"""Scores with the hyperparameters of our own search beside those with the published ones."""

from __future__ import annotations

from collections.abc import Iterable

from experiments.tables.cells import Results
from experiments.tables.definitions import method_name
from experiments.tables.model import TASK_NAMES, TASKS, Cell, Entry, Sheet, SheetColumn
from experiments.verdicts.paper import TUNED_METHODS, Paper

EXPERIMENT = "searched"
"""The tuned experiment with what our search found, on the datasets where it has been finished."""

Scores = tuple[str, str, Cell, Cell]
"""dataset, method, with published hyperparameters, with ours"""


def searched_scores(results: Results, paper: Paper, protocol: str) -> Iterable[Scores]:
    """Test F1 both ways, where every trial has been run both ways."""
    for task in TASKS:
        for dataset in paper.of_task(task):
            for method in TUNED_METHODS:
                published, ours = (
                    results.cell(protocol, experiment, dataset.slug, method, "test_f1")
                    for experiment in ("tuned", EXPERIMENT)
                )
                if ours.n and ours.n == ours.expected == published.n:
                    yield dataset.slug, method, published, ours


def searched_sheet(results: Results, paper: Paper, protocol: str) -> Sheet:
    found = list(searched_scores(results, paper, protocol))
    methods = [method for method in TUNED_METHODS if any(row[1] == method for row in found)]
    means = {(slug, method): (a.mean, b.mean) for slug, method, a, b in found}
    rows: list[tuple[Entry, ...]] = []
    for task in TASKS:
        for dataset in paper.of_task(task):
            scores = [means.get((dataset.slug, method), (None, None)) for method in methods]
            if any(ours is not None for _, ours in scores):
                flat = [score for pair in scores for score in pair]
                rows.append((dataset.name, TASK_NAMES[task], *flat))
    return Sheet(
        name=EXPERIMENT,
        title="Our own hyperparameter search",
        caption="Test F1 with the published hyperparameters and with those that won our search of "
        "300 random trials by cross-validation on the first split, as in the paper",
        source=protocol,
        columns=(
            SheetColumn("Dataset"),
            SheetColumn("Task"),
            *(
                SheetColumn(whose, group=method_name(method))
                for method in methods
                for whose in ("published", "ours")
            ),
        ),
        rows=tuple(rows),
    )
