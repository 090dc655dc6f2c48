"""The results as READMEs show them: the answer in README.md, all findings in results/README.md."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from experiments.analysis.costs import spent
from experiments.analysis.findings import Findings
from experiments.analysis.judging import Agreement, agreements, published_run
from experiments.analysis.model import CLAIM_OUTCOMES, OUTCOMES, Claim, Sheet
from experiments.analysis.paper import Grid, grids, method_name
from experiments.analysis.small_trees_answer import answer, recommendation
from experiments.analysis.solvers import TrialPair, pairs_of, seconds_of, times_sentence
from experiments.analysis.verifying import tally
from experiments.core.text import capital
from experiments.render import clean, numbers, wording
from experiments.render.markdown import sheet_markdown
from experiments.render.report import compact, comparisons
from experiments.render.report.revised import revised_points
from experiments.render.report.sections import (
    column_points,
    firmness_section,
    seeds_section,
)
from experiments.render.wording import counted_claims

NOT_RUN = "not run yet"
SMALL_TREES_TITLE = "One small tree"
PICTURE = f"results/figures/{comparisons.DUELS_FIGURE}.png"
NAMED_SIZES = ("banknote", "spambase")
"""Groups of the benchmark that have the shape of a dataset."""
OTHERS = {"tensorflow": "the TensorFlow reference", "authors": "the authors' package"}


def answer_block(found: Findings) -> str:
    """For README.md: GradTree against CART, and how many of the paper's numbers reproduce."""
    counts = tally(found.verdicts)
    told = f"**{wording.title(counts)}.** {wording.sentence(counts)}"
    return "\n\n".join([*_against_cart(found), *_which_tree(found), told])


def results_block(found: Findings, ratios: Path) -> str:
    """For results/README.md: all that follows from the records and the benchmark's ratios."""
    points = [*_points(found), *_speed(ratios), *_solvers(found)]
    return "\n\n".join(
        [
            _opening(found),
            *_tables(found),
            *_published(found),
            *_claims(found.claims),
            *_without_leak(found),
            *_quirks(found),
            *_selectors(found),
            *_search(found),
            *_small_trees(found),
            "### Other findings",
            "\n".join(points),
        ]
    )


def defaults_block(found: Findings) -> str:
    """For gradtree/README.md: the evidence for the estimator's own defaults."""
    if not found.revised:
        return "The experiment has not been run on enough datasets yet."
    points = "\n".join(f"* {point}" for point in revised_points(found.revised))
    return "\n\n".join([*_shown(compact.revised(found.revised)), points])


def _against_cart(found: Findings) -> Iterable[str]:
    """First of all, the question that everybody has."""
    if not found.duels:
        return
    sheet = compact.duels(found.duels)
    yield f"**{comparisons.DUELS_TITLE}**"
    yield " ".join(comparisons.duels_answer(found.duels))
    yield sheet_markdown(sheet)
    yield f"{sheet.caption}."
    yield f"![GradTree against CART: mean differences with intervals]({PICTURE})"


def _which_tree(found: Findings) -> Iterable[str]:
    """What to use today, in a sentence, and where the rest is told."""
    told = recommendation(found.small_trees)
    if told:
        place = SMALL_TREES_TITLE.lower().replace(" ", "-")
        yield (
            f"**Which small tree should I use?** {told} "
            f"[By size and situation](results/README.md#{place})."
        )


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
            f"For {method_name(each.method)}, “{grid.title}” prints another run than the paper’s "
            "ablation table; only the run of the latter was published. Compared with that run: "
            f"{_cell(other, published)}."
        )


def _points(found: Findings) -> Iterable[str]:
    """What needs no table: one point each."""
    seeds = seeds_section(found.table_sets["paper"].sheets.get("seeds"))
    if seeds:
        yield f"* **Other random draws.** {' '.join(seeds[0].points)}"
    firmness = firmness_section(found)
    if firmness:
        more = "[Which cells](tables/paper/firmness.csv)."
        yield f"* **Firm and fragile.** {firmness[0].points[0]} {more}"
    yield f"* **Compute.** {_compute(found)}"


