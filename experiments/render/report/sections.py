"""The findings beside the reproduction, each told in sentences with the sheets behind them."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.analysis.duels import PRINTED, PROPER, SelectorDuel, selectors_sheet
from experiments.analysis.findings import Findings
from experiments.analysis.judging import agreements
from experiments.analysis.model import OUTCOMES, Sheet, Statistic
from experiments.analysis.ranking import mean_of
from experiments.analysis.sensitivity import REFITS, Firmness
from experiments.analysis.settings import Growth, growth
from experiments.render import numbers
from experiments.render.figures.changes import Draws
from experiments.render.report import compact
from experiments.render.report.model import Section

SEEDS_FIGURE = "other-draws"
SEEDS_INTRODUCTION = (
    "The published hyperparameters were chosen with the authors’ random draws, and this suite "
    "uses the same draws, number for number. With other seeds the same configuration gives other "
    "scores. A table prints one draw; what to expect from the configuration is the mean over seeds."
)


def draws_of(sheet: Sheet | None) -> list[Draws]:
    """The rows of the sheet of seeds, there once one ran, as points of the figure."""
    found = []
    for name, _, printed, drawn, others, _ in sheet.rows if sheet else ():
        if isinstance(others, Statistic) and others.value is not None:
            found.append(
                Draws(str(name), _number(printed), _number(drawn), others.value, others.spread or 0)
            )
    return found


def _number(entry: object) -> float | None:
    return float(entry) if isinstance(entry, int | float) else None


def seeds_section(sheet: Sheet | None) -> tuple[Section, ...]:
    """The section on other seeds; none before any of them ran."""
    draws = draws_of(sheet)
    if sheet is None or not draws:
        return ()
    return (
        Section(
            slug="draws",
            title="Other random draws",
            paragraphs=(SEEDS_INTRODUCTION,),
            points=tuple(_points(draws, seeds_per_dataset(sheet))),
            sheets=(sheet,),
            figures=(SEEDS_FIGURE,),
        ),
    )


def seeds_per_dataset(sheet: Sheet) -> str:
    """Such as ``10``, or ``2 to 10`` where not all datasets have as many yet."""
    counts = [entry for *_, entry in sheet.rows if isinstance(entry, int)]
    fewest, most = min(counts), max(counts)
    return f"{most}" if fewest == most else f"{fewest} to {most}"


def _points(draws: list[Draws], seeds: str) -> list[str]:
    whole = [one for one in draws if one.paper is not None and one.authors is not None]
    if not whole:
        return []
    printed = mean_of([one.paper or 0.0 for one in whole])
    authors = mean_of([one.authors or 0.0 for one in whole])
    others = mean_of([one.others for one in whole])
    spread = mean_of([one.spread for one in whole])
    below = sum(one.others < (one.paper or 0.0) for one in whole)
    widest = max(whole, key=lambda one: one.spread)
    return [
        f"Mean over {len(whole)} datasets: {printed:.3f} in the paper, {authors:.3f} here with "
        f"the authors’ draws, {others:.3f} with other seeds ({seeds} per dataset).",
        f"Other seeds fall below the printed number on {below} of {len(whole)} datasets.",
        f"Between seeds the mean over trials deviates by {spread:.3f} on average, most on "
        f"{widest.dataset} ({widest.spread:.3f}).",
    ]


SELECTORS_INTRODUCTION = (
    "After training, the authors’ program writes the pruned tree back into the variables that it "
    "trained, as rows of zeros and ones, and predicts with the function that it trained with. For "
    "ST Gumbel softmax that function adds fresh noise, so that a node of the finished tree tests "
    "its own feature only with probability e/(e+n−1) for n features. The printed column is that "
    "of trees scrambled in this way. Trained alike and predicted as they are, the trees form a "
    "column of their own."
)
NO_PROPER = "The column without noise at prediction has not been run on enough datasets yet."


def selectors_section(found: Findings) -> tuple[Section, ...]:
    """ST entmax against ST Gumbel softmax with and without the artefact."""
    points = column_points(found)
    if not points:
        return ()
    for other in (PRINTED, PROPER):
        lines = [each for each in found.selectors if each.other == other and each.scope != "all"]
        points += [_selector_point(each) for each in lines]
    if not any(each.other == PROPER for each in found.selectors):
        points.append(NO_PROPER)
    return (
        Section(
            slug="gumbel",
            title="ST Gumbel softmax",
            paragraphs=(SELECTORS_INTRODUCTION,),
            points=tuple(points),
            sheets=(selectors_sheet(found.selectors, "paper"),) if found.selectors else (),
        ),
    )


def column_points(found: Findings) -> list[str]:
    """How the printed column comes out, over both ablation tables."""
    columns = [each for each in agreements(found.verdicts) if each.method == PRINTED and each.n]
    if not columns:
        return []
    counts = {outcome: sum(each.counts[outcome] for each in columns) for outcome in OUTCOMES}
    total = sum(counts.values())
    differ = counts["better"] + counts["worse"]
    listed = ", ".join(f"{count} {outcome}" for outcome, count in counts.items() if count)
    measured = total - counts["missing"]
    return [
        f"The printed column over both ablation tables: {measured - differ} of {total} cells do "
        f"not differ significantly ({listed})."
    ]


def _selector_point(each: SelectorDuel) -> str:
    how = "With noise at prediction" if each.other == PRINTED else "Without it"
    task = "multi-class" if each.scope == "multi" else each.scope
    return (
        f"{how}, {each.setting} hyperparameters, {task} ({each.contrast.n} datasets): ST entmax "
        f"{numbers.fixed(each.entmax, 3)}, ST Gumbel softmax {numbers.fixed(each.gumbel, 3)}, "
        f"difference {numbers.interval(each.contrast.difference)}, "
        f"{numbers.p_phrase(each.contrast.p_adjusted)}."
    )


FIRM_INTRODUCTION = (
    "GradTree trains in single precision, where the order of a sum can decide between two tied "
    f"features. Every tuned trial was fitted {REFITS} more times with training rows moved by about "
    "one unit of float32. A trial is firm if its test F1 stays the same to the last digit each "
    "time. A cell is fragile, marked † in the tables, if any of its trials is not firm."
)


def firmness_section(found: Findings) -> tuple[Section, ...]:
    """How firm tuned GradTree's cells are; none before a trial has all its refits."""
    sheet = found.table_sets["paper"].sheets.get("firmness")
    if sheet is None:
        return ()
    return (
        Section(
            slug="firmness",
            title="Firm and fragile",
            paragraphs=(FIRM_INTRODUCTION,),
            points=tuple(firm_points(found.firmness, names_of(found))),
            sheets=(sheet,),
        ),
    )


