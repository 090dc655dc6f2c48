"""The results as READMEs show them: the answer in README.md, all findings in results/README.md."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from experiments.analysis.costs import spent
from experiments.analysis.findings import Findings
from experiments.analysis.judging import Agreement, agreements, published_run
from experiments.analysis.model import CLAIM_OUTCOMES, OUTCOMES, Claim
from experiments.analysis.paper import Grid, grids, method_name
from experiments.analysis.solvers import TrialPair, pairs_of, seconds_of
from experiments.analysis.verifying import tally
from experiments.render import clean, numbers, wording
from experiments.render.markdown import sheet_markdown
from experiments.render.report import comparisons
from experiments.render.report.comparisons import quirks_section
from experiments.render.report.sections import (
    firmness_section,
    search_section,
    seeds_section,
    selectors_section,
)
from experiments.render.wording import counted_claims

NOT_RUN = "not run yet"
PICTURE = f"results/figures/{comparisons.DUELS_FIGURE}.png"
NAMED_SIZES = ("banknote", "spambase")
"""Groups of the benchmark that have the shape of a dataset."""
OTHERS = {"tensorflow": "the TensorFlow reference", "authors": "the authors' package"}


def answer_block(found: Findings) -> str:
    """For README.md: GradTree against CART, and how many of the paper's numbers reproduce."""
    counts = tally(found.verdicts)
    told = f"**{wording.title(counts)}.** {wording.sentence(counts)}"
    return "\n\n".join([*_against_cart(found), told])


def results_block(found: Findings, ratios: Path) -> str:
    """For results/README.md: all that follows from the records and the benchmark's ratios."""
    points = [*_points(found), *_speed(ratios), *_solvers(found)]
    return "\n\n".join(
        [
            _opening(found),
            *_tables(found),
            *_without_leak(found),
            "\n".join(points),
        ]
    )


def _against_cart(found: Findings) -> Iterable[str]:
    """First of all, the question that everybody has."""
    if not found.duels:
        return
    sheet = comparisons.compact_sheet(found.duels)
    yield f"**{comparisons.DUELS_TITLE}**"
    yield " ".join(comparisons.duels_answer(found.duels))
    yield sheet_markdown(sheet)
    yield f"{sheet.caption}."
    yield f"![GradTree against CART: mean differences with intervals]({PICTURE})"


def _opening(found: Findings) -> str:
    counts = tally(found.verdicts)
    return (
        f"**{wording.title(counts)}.** {wording.sentence(counts)} {wording.TESTS} "
        "Runtimes are not counted. In brackets, where not all cells are exact: the mean "
        "difference from the paper with Wilcoxon’s p over datasets, and the largest difference."
    )


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
    """Counts such as ``30 exact, 4 equivalent (+0.0010, p = 0.3000; 0.012)``."""
    if agreement is None or not agreement.n:
        return NOT_RUN
    counts = [(agreement.counts[outcome], outcome) for outcome in OUTCOMES]
    text = ", ".join(f"{count} {outcome}" for count, outcome in counts if count)
    if agreement.counts["exact"] == agreement.total or agreement.mean_difference is None:
        return text
    mean = numbers.signed(agreement.mean_difference, grid.decimals + 1)
    largest = numbers.fixed(abs(agreement.largest_difference or 0.0), grid.decimals)
    return f"{text} ({mean}, {numbers.p_phrase(agreement.p_value or 0.0)}; {largest})"


def _published(found: Findings) -> Iterable[str]:
    """Columns that the paper prints twice, beside the run that was published."""
    compared = agreements(found.verdicts)
    for each in compared:
        other = published_run(each, compared)
        if other is None or not other.n or other.mean_difference is None:
            continue
        grid, published = grids()[each.table], grids()[other.table]
        yield (
            f"* **{method_name(each.method)} in “{grid.title}”.** This table prints another run "
            "than the paper’s ablation table; only the run of the latter was published. Compared "
            f"with that run: {_cell(other, published)}."
        )


def _points(found: Findings) -> Iterable[str]:
    yield f"* **Claims.** {' '.join(_claims(found.claims))}"
    yield from _published(found)
    orders = clean.orders(found)
    if orders:
        yield f"* **Under protocol `clean`.** {' '.join(orders)}"
    sections = (
        ("What each quirk does", quirks_section(found) if found.quirks else ()),
        ("ST Gumbel softmax", selectors_section(found)),
        ("Our own search", search_section(found)),
        ("Other random draws", seeds_section(found.table_sets["paper"].sheets.get("seeds"))),
        ("Firm and fragile", firmness_section(found)),
    )
    for title, told in sections:
        for section in told:
            if section.points:
                yield f"* **{title}.** {' '.join(section.points)}"
    yield f"* **Compute.** {_compute(found)}"


def _without_leak(found: Findings) -> Iterable[str]:
    """Mean change of scores from protocol ``paper`` to ``clean``, with the number of datasets."""
    sheet = clean.summary_sheet(found)
    if sheet.rows:
        yield "### Without the leak"
        yield clean.INTRODUCTION
        yield f"{sheet.caption}:"
        yield sheet_markdown(sheet)


def _claims(claims: Sequence[Claim]) -> Iterable[str]:
    """How many hold; every other one in its words, and what is missing to tell the open ones."""
    counts = Counter(claim.outcome for claim in claims)
    yield f"Of {len(claims)}, {counted_claims(counts)}."
    for claim in claims:
        if claim.outcome in ("holds as printed only", "does not hold"):
            outcome = claim.outcome[0].upper() + claim.outcome[1:]
            yield f"{outcome}: “{claim.sentence}” ({claim.ours}; paper: {claim.paper})."
    for claim in claims:
        if claim.outcome == "cannot be told" and any(counts[one] for one in CLAIM_OUTCOMES[:3]):
            yield f"Open: “{claim.sentence}” ({claim.ours})."


def _compute(found: Findings) -> str:
    methods = spent(found.results, found.paper)
    compared = {one.method: one for one in methods if one.authors_hours is not None}
    pairs = [
        f"{method_name(method)} {one.compared_hours:.2f} here, {one.authors_hours:,.1f} there"
        for method, one in compared.items()
    ]
    return (
        f"{sum(one.runs for one in methods):,} fits took "
        f"{sum(one.hours for one in methods):.1f} core-hours. Core-hours here, "
        "and hours for the same runs at the paper’s printed runtimes, on a machine with a GPU: "
        f"{'; '.join(pairs)}."
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


def _seconds(pairs: list[TrialPair]) -> str:
    """Told of the fits that both made on one machine."""
    together = [pair for pair in pairs if pair.same_machine]
    if not together:
        return " They ran on different machines, so their times are not compared."
    ours, library = seconds_of(together)
    return (
        f" {len(together):,} of these on one machine took {ours / 3600:.2f} core-hours with "
        f"ours, {library / 3600:.2f} with pydl8.5."
    )