def _quirks(found: Findings) -> Iterable[str]:
    """What each quirk of protocol ``paper`` does, and to the distance from CART."""
    if found.quirks:
        yield "### What each quirk does"
        yield comparisons.QUIRKS_INTRODUCTION
        yield from _shown(compact.quirks(found.quirks))
        yield (
            "What a quirk does to the order of the learners, and to the distance between GradTree "
            "and CART, is in [quirks-order.csv](tables/quirks-order.csv)."
        )


def _selectors(found: Findings) -> Iterable[str]:
    """ST Gumbel softmax with and without the noise at prediction."""
    points = column_points(found)
    if points and found.selectors:
        yield "### ST Gumbel softmax"
        yield " ".join(points)
        yield from _shown(compact.selectors(found.selectors))


def _search(found: Findings) -> Iterable[str]:
    """Published hyperparameters and those of our own search."""
    sheet = compact.searched(found)
    if sheet.rows:
        yield "### Our own search"
        yield from _shown(sheet)


def _small_trees(found: Findings) -> Iterable[str]:
    """Which small tree to use today."""
    sheet = compact.small_trees(found.small_trees)
    if sheet.rows:
        yield f"### {SMALL_TREES_TITLE}"
        yield from _shown(sheet)
        yield "\n".join(f"* {sentence}" for sentence in answer(found.small_trees))


def _shown(sheet: Sheet) -> Iterable[str]:
    yield sheet_markdown(sheet)
    yield f"{sheet.caption}."


def _without_leak(found: Findings) -> Iterable[str]:
    """Mean change of scores from protocol ``paper`` to ``clean``, with the number of datasets."""
    sheet = clean.summary_sheet(found)
    if sheet.rows:
        yield "### Without the leak"
        yield clean.INTRODUCTION
        yield f"{sheet.caption}:"
        yield sheet_markdown(sheet)
        orders = clean.orders(found)
        if orders:
            yield "\n".join(f"* {order}" for order in orders)


def _claims(claims: Sequence[Claim]) -> Iterable[str]:
    """How many hold; every other one in its words, and what is missing to tell the open ones."""
    counts = Counter(claim.outcome for claim in claims)
    yield "### Claims"
    lines = [f"Of {len(claims)}, {counted_claims(counts)}."]
    shown = [claim for claim in claims if claim.outcome in CLAIM_OUTCOMES[1:3]]
    if any(counts[one] for one in CLAIM_OUTCOMES[:3]):
        shown += [claim for claim in claims if claim.outcome == CLAIM_OUTCOMES[3]]
    for claim in shown:
        paper = "" if claim.outcome == CLAIM_OUTCOMES[3] else f" Paper: {claim.paper}."
        outcome = capital(claim.outcome)
        lines.append(f"* {outcome}: “{claim.sentence}” Here: {claim.ours}.{paper}")
    yield "\n\n".join([lines[0], "\n".join(lines[1:])]) if shown else lines[0]


def _compute(found: Findings) -> str:
    methods = spent(found.results, found.paper)
    compared = {one.method: one for one in methods if one.authors_hours is not None}
    text = (
        f"{sum(one.runs for one in methods):,} fits took "
        f"{sum(one.hours for one in methods):.1f} core-hours."
    )
    ours = compared.get("gradtree")
    if ours is not None:
        text += (
            f" GradTree’s fits on the paper’s datasets, small trees aside, took "
            f"{ours.compared_hours:.2f}; at the paper’s printed runtimes, on a machine "
            "with a GPU, the same runs take "
            f"{ours.authors_hours:,.1f} hours ([all learners](tables/paper/compute.csv))."
        )
    return text


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
    times = times_sentence(found.results, found.paper)
    if times:
        yield f"* **Solvers.** {times}"
    if pairs:
        yield (
            "* **DL8.5.** Our kernels and pydl8.5 0.1.8 ended in the same scores and tree size in "
            f"{sum(pair.same for pair in pairs):,} of {len(pairs):,} fits that both finished "
            f"(datasets: {sum(map(bool, by_dataset))}).{_seconds(pairs)}"
        )


def _seconds(pairs: list[TrialPair]) -> str:
    """Told of the fits that both made on machines of one kind."""
    together = [pair for pair in pairs if pair.same_kind]
    if not together:
        return " They ran on machines of different kinds, so their times are not compared."
    ours, library = seconds_of(together)
    return (
        f" {len(together):,} of these, on machines of one kind, took {ours / 3600:.2f} core-hours "
        f"with ours, {library / 3600:.2f} with pydl8.5."
    )
