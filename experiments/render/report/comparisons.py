"""Sections that compare learners: GradTree against CART, with each quirk replaced, small trees."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from experiments.analysis.duels import SCOPES, SETTINGS, Duel
from experiments.analysis.findings import Findings
from experiments.analysis.paper import method_name
from experiments.analysis.quirks import QuirkEffect, QuirkOrder, orders_sheet, quirks_sheet
from experiments.analysis.settings import SEARCHED
from experiments.analysis.small_trees import CEILING, FREE
from experiments.analysis.small_trees_answer import answer
from experiments.analysis.small_trees_sheets import sheets_of
from experiments.core.text import capital
from experiments.render import numbers
from experiments.render.clean import order_phrase
from experiments.render.figures.changes import Effect, forest
from experiments.render.figures.cost import Point, f1_against_leaves
from experiments.render.report import compact
from experiments.render.report.model import Plate, Section

DUELS_TITLE = "Is GradTree better than CART?"
DUELS_FIGURE = "gradtree-against-cart"
DUELS_CAPTION = (
    "Mean test F1 of GradTree minus that of the other method, over the datasets that both "
    "finished, with a 95 % bootstrap interval over datasets. Filled marks differ significantly "
    "from zero (Wilcoxon’s test with Holm’s correction over all lines, level 0.05)."
)
NO_DUELS = "GradTree and CART have not both been run on enough datasets yet."


def duels_answer(found: Sequence[Duel]) -> list[str]:
    """The table in sentences: what is significant, then both tuned alike without the leak."""
    against_cart = [each for each in found if each.rival == "cart"]
    if not against_cart:
        return [NO_DUELS]
    return [_significant(against_cart), *_tuned_alike(against_cart)]


def _significant(found: Sequence[Duel]) -> str:
    """Where tests tell the two apart, after the correction for all lines."""
    sure = [each for each in found if each.contrast.significant]
    better, worse = (
        [each for each in sure if (each.contrast.difference.estimate > 0) == above]
        for above in (True, False)
    )
    text = (
        f"{_in_a_word(bool(better), bool(worse))} Of {len(found)} comparisons with CART, GradTree "
        f"is significantly better in {len(better) or 'none'}{_named(better)} and significantly "
        f"worse in {len(worse) or 'none'}{_named(worse)}"
    )
    rest = len(found) - len(sure)
    return f"{text}; {rest} show no significant difference." if rest else f"{text}."


def _in_a_word(better: bool, worse: bool) -> str:
    if better and worse:
        return "It depends."
    if better:
        return "Yes, in some settings."
    return "No." if worse else "It is not shown."


def _tuned_alike(found: Sequence[Duel]) -> list[str]:
    lines = [
        f"{numbers.interval(each.contrast.difference)} on {_datasets(each)}"
        for each in found
        if (each.setting, each.protocol) == (SEARCHED, "clean") and each.scope != "all"
    ]
    if not lines:
        return []
    return [
        "With both tuned by our own search and without the label leak (protocol clean), GradTree "
        f"minus CART is {' and '.join(lines)}."
    ]


def _named(found: Sequence[Duel]) -> str:
    lines = [
        f"{SCOPES[each.scope]}, {SETTINGS[each.setting]}, {each.protocol}: "
        f"{numbers.signed(each.contrast.difference.estimate, 3)}"
        for each in found
    ]
    return f" ({'; '.join(lines)})" if lines else ""


def _datasets(duel: Duel) -> str:
    kind = "" if duel.scope == "all" else f"{SCOPES[duel.scope]} "
    if duel.contrast.n == duel.of:
        return f"{duel.of} {kind}datasets"
    return f"{duel.contrast.n} of {duel.of} {kind}datasets"


def duels_picture(found: Sequence[Duel]) -> Figure:
    """The forest plot of all lines."""
    return forest(
        [
            Effect.of(
                each.contrast,
                f"against {method_name(each.rival)}, {SETTINGS[each.setting]}",
                f"{each.protocol}, {SCOPES[each.scope]}",
            )
            for each in found
        ],
        axis="GradTree minus the other: mean difference of test macro F1 (right: GradTree better)",
    )


QUIRKS_FIGURE = "quirks"
QUIRKS_INTRODUCTION = (
    "Protocol paper does what the published code did, including some questionable steps. Here "
    "each of these quirks in turn is replaced by what a careful practitioner would do. All else is "
    "as in the paper, with default hyperparameters and ten trials. Datasets on which no fit "
    "changes are left out: the quirk has nothing to act on there."
)


NO_QUIRKS = "No protocol that replaces a quirk has been run on enough datasets yet."


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
    "Mean test F1 with one quirk replaced minus mean test F1 under protocol paper, with default "
    "hyperparameters and a 95 % bootstrap interval over datasets (their number in brackets). "
    "Filled marks differ significantly from zero (Wilcoxon’s test with Holm’s correction over all "
    "lines)."
)


def quirks_picture(effects: Sequence[QuirkEffect]) -> Figure:
    """A forest plot: one group per replaced quirk, one line per learner."""
    return forest(
        [
            Effect.of(
                each.contrast,
                f"{capital(each.variant.quirk)} → {each.variant.instead}",
                method_name(each.method),
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
        moved = [_moved(each) for each in lines if each.contrast.significant]
        most = max(lines, key=lambda each: abs(each.contrast.difference.estimate))
        told = ", ".join(moved) or f"no learner significantly, {_moved(most)} most"
        counts = sorted({each.contrast.n for each in lines})
        datasets = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        replaced = f"{capital(variant.quirk)} replaced ({variant.instead})"
        points.append(f"{replaced}: moves {told} ({datasets} datasets).")
    return points


def _moved(effect: QuirkEffect) -> str:
    return f"{method_name(effect.method)} {numbers.interval(effect.contrast.difference)}"


def _order_points(orders: Sequence[QuirkOrder]) -> list[str]:
    points = []
    for each in orders:
        text = f"{capital(each.variant.quirk)} replaced ({each.variant.instead}): "
        text += f"{order_phrase(each.order)} ({each.order.datasets} datasets)"
        if each.before is not None and each.after is not None:
            before, after = (numbers.interval(one.difference) for one in (each.before, each.after))
            text += f"; GradTree minus CART goes from {before} to {after}"
        points.append(f"{text}.")
    return points


SMALL_TREES_FIGURE = "small-trees"
SMALL_TREES_INTRODUCTION = (
    "Which learner gives the best small tree? Every learner gets the same rows. CARTs, solvers and "
    "GradTree, revised and tuned, choose their one or two size parameters by the same five inner "
    "folds: by macro F1 on original rows only, without test rows. GradTree has its published "
    "settings; GradTree, revised, and boosting have their defaults. CPU seconds include the "
    "tuning. Trees are compared at two kinds of size: whatever size the learner chooses, and at "
    "most 8, 16 or 32 leaves. To meet a limit, CARTs are pruned, GradTree, revised, tuned or not, "
    "has its weakest leaves joined, and GradTree and the solvers are limited in depth. ConTree, "
    "whose searches take longest, never exceeds depth 3. Solvers get as many thresholds as a "
    "search of their depth can afford.",
    "These choices were made on the paper’s datasets. The fresh datasets were selected before any "
    "learner was run on them.",
)


def small_trees_section(found: Findings) -> tuple[Section, ...]:
    """None before the table has lines."""
    compared = found.small_trees
    if not compared.lines:
        return ()
    return (
        Section(
            slug="small-trees",
            title="One small tree",
            paragraphs=SMALL_TREES_INTRODUCTION,
            points=tuple(answer(compared)),
            sheets=(compact.small_trees(compared), *sheets_of(compared)),
            figures=(SMALL_TREES_FIGURE,),
        ),
    )


def small_trees_plate(found: Findings) -> list[Plate]:
    """F1 against leaves; nothing before the table has lines."""
    lines = [line for line in found.small_trees.lines if line.place.protocol == "clean"]
    if not lines:
        return []
    points = [
        Point(
            line.place.group,
            method_name(line.method),
            line.means["leaves"] or 1.0,
            line.f1.estimate,
            line.place.reading == FREE,
        )
        for line in lines
        if line.method != CEILING
    ]
    ceilings = {line.place.group: line.f1.estimate for line in lines if line.method == CEILING}
    return [
        Plate(
            SMALL_TREES_FIGURE,
            "F1 against leaves",
            "Protocol clean, mean over the datasets that all learners shown finished: at most 8, "
            "16 and 32 leaves, and free size (hollow). The dashed line is boosting’s F1.",
            f1_against_leaves(points, ceilings),
        )
    ]
