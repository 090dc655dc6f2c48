"""GradTree against CART as people read it first: an answer, a compact table, a forest plot."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from experiments.analysis.definitions import method_name
from experiments.analysis.duels import SCOPES, SETTINGS, Duel
from experiments.analysis.model import Entry, Sheet, SheetColumn
from experiments.analysis.settings import SEARCHED
from experiments.render import numbers
from experiments.render.figures.forest import Effect, forest

TITLE = "Is GradTree better than CART?"
FIGURE = "gradtree-against-cart"
CAPTION = (
    "Mean test F1 of GradTree minus the other’s over the datasets that both finished, with a 95 % "
    "bootstrap interval over datasets. Filled marks differ from zero by Wilcoxon’s test with "
    "Holm’s correction over all lines at 0.05."
)
NOTHING = "GradTree and CART have not both been run on enough datasets yet."


def answer(found: Sequence[Duel]) -> list[str]:
    """The table in sentences: what is significant, then both tuned alike without the leak."""
    against_cart = [each for each in found if each.rival == "cart"]
    if not against_cart:
        return [NOTHING]
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
    return f"{text}; {rest} do not tell the two apart." if rest else f"{text}."


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
        "Tuned alike by our own search, without the label leak (protocol clean), GradTree minus "
        f"CART is {' and '.join(lines)}."
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


def compact_sheet(found: Sequence[Duel]) -> Sheet:
    """One row per rival, setting and protocol; binary, multi-class and all side by side."""
    cells = {(each.rival, each.setting, each.protocol, each.scope): each for each in found}
    rows: list[tuple[Entry, ...]] = [
        (
            method_name(rival),
            SETTINGS[setting],
            protocol,
            *(_cell(cells.get((rival, setting, protocol, scope))) for scope in SCOPES),
        )
        for rival, setting, protocol in dict.fromkeys(place[:3] for place in cells)
    ]
    return Sheet(
        name="gradtree-against-cart-compact",
        title="GradTree against CART",
        caption="Mean difference of test F1 [95 % interval], wins-ties-losses over datasets, p of "
        "Wilcoxon’s test with Holm’s correction over all cells; in brackets the number of "
        "datasets where not all have been run",
        source="protocols paper and clean",
        columns=(
            SheetColumn("GradTree against"),
            SheetColumn("setting"),
            SheetColumn("protocol"),
            *(SheetColumn(name) for name in SCOPES.values()),
        ),
        rows=tuple(rows),
    )


def _cell(duel: Duel | None) -> str | None:
    if duel is None:
        return None
    some = "" if duel.contrast.n == duel.of else f" ({duel.contrast.n} of {duel.of})"
    return numbers.contrast(duel.contrast) + some


def picture(found: Sequence[Duel]) -> Figure:
    """The forest plot of all lines."""
    return forest(
        [
            Effect(
                group=f"against {method_name(each.rival)}, {SETTINGS[each.setting]}",
                label=f"{each.protocol}, {SCOPES[each.scope]} ({each.contrast.n})",
                estimate=each.contrast.difference.estimate,
                low=each.contrast.difference.low,
                high=each.contrast.difference.high,
                significant=each.contrast.significant,
                note=f"{each.contrast.wins}-{each.contrast.ties}-{each.contrast.losses}",
            )
            for each in found
        ],
        axis="GradTree minus the other: mean difference of test macro F1 (right: GradTree better)",
    )
