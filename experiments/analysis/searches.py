"""What our own search tells: how optimistic its scores are, and how many candidates it needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.analysis.cells import Results
from experiments.analysis.definitions import method_name
from experiments.analysis.model import TASK_NAMES, TASKS, Entry, Sheet, SheetColumn, Statistic
from experiments.analysis.paper import TUNED_METHODS, Paper
from experiments.analysis.ranking import mean_of, sample_std
from experiments.analysis.settings import SEARCHED, Searched
from experiments.analysis.statistics import stable

SCORE = "cross-validated F1"
CANDIDATES = "candidates"
BUDGETS = (1, 3, 10, 30, 100)
"""As many candidates as the experiments ``best-of-…`` are allowed."""


def optimism_sheet(results: Results, paper: Paper, protocol: str, searched: Searched) -> Sheet:
    """The score that made a candidate win beside its test score, where all trials are there."""
    methods = [method for method in TUNED_METHODS if searched.get(method)]
    rows: list[tuple[Entry, ...]] = []
    gaps: dict[str, list[float]] = {method: [] for method in methods}
    for task in TASKS:
        for dataset in paper.of_task(task):
            entries: list[Entry] = []
            budgets = set()
            for method in methods:
                found = searched[method].get(dataset.slug, {})
                cell = results.cell(protocol, SEARCHED, dataset.slug, method, "test_f1")
                if not found or cell.mean is None or cell.partial:
                    entries += [None, None]
                    continue
                entries += [found[SCORE], cell.mean]
                budgets.add(found[CANDIDATES])
                gaps[method].append(found[SCORE] - cell.mean)
            if budgets:
                rows.append((dataset.name, TASK_NAMES[task], min(budgets), *entries))
    if rows:
        rows.append(("Mean difference", "All", None, *_mean_gaps(gaps)))
    return Sheet(
        name="search-optimism",
        title="Search score and test score",
        caption="Cross-validated macro F1 of the winning candidate, and its mean test F1 over ten "
        "trials; last, the mean over datasets of their difference",
        source=protocol,
        columns=(
            SheetColumn("Dataset"),
            SheetColumn("Task"),
            SheetColumn("candidates", 0),
            *(
                SheetColumn(which, group=method_name(method))
                for method in methods
                for which in ("search", "test")
            ),
        ),
        rows=tuple(rows),
    )


def _mean_gaps(gaps: dict[str, list[float]]) -> list[Entry]:
    entries: list[Entry] = []
    for values in gaps.values():
        known = Statistic(mean_of(values), sample_std(values), len(values)) if values else None
        entries += [known, None]
    return entries


@dataclass(frozen=True)
class Growth:
    """Test F1 of the best of so many candidates, over the datasets that have every budget."""

    method: str
    budget: int
    n: int
    mean: float
    low: float
    median: float
    high: float
    """Quartiles over datasets of the difference from the winner of the whole search."""


def growth(
    results: Results, paper: Paper, protocol: str, budgets: Sequence[int] = BUDGETS
) -> list[Growth]:
    """How the test score grows with the budget, per learner."""
    found = []
    for method in TUNED_METHODS:
        curves = []
        for dataset in paper.datasets:
            places = [*(f"best-of-{budget}" for budget in budgets), SEARCHED]
            cells = [results.cell(protocol, at, dataset.slug, method, "test_f1") for at in places]
            scores = [cell.mean for cell in cells if cell.mean is not None and not cell.partial]
            if len(scores) == len(places):
                curves.append(scores)
        for at, budget in enumerate(budgets if curves else ()):
            behind = [curve[at] - curve[-1] for curve in curves]
            low, median, high = map(stable, np.quantile(behind, (0.25, 0.5, 0.75)))
            mean = mean_of([curve[at] for curve in curves])
            found.append(Growth(method, budget, len(curves), mean, low, median, high))
    return found


def growth_sheet(found: Sequence[Growth], protocol: str) -> Sheet:
    return Sheet(
        name="search-budget",
        title="How many candidates a search needs",
        caption="Mean test F1 of the best of the first candidates, and over datasets the quartiles "
        "of its difference from the winner of the whole search",
        source=protocol,
        columns=(
            SheetColumn("Learner"),
            SheetColumn("candidates", 0),
            SheetColumn("datasets", 0),
            SheetColumn("mean test F1"),
            SheetColumn("lower quartile", group="difference from the winner"),
            SheetColumn("median", group="difference from the winner"),
            SheetColumn("upper quartile", group="difference from the winner"),
        ),
        rows=tuple(
            (
                method_name(each.method),
                each.budget,
                each.n,
                each.mean,
                each.low,
                each.median,
                each.high,
            )
            for each in found
        ),
    )
