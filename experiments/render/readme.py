"""The results as the README shows them: counts per table and learner, and the findings."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from experiments.analysis.clean_effect import method_changes
from experiments.analysis.costs import Pair, pairs_of, seconds_of, spent
from experiments.analysis.definitions import Grid, grids, method_name
from experiments.analysis.findings import Findings
from experiments.analysis.judging import LEVEL, Agreement, agreements
from experiments.analysis.model import CLAIM_OUTCOMES, OUTCOMES, Claim, Verdict
from experiments.analysis.ranking import mean_of
from experiments.analysis.settings import searched_scores
from experiments.render.report.sections import (
    by_leak,
    measured_changes,
    order_points,
    seeds_section,
)
from experiments.render.terminal import PLURAL

NOT_RUN = "not run yet"
NEAR_F1, NEAR_SIZE = 0.02, 0.1
"""Differences that a reader would call small."""
NAMED_SIZES = ("banknote", "spambase")
"""Groups of the benchmark that have the shape of a dataset."""
OTHERS = {"tensorflow": "the TensorFlow reference", "authors": "the authors' package"}


def results_block(found: Findings, ratios: Path) -> str:
    """Markdown that follows from the records and the benchmark's file of ratios."""
    points = [*_points(found), *_speed(ratios), *_solvers(found)]
    return "\n\n".join([_opening(found), *_tables(found), *_without_leak(found), "\n".join(points)])


def _opening(found: Findings) -> str:
    compared = [
        verdict
        for verdict in found.verdicts
        if verdict.paper.mean is not None and not grids()[verdict.table].machine_dependent
    ]
    counted = [verdict.outcome for verdict in compared]
    consistent = [verdict for verdict in compared if verdict.outcome == "consistent"]
    few = sum(verdict.ours.n < verdict.paper.n for verdict in consistent)
    near = sum(map(_near, consistent))
    agree = sum(outcome in ("exact", "consistent") for outcome in counted)
    rest = [
        f"{counted.count(outcome):,} {word}"
        for outcome, word in (
            ("better", "significantly better"),
            ("worse", "significantly worse"),
            ("missing", "missing because they have not been run completely"),
        )
        if outcome in counted
    ]
    return (
        f"**{agree:,} of the paper's {len(counted):,} numbers reproduce:** "
        f"{counted.count('exact'):,} are *exact* at the printed digits, "
        f"{len(consistent):,} *consistent* by Welch's test at {LEVEL} (Holm's correction per "
        f"table), {near:,} of these within {NEAR_F1:g} of F1 or {NEAR_SIZE:.0%} of the tree size"
        f"{_from_few(few)}; {', '.join(rest) or 'none is off'}. Runtimes are not counted. In "
        "brackets, where not all cells are exact: the mean difference from the paper, and the "
        "largest."
    )


def _near(verdict: Verdict) -> bool:
    """Whether a mean is close to the printed one, whatever the trials' spread allows."""
    if verdict.difference is None or verdict.paper.mean is None:
        return False
    is_score = grids()[verdict.table].measure in ("test_f1", "train_f1")
    most = NEAR_F1 if is_score else NEAR_SIZE * verdict.paper.mean
    return abs(verdict.difference) <= most


def _from_few(count: int) -> str:
    return f", {count:,} so far from fewer trials than the paper's ten" if count else ""


