"""The findings beside the reproduction, each told in sentences with the sheets behind them."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from experiments.analysis.duels import PRINTED, PROPER, SelectorDuel, selectors_sheet
from experiments.analysis.findings import Findings
from experiments.analysis.judging import agreements
from experiments.analysis.model import OUTCOMES, Sheet, Statistic
from experiments.analysis.paper import method_name
from experiments.analysis.quirks import QuirkEffect, QuirkOrder, orders_sheet, quirks_sheet
from experiments.analysis.ranking import mean_of
from experiments.analysis.sensitivity import REFITS, Firmness
from experiments.render import numbers
from experiments.render.clean import order_phrase
from experiments.render.figures.changes import Draws, Effect, forest
from experiments.render.report.model import Section

SEEDS_FIGURE = "other-draws"
QUIRKS_FIGURE = "quirks"
SEEDS_INTRODUCTION = (
    "The published hyperparameters were chosen with the authors’ random draws, and this suite "
    "uses the same ones, number for number. With other seeds the same configuration gives other "
    "numbers: what it is expected to give is the mean over seeds, what a table prints is one draw."
)


def draws_of(sheet: Sheet | None) -> list[Draws]:
    """The rows of the sheet of seeds, which a book has once one ran, as points of the figure."""
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


QUIRKS_INTRODUCTION = (
    "Protocol paper does what the published code did, and some of that is odd. Here one oddity at "
    "a time is replaced by what a careful practitioner would do, everything else as in the paper, "
    "with default hyperparameters and ten trials. Datasets on which every fit came out the same "
    "have nothing that the oddity could act on and do not enter."
)
NO_QUIRKS = "No protocol with a quirk replaced has been run on enough datasets yet."


def quirks_section(found: Findings) -> tuple[Section, ...]:
    """Which quirk moves which learner, and what it does to the order."""
    if not found.quirks:
        return (Section("quirks", "What each quirk does", (QUIRKS_INTRODUCTION, NO_QUIRKS)),)
    sheets = (quirks_sheet(found.quirks), orders_sheet(found.quirk_orders))
    return (
        Section(
            slug="quirks",
            title="What each quirk does",
            paragraphs=(QUIRKS_INTRODUCTION,),
            points=(*_quirk_points(found.quirks), *_order_points(found.quirk_orders)),
            sheets=tuple(sheet for sheet in sheets if sheet.rows),
            figures=(QUIRKS_FIGURE,),
        ),
    )


QUIRKS_CAPTION = (
    "Mean test F1 with one quirk of protocol paper replaced minus that of protocol paper, default "
    "hyperparameters, with a 95 % bootstrap interval over datasets (their number in brackets). "
    "Filled marks differ from zero by Wilcoxon’s test with Holm’s correction over all lines."
)


def quirks_picture(effects: Sequence[QuirkEffect]) -> Figure:
    """A forest plot: one group per replaced quirk, one line per learner."""
    return forest(
        [
            Effect(
                group=f"{_capital(each.variant.quirk)} → {each.variant.instead}",
                label=f"{method_name(each.method)} ({each.contrast.n})",
                estimate=each.contrast.difference.estimate,
                low=each.contrast.difference.low,
                high=each.contrast.difference.high,
                significant=each.contrast.significant,
                note=f"{each.contrast.wins}-{each.contrast.ties}-{each.contrast.losses}",
            )
            for each in effects
        ],
        axis="Change of mean test macro F1 without the quirk (right: better)",
    )


def _quirk_points(effects: Sequence[QuirkEffect]) -> list[str]:
    """One sentence per quirk: whom it moves, after Holm's correction over all of them."""
    by_variant: dict[str, list[QuirkEffect]] = {}
    for effect in effects:
        by_variant.setdefault(effect.variant.protocol, []).append(effect)
    points = []
    for lines in by_variant.values():
        variant = lines[0].variant
        moved = [
            f"{method_name(each.method)} {numbers.interval(each.contrast.difference)}"
            for each in lines
            if each.contrast.significant
        ]
        told = f"moves {', '.join(moved)}" if moved else "moves no learner significantly"
        counts = sorted({each.contrast.n for each in lines})
        datasets = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        points.append(
            f"{_capital(variant.quirk)} replaced ({variant.instead}): {told} ({datasets} datasets)."
        )
    return points


def _order_points(orders: Sequence[QuirkOrder]) -> list[str]:
    points = []
    for each in orders:
        text = f"{_capital(each.variant.quirk)} replaced ({each.variant.instead}): "
        text += f"{order_phrase(each.order)} ({each.order.datasets} datasets)"
        if each.before is not None and each.after is not None:
            before, after = (numbers.interval(one.difference) for one in (each.before, each.after))
            text += f"; GradTree minus CART goes from {before} to {after}"
        points.append(f"{text}.")
    return points


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


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
    points = _column_points(found)
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


def _column_points(found: Findings) -> list[str]:
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
    "GradTree trains in single precision, where the order of a sum can decide between two features "
    f"that tie. Every tuned trial was fitted {REFITS} more times with training rows moved by about "
    "one unit of float32. A trial is firm if its test F1 stays the same to the last digit each "
    "time; a cell with a trial that is not firm is fragile and marked † in the tables."
)


def firmness_section(found: Findings) -> tuple[Section, ...]:
    """How firm tuned GradTree's cells are; none before a trial has all its refits."""
    sheet = found.books["paper"].sheets.get("firmness")
    if sheet is None:
        return ()
    return (
        Section(
            slug="firmness",
            title="Firm and fragile",
            paragraphs=(FIRM_INTRODUCTION,),
            points=(firm_sentence(found.firmness, names_of(found)),),
            sheets=(sheet,),
        ),
    )


def names_of(found: Findings) -> dict[str, str]:
    return {dataset.slug: dataset.name for dataset in found.paper.datasets}


def firm_sentence(found: Sequence[Firmness], names: dict[str, str]) -> str:
    """How many trials and cells a rounding leaves alone, and which cells it moves."""
    trials, firm = (sum(getattr(each, name) for each in found) for name in ("trials", "firm"))
    fragile = [each for each in found if each.fragile]
    text = (
        f"Of {trials:,} tuned GradTree trials, fitted anew {REFITS} times each with training rows "
        f"moved by about one unit of float32, {firm:,} keep their test F1 in every refit; "
        f"{len(found) - len(fragile)} of {len(found)} cells are firm in all their trials"
    )
    if not fragile:
        return f"{text}."
    listed = ", ".join(f"{names[each.dataset]} {each.firm}/{each.trials}" for each in fragile)
    return f"{text}. Fragile (firm trials): {listed}."
