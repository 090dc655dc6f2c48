"""Hyperparameters and random draws: published, found by our search, and other seeds.

Of the search also: how optimistic its scores are, and how many candidates it needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.analysis import ranking
from experiments.analysis.grids import Attempt, Results
from experiments.analysis.model import TASK_NAMES, TASKS, Cell, Entry, Sheet, SheetColumn, Statistic
from experiments.analysis.paper import TUNED_METHODS, Paper, method_name
from experiments.analysis.ranking import mean_of, sample_std
from experiments.analysis.statistics import stable

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


SCORE = "cross-validated F1"
CANDIDATES = "candidates"

SEARCHED = "searched"
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
                    for experiment in ("tuned", SEARCHED)
                )
                if ours.n and ours.n == ours.expected == published.n:
                    yield dataset.slug, method, published, ours


def searched_sheet(results: Results, paper: Paper, protocol: str, searched: Searched) -> Sheet:
    found = list(searched_scores(results, paper, protocol))
    methods = [method for method in TUNED_METHODS if any(row[1] == method for row in found)]
    means = {(slug, method): (a.mean, b.mean) for slug, method, a, b in found}
    rows: list[tuple[Entry, ...]] = []
    for task in TASKS:
        for dataset in paper.of_task(task):
            scores = [means.get((dataset.slug, method), (None, None)) for method in methods]
            if any(ours is not None for _, ours in scores):
                flat = [score for pair in scores for score in pair]
                candidates = candidates_of(dataset.slug, searched)
                rows.append((dataset.name, TASK_NAMES[task], candidates, *flat))
    return Sheet(
        name=SEARCHED,
        title="Our own hyperparameter search",
        caption="Test F1 with the published hyperparameters and with the winners of our search: "
        "random candidates, cross-validated on the first split, as in the paper; 300, or to save "
        "time the first 100 of the same sequence, for every learner of a dataset alike",
        source=protocol,
        columns=(
            SheetColumn("Dataset"),
            SheetColumn("Task"),
            SheetColumn(CANDIDATES, 0),
            *(
                SheetColumn(whose, group=method_name(method))
                for method in methods
                for whose in ("published", "ours")
            ),
        ),
        rows=tuple(rows),
    )


def candidates_of(dataset: str, searched: Searched) -> int | None:
    """How many candidates every learner had on a dataset: the fewest, should they differ."""
    found = [datasets[dataset] for datasets in searched.values() if dataset in datasets]
    return min((params[CANDIDATES] for params in found), default=None)


METHOD = "gradtree"


def seeds_sheet(results: Results, paper: Paper, protocol: str) -> Sheet:
    """Tuned GradTree on each dataset run with other seeds: printed, authors' draws, other seeds.

    The spread beside the other seeds is the deviation between the means of single seeds,
    each a mean over trials: how far a table cell moves with the draws alone.
    """
    rows: list[tuple[Entry, ...]] = []
    for task in TASKS:
        for dataset in paper.of_task(task):
            printed = paper.cells["test-f1-tuned"][dataset.slug, METHOD].mean
            drawn = results.cell(protocol, "tuned", dataset.slug, METHOD, "test_f1").mean
            address = (protocol, "seeds", dataset.slug, METHOD)
            others = between_seeds(results.attempts.get(address, ()))
            if others.n:
                rows.append((dataset.name, TASK_NAMES[task], printed, drawn, others, others.n))
    return Sheet(
        name="seeds",
        title="Other random draws",
        caption="Test F1 of tuned GradTree: printed, with the authors' random draws, and with "
        "other seeds (mean over trials; its mean and standard deviation over seeds)",
        source=protocol,
        columns=(
            SheetColumn("Dataset"),
            SheetColumn("Task"),
            SheetColumn("paper"),
            SheetColumn("authors' draws"),
            SheetColumn("other seeds"),
            SheetColumn("seeds", 0),
        ),
        rows=tuple(rows),
    )


def between_seeds(attempts: tuple[Attempt, ...]) -> Statistic:
    """Mean and sample deviation of the mean test F1 over trials, over the seeds with all trials."""
    by_seed: dict[int, list[float | None]] = {}
    for attempt in attempts:
        score = None if attempt.record is None else attempt.record.test_f1
        by_seed.setdefault(attempt.seed, []).append(score)
    complete = [
        [score for score in scores if score is not None]
        for _, scores in sorted(by_seed.items())
        if None not in scores
    ]
    means = [ranking.mean_of(scores) for scores in complete]
    if not means:
        return Statistic()
    return Statistic(ranking.mean_of(means), ranking.sample_std(means), len(means))


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
            for method in methods:
                found = searched[method].get(dataset.slug, {})
                cell = results.cell(protocol, SEARCHED, dataset.slug, method, "test_f1")
                if not found or cell.mean is None or cell.partial:
                    entries += [None, None]
                    continue
                entries += [found[SCORE], cell.mean]
                gaps[method].append(found[SCORE] - cell.mean)
            if any(entry is not None for entry in entries):
                candidates = candidates_of(dataset.slug, searched)
                rows.append((dataset.name, TASK_NAMES[task], candidates, *entries))
    if rows:
        rows.append(("Mean difference", "All", None, *_mean_gaps(gaps)))
    return Sheet(
        name="search-optimism",
        title="Search score and test score",
        caption="Cross-validated macro F1 of the winning candidate, and its mean test F1 over ten "
        "trials; the last row is the mean difference over datasets",
        source=protocol,
        columns=(
            SheetColumn("Dataset"),
            SheetColumn("Task"),
            SheetColumn(CANDIDATES, 0),
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
        caption="Mean test F1 of the best of the first candidates, and the quartiles, over "
        "datasets, of its difference from the winner of the whole search",
        source=protocol,
        columns=(
            SheetColumn("Learner"),
            SheetColumn(CANDIDATES, 0),
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
