"""The results as the README shows them: counts per table and learner, and the findings."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from experiments.bench.cases import NAMED
from experiments.report.protocols import by_leak, measured_changes, order_points
from experiments.report.seeds import seeds_section
from experiments.tables.compute import spent
from experiments.tables.definitions import Grid, grids, method_name
from experiments.tables.outcomes import OUTCOMES
from experiments.tables.protocols import method_changes
from experiments.tables.ranking import mean_of
from experiments.tables.searched import searched_scores
from experiments.tables.solvers import pairs_of, seconds_of
from experiments.verdicts.findings import Findings
from experiments.verdicts.judging import LEVEL, Agreement, agreements
from experiments.verdicts.text import claim_lines

NOT_RUN = "not run yet"
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
    few = sum(0 < verdict.ours.n < verdict.paper.n for verdict in compared)
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
        f"{counted.count('consistent'):,} *consistent* by Welch's test at {LEVEL} (Holm's "
        f"correction per table){_from_few(few)}; {', '.join(rest) or 'none is off'}. "
        "In brackets: the mean difference from the paper where not all cells are exact."
    )


def _from_few(count: int) -> str:
    return f", {count:,} of them so far from fewer trials than the paper's ten" if count else ""


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
    return f"{text} ({agreement.mean_difference:+.{grid.decimals + 1}f})"


def _points(found: Findings) -> Iterable[str]:
    head, *details = claim_lines(found.claims)
    failing = [line.strip().split(": ", 1)[1] for line in details if "does not hold:" in line]
    claims = head.replace("Claims of the paper", "Its claims")
    yield f"* **Claims.** {claims}." + "".join(f" Not: {_sentence(text)}" for text in failing)
    orders = order_points(found)
    if orders:
        yield f"* **Without the leak.** {' '.join(orders)}"
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
    methods = [column.method for column in measured[0][0].columns]
    header = ["protocol `clean` minus `paper`", *map(method_name, methods)]
    lines = [f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
    for table, compared in measured:
        for label, subset in by_leak(compared):
            means = {each.method: f"{each.mean:+.3f} ({each.n})" for each in method_changes(subset)}
            cells = [means.get(method, NOT_RUN) for method in methods]
            lines.append(f"| {table.title}, datasets {label} | {' | '.join(cells)} |")
    yield "\n".join(lines)


def _sentence(claim: str) -> str:
    """A claim without its identifier, as a sentence."""
    return claim.split(" [")[0].rstrip(".") + "."


def _compute(found: Findings) -> str:
    learners = spent(found.results, found.paper)
    compared = {one.method: one for one in learners if one.authors_hours is not None}
    pairs = [
        f"{method_name(method)} {one.compared_hours:.2f} here, {one.authors_hours:,.1f} there"
        for method, one in compared.items()
    ]
    return (
        f"{sum(one.runs for one in learners):,} fits took "
        f"{sum(one.hours for one in learners):.1f} core-hours. In hours, for the same runs by the "
        f"runtimes that the paper prints: {'; '.join(pairs)}."
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
            if row["group"] in NAMED:
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
        ours, library = seconds_of(pairs)
        yield (
            "* **DL8.5.** Our kernels and pydl8.5 ended in the same scores and tree size in "
            f"{sum(pair.same for pair in pairs):,} of {len(pairs):,} fits that both finished "
            f"(datasets: {sum(map(bool, by_dataset))}); these took {ours / 3600:.2f} core-hours "
            f"with ours, {library / 3600:.2f} with pydl8.5."
        )