def names_of(found: Findings) -> dict[str, str]:
    return {dataset.slug: dataset.name for dataset in found.paper.datasets}


def firm_points(found: Sequence[Firmness], names: dict[str, str]) -> list[str]:
    """How many trials and cells a rounding leaves alone, then which cells it moves."""
    trials, firm = (sum(getattr(each, name) for each in found) for name in ("trials", "firm"))
    fragile = [each for each in found if each.fragile]
    points = [
        f"Of {trials:,} tuned GradTree trials, fitted anew {REFITS} times each with training rows "
        f"moved by about one unit of float32, {firm:,} keep their test F1 in every refit; "
        f"{len(found) - len(fragile)} of {len(found)} cells are firm in all their trials."
    ]
    if fragile:
        listed = ", ".join(f"{names[each.dataset]} {each.firm}/{each.trials}" for each in fragile)
        points.append(f"Fragile (firm trials): {listed}.")
    return points


GROWTH_FIGURE = "search-growth"
SEARCH_SHEETS = ("searched", "search-optimism", "search-budget")
SEARCH_INTRODUCTION = (
    "The authors chose the published hyperparameters of CART and GeneticTree by a cross-validation "
    "that is affected by the label leak, and those of GradTree by an unpublished criterion. Here "
    "every learner is tuned in the same way: 300 random candidates (on the larger datasets, to "
    "save time, the first 100 of the same sequence; the tables say where), three stratified folds, "
    "macro F1, on the first split. Under protocol paper the folds are cut from encoded and "
    "rebalanced rows, as the authors did; under protocol clean all preprocessing happens inside "
    "the folds. "
    "DL8.5 has nothing to search; the tables show it as it is.",
    "Under protocol paper the winner’s cross-validated score is optimistic: copies of a row, with "
    "their leaking codes, can fall on both sides of a fold. Compare it with the test score.",
)


def growth_curves(found: Findings) -> dict[str, list[Growth]]:
    """Per protocol, how the test score grows with the number of candidates."""
    return {protocol: growth(found.results, found.paper, protocol) for protocol in found.table_sets}


def search_section(found: Findings) -> tuple[Section, ...]:
    """What our search found; none before a search and its test scores are there."""
    sheets: list[Sheet] = [
        table_set.sheets[name]
        for table_set in found.table_sets.values()
        for name in SEARCH_SHEETS
        if name in table_set.sheets
    ]
    if not sheets:
        return ()
    curves = growth_curves(found)
    return (
        Section(
            slug="search",
            title="Tuned alike",
            paragraphs=SEARCH_INTRODUCTION,
            sheets=(compact.searched(found), *sheets),
            figures=(GROWTH_FIGURE,) if any(curves.values()) else (),
        ),
    )
