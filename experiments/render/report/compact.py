"""Findings as small tables for people: one row per question, whole contrasts as texts.

The full tables, one figure per field, are sheets of ``experiments.analysis``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from experiments.analysis.duels import PRINTED, PROTOCOLS, SCOPES, SETTINGS, Duel, SelectorDuel
from experiments.analysis.findings import Findings
from experiments.analysis.model import Entry, Sheet, SheetColumn
from experiments.analysis.paper import method_name
from experiments.analysis.quirks import METHODS, QuirkEffect
from experiments.analysis.ranking import mean_of
from experiments.analysis.revised import Worth
from experiments.analysis.settings import searched_scores
from experiments.analysis.small_trees import FREE, PRUNED, READINGS, Line, Place, SmallTrees
from experiments.analysis.statistics import Contrast
from experiments.render import numbers

BOTH = "protocols paper and clean"
STAR = "* where Wilcoxon’s test with Holm’s correction finds a difference at 0.05"


def starred(contrast: Contrast | None) -> str | None:
    """``+0.013 [-0.009, +0.036] *``: the star for a significant difference."""
    if contrast is None:
        return None
    return numbers.interval(contrast.difference) + (" *" if contrast.significant else "")


def duels(found: Sequence[Duel]) -> Sheet:
    """One row per rival, setting and protocol; binary, multi-class and all side by side."""
    cells = {(each.rival, each.setting, each.protocol, each.scope): each for each in found}
    rows: list[tuple[Entry, ...]] = [
        (
            method_name(rival),
            SETTINGS[setting],
            protocol,
            *(_duel(cells.get((rival, setting, protocol, scope))) for scope in SCOPES),
        )
        for rival, setting, protocol in dict.fromkeys(place[:3] for place in cells)
    ]
    return Sheet(
        name="gradtree-against-cart-compact",
        title="GradTree against CART",
        caption="Mean difference of test F1 [95 % interval], wins-ties-losses over datasets, p of "
        "Wilcoxon’s test with Holm’s correction over all cells; in brackets the number of "
        "datasets where not all have been run",
        source=BOTH,
        columns=_columns("GradTree against", "setting", "protocol", *SCOPES.values()),
        rows=tuple(rows),
    )


def _duel(duel: Duel | None) -> str | None:
    if duel is None:
        return None
    some = "" if duel.contrast.n == duel.of else f" ({duel.contrast.n} of {duel.of})"
    return numbers.contrast(duel.contrast) + some


def quirks(found: Sequence[QuirkEffect]) -> Sheet:
    """One row per replaced quirk, a column per learner."""
    cells = {(each.variant, each.method): each.contrast for each in found}
    rows: list[tuple[Entry, ...]] = []
    for variant in dict.fromkeys(each.variant for each in found):
        contrasts = [cells.get((variant, method)) for method in METHODS]
        counts = _range([each.n for each in contrasts if each is not None])
        rows.append((variant.quirk, variant.instead, counts, *map(starred, contrasts)))
    return Sheet(
        name="quirks-compact",
        title="What each quirk does",
        caption="Change of mean test F1 when a quirk of protocol paper is replaced, default "
        f"hyperparameters [95 % interval]; {STAR}",
        source="protocol paper and its variants",
        columns=_columns("quirk", "instead", "datasets", *map(method_name, METHODS)),
        rows=tuple(rows),
    )


def _range(counts: Sequence[int]) -> str:
    fewest, most = min(counts), max(counts)
    return f"{most}" if fewest == most else f"{fewest} to {most}"


def selectors(found: Sequence[SelectorDuel]) -> Sheet:
    """ST entmax against ST Gumbel softmax with and without noise at prediction."""
    rows: list[tuple[Entry, ...]] = [
        (
            "with noise, as printed" if each.other == PRINTED else "without",
            each.setting,
            SCOPES[each.scope],
            each.entmax,
            each.gumbel,
            starred(each.contrast),
        )
        for each in found
        if each.scope != "all"
    ]
    return Sheet(
        name="selectors-compact",
        title="ST entmax against ST Gumbel softmax",
        caption=f"Mean test F1 of both and their difference [95 % interval]; {STAR}",
        source="paper",
        columns=_columns(
            "prediction", "setting", "task", "ST entmax", "ST Gumbel softmax", "difference"
        ),
        rows=tuple(rows),
    )


def searched(found: Findings) -> Sheet:
    """Per protocol and learner: the mean test F1 with published hyperparameters and with ours."""
    rows: list[tuple[Entry, ...]] = [
        (
            protocol,
            method_name(method),
            len(scores),
            *(mean_of(list(s)) for s in zip(*scores, strict=True)),
        )
        for protocol in found.table_sets
        for method, scores in _both_ways(found, protocol).items()
    ]
    return Sheet(
        name="searched-compact",
        title="Our own search",
        caption="Mean test F1 over the datasets searched, with the published hyperparameters and "
        "with those that our search found",
        source=BOTH,
        columns=(
            SheetColumn("protocol"),
            SheetColumn("learner"),
            SheetColumn("datasets", 0),
            SheetColumn("published"),
            SheetColumn("ours"),
        ),
        rows=tuple(rows),
    )


def _both_ways(found: Findings, protocol: str) -> dict[str, list[tuple[float, float]]]:
    pairs: dict[str, list[tuple[float, float]]] = {}
    for _, method, published, ours in searched_scores(found.results, found.paper, protocol):
        if published.mean is not None and ours.mean is not None:
            pairs.setdefault(method, []).append((published.mean, ours.mean))
    return pairs


def small_trees(found: SmallTrees) -> Sheet:
    """One row per learner under ``clean``; groups of datasets and sizes side by side."""
    lines = {(line.place, line.method): line for line in found.lines}
    tests = {(t.place, t.method): t.contrast for t in found.tests if t.against == PRUNED}
    places = [place for place in dict.fromkeys(at for at, _ in lines) if place.protocol == "clean"]
    methods = dict.fromkeys(method for at, method in lines if at in places)
    rows: list[tuple[Entry, ...]] = []
    for method in methods:
        own = [(lines.get((at, method)), tests.get((at, method))) for at in places]
        free = next((line for line, _ in own if line and line.place.reading == FREE), None)
        rows.append((method_name(method), *(_small_tree(*each) for each in own), *_costs(free)))
    return Sheet(
        name="small-trees-compact",
        title="One small tree",
        caption="Mean test F1 under protocol clean over the datasets that every learner shown at "
        "a size finished (in brackets how many); * where it "
        f"differs from {method_name(PRUNED)} by Wilcoxon’s test with Holm’s correction at 0.05; "
        "nodes and CPU seconds of a fit with its tuning, at free size",
        source="clean",
        columns=(
            SheetColumn("learner"),
            *(SheetColumn(_size(at, lines.values()), group=at.group) for at in places),
            SheetColumn("nodes", 0),
            SheetColumn("CPU s", 1),
        ),
        rows=tuple(rows),
    )


def _size(place: Place, lines: Iterable[Line]) -> str:
    n = next(line.n for line in lines if line.place == place)
    return f"{READINGS[place.reading]} ({n})"


def _small_tree(line: Line | None, test: Contrast | None) -> str | None:
    if line is None:
        return None
    star = " *" if test is not None and test.significant else ""
    return numbers.fixed(line.f1.estimate, 3) + star


def _costs(free: Line | None) -> tuple[float | None, float | None]:
    return (
        (None, None) if free is None else (free.means["tree_size"], free.means["cpu_seconds_alone"])
    )


def revised(found: Sequence[Worth]) -> Sheet:
    """One row per choice of GradTree's own defaults; protocols and tasks side by side."""
    cells = {(each.choice, each.protocol, each.scope): each for each in found}
    places = [(protocol, scope) for protocol in PROTOCOLS for scope in ("binary", "multi")]
    rows: list[tuple[Entry, ...]] = []
    for choice in dict.fromkeys(each.choice for each in found):
        worths = [cells.get((choice, *place)) for place in places]
        both = cells.get((choice, PROTOCOLS[-1], "all"))
        rows.append(
            (
                choice.choice,
                choice.instead,
                *(starred(each.contrast if each else None) for each in worths),
                f"{both.nodes:.0f} / {both.other_nodes:.0f}" if both else None,
            )
        )
    return Sheet(
        name="gradtree-defaults-compact",
        title="What each default is worth",
        caption="Mean test F1 with the own defaults minus that with the alternative [95 % "
        f"interval]; {STAR}; mean nodes of both under protocol {PROTOCOLS[-1]}",
        source=BOTH,
        columns=_columns(
            "own default",
            "instead",
            *(f"{protocol}, {SCOPES[scope]}" for protocol, scope in places),
            "nodes",
        ),
        rows=tuple(rows),
    )


def _columns(*names: str) -> tuple[SheetColumn, ...]:
    return tuple(map(SheetColumn, names))