def _tables(found: Findings) -> Iterable[str]:
    """One table for each set of columns that the paper's tables have."""
    by_columns: dict[tuple[str, ...], list[Grid]] = {}
    for grid in grids().values():
        if not grid.machine_dependent:
            names = tuple(column.name for column in grid.columns)
            by_columns.setdefault(names, []).append(grid)
    compared = {(each.table, each.method): each for each in agreements(found.verdicts)}
    for names, same in by_columns.items():
        lines = [f"| table of the paper | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
        for grid in same:
            cells = [_cell(compared.get((grid.name, c.method)), grid) for c in grid.columns]
            lines.append(f"| {grid.title} | {' | '.join(cells)} |")
        yield "\n".join(lines)


def _cell(agreement: Agreement | None, grid: Grid) -> str:
    """Counts such as ``30 exact, 4 consistent (+0.0010)``."""
    if agreement is None or not agreement.n:
        return NOT_RUN
    counts = [(agreement.counts[outcome], outcome) for outcome in OUTCOMES]
    text = ", ".join(f"{count} {outcome}" for count, outcome in counts if count)
    if agreement.counts["exact"] == agreement.total or agreement.mean_difference is None:
        return text
    largest = abs(agreement.largest_difference or 0.0)
    digits = grid.decimals
    return f"{text} ({agreement.mean_difference:+.{digits + 1}f}, {largest:.{digits}f})"


def _points(found: Findings) -> Iterable[str]:
    yield f"* **Claims.** {' '.join(_claims(found.claims))}"
    orders = order_points(found)
    if orders:
        yield f"* **Under protocol `clean`.** {' '.join(orders)}"
    for part in seeds_section(found.books["paper"].sheets.get("seeds")):
        if part.points:
            yield f"* **Other random draws.** {' '.join(part.points)}"
    yield from _searched(found)
    yield f"* **Compute.** {_compute(found)}"


def _without_leak(found: Findings) -> Iterable[str]:
    """Mean change of scores from protocol ``paper`` to ``clean``, with the number of datasets."""
    measured = measured_changes(found)
    if not measured:
        return
    yield (
        "Protocol `clean` (no label leak in the encoding, stratified splits, everything learned "
        "on training rows alone) minus protocol `paper`: mean change over the datasets that were "
        "run completely under both, and their number. *Tuned* means the published "
        "hyperparameters, which were chosen under protocol `paper`."
    )
    methods = [column.method for column in measured[0][0].columns]
    header = ["`clean` minus `paper`", *map(method_name, methods)]
    lines = [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
    for table, compared in measured:
        for label, subset in by_leak(compared):
            means = {each.method: f"{each.mean:+.3f} ({each.n})" for each in method_changes(subset)}
            cells = [means.get(method, "–") for method in methods]
            lines.append(f"| {table.title}, {label} | {' | '.join(cells)} |")
    yield "\n".join(lines)


def _claims(claims: Sequence[Claim]) -> Iterable[str]:
    """How many hold; every other one in its words, and what is missing to tell the open ones."""
    counts = Counter(claim.outcome for claim in claims)
    listed = ", ".join(
        f"{counts[outcome]} {outcome if counts[outcome] == 1 else PLURAL[outcome]}"
        for outcome in CLAIM_OUTCOMES
    )
    yield f"Of {len(claims)}, {listed}."
    for claim in claims:
        if claim.outcome == "does not hold":
            yield f"Does not hold: “{claim.sentence}” ({claim.ours}; paper: {claim.paper})."
    for claim in claims:
        if claim.outcome == "cannot be told" and any(counts[one] for one in CLAIM_OUTCOMES[:2]):
            yield f"Open: “{claim.sentence}” ({claim.ours})."


def _compute(found: Findings) -> str:
    learners = spent(found.results, found.paper)
    compared = {one.method: one for one in learners if one.authors_hours is not None}
    pairs = [
        f"{method_name(method)} {one.compared_hours:.2f} here, {one.authors_hours:,.1f} there"
        for method, one in compared.items()
    ]
    return (
        f"{sum(one.runs for one in learners):,} fits took "
        f"{sum(one.hours for one in learners):.1f} core-hours. In hours on one core, and for the "
        "same runs by the runtimes that the paper prints, measured on a machine with a GPU: "
        f"{'; '.join(pairs)}."
    )


def _searched(found: Findings) -> Iterable[str]:
    """Mean scores with the published hyperparameters and with those of our search."""
    by_method: dict[str, list[tuple[float, float]]] = {}
    for _, method, published, ours in searched_scores(found.results, found.paper, "paper"):
        by_method.setdefault(method, []).append((published.mean or 0.0, ours.mean or 0.0))
    if by_method:
        parts = [
            f"{method_name(method)} {mean_of([a for a, _ in pairs]):.3f} with the published "
            f"hyperparameters and {mean_of([b for _, b in pairs]):.3f} with ours ({len(pairs)})"
            for method, pairs in by_method.items()
        ]
        yield (
            "* **Our own search.** 300 random trials, where finished; mean test F1 (datasets): "
            f"{'; '.join(parts)}."
        )


def _speed(ratios: Path) -> Iterable[str]:
    """How many times faster the compiled engine is, per named size."""
    sizes: dict[str, list[str]] = {}
    with ratios.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["group"] in NAMED_SIZES:
                ratio = f"{float(row['epoch_ratio']):,.0f}"
                told = f"{ratio} times as fast as {OTHERS[row['engine']]}"
                sizes.setdefault(row["name"], []).append(told)
    if sizes:
        listed = "; ".join(f"at {name} {' and '.join(told)}" for name, told in sizes.items())
        yield f"* **Speed.** An epoch at depth 10, on one core, is {listed}."


def _solvers(found: Findings) -> Iterable[str]:
    """How our search for DL8.5's tree compares with the library's, where both have run."""
    by_dataset = [pairs_of(found.results, "paper", each.slug) for each in found.paper.datasets]
    pairs = [pair for some in by_dataset for pair in some]
    if pairs:
        yield (
            "* **DL8.5.** Our kernels and pydl8.5 0.1.8 ended in the same scores and tree size in "
            f"{sum(pair.same for pair in pairs):,} of {len(pairs):,} fits that both finished "
            f"(datasets: {sum(map(bool, by_dataset))}).{_seconds(pairs)}"
        )


def _seconds(pairs: list[Pair]) -> str:
    """Told of the fits that both made on one machine."""
    together = [pair for pair in pairs if pair.same_machine]
    if not together:
        return " They ran on different machines, so that their times are not compared."
    ours, library = seconds_of(together)
    return (
        f" {len(together):,} of these on one machine took {ours / 3600:.2f} core-hours with "
        f"ours, {library / 3600:.2f} with pydl8.5."
    )
