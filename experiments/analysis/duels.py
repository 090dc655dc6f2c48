"""GradTree against CART, in one place: the question that everybody has.

For every setting (published hyperparameters, defaults, our own search) and
both protocols: the mean difference of test F1 over datasets with a paired
bootstrap interval, wins, ties and losses, and Wilcoxon's test with Holm's
correction over all lines of the table. The same against a pruned CART, which
a practitioner would use instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from experiments.analysis import statistics
from experiments.analysis.cells import Results
from experiments.analysis.definitions import method_name
from experiments.analysis.model import TASKS, Cell, Entry, Sheet, SheetColumn
from experiments.analysis.paper import Paper
from experiments.analysis.settings import SEARCHED

OURS = "gradtree"
RIVALS = ("cart", "cart-pruned")
PROTOCOLS = ("paper", "clean")
SETTINGS = {
    "tuned": "published hyperparameters",
    "default": "default hyperparameters",
    SEARCHED: "our own search",
}
UNTUNED = ("cart-pruned",)
"""Rivals that choose their own complexity: their default run stands in every setting."""
SCOPES = {"binary": "binary", "multi": "multi-class", "all": "all"}
TIE = 0.0005
"""A difference that the printed digits do not show."""
FEWEST_DATASETS = 5


@dataclass(frozen=True)
class Duel:
    """Two learners over the datasets on which both have every trial."""

    rival: str
    setting: str
    protocol: str
    scope: str
    n: int
    of: int
    difference: statistics.Interval
    wins: int
    ties: int
    losses: int
    p_value: float
    p_adjusted: float = 1.0

    @property
    def complete(self) -> bool:
        return self.n == self.of


def duels(results: Results, paper: Paper) -> list[Duel]:
    """All lines for which enough datasets have been run under both learners."""
    found = []
    for rival in RIVALS:
        for setting in SETTINGS:
            for protocol in PROTOCOLS:
                lines = _differences(results, paper, protocol, setting, rival)
                for scope in SCOPES:
                    inside = [difference for task, difference in lines if scope in (task, "all")]
                    known = [value for value in inside if value is not None]
                    if len(known) >= FEWEST_DATASETS:
                        place = (rival, setting, protocol, scope)
                        found.append(_duel(*place, known, len(inside)))
    adjusted = statistics.holm([each.p_value for each in found])
    return [replace(each, p_adjusted=p) for each, p in zip(found, adjusted, strict=True)]


def _differences(
    results: Results, paper: Paper, protocol: str, setting: str, rival: str
) -> list[tuple[str, float | None]]:
    """(task, mean test F1 of ours minus the rival's) per dataset; ``None`` where one is missing."""
    theirs = "default" if rival in UNTUNED else setting
    lines: list[tuple[str, float | None]] = []
    for task in TASKS:
        for dataset in paper.of_task(task):
            mine = results.cell(protocol, setting, dataset.slug, OURS, "test_f1")
            other = results.cell(protocol, theirs, dataset.slug, rival, "test_f1")
            lines.append((task, _difference(mine, other)))
    return lines


def _difference(mine: Cell, other: Cell) -> float | None:
    if mine.mean is None or other.mean is None or mine.partial or other.partial:
        return None
    return mine.mean - other.mean


def _duel(
    rival: str, setting: str, protocol: str, scope: str, known: Sequence[float], of: int
) -> Duel:
    return Duel(
        rival=rival,
        setting=setting,
        protocol=protocol,
        scope=scope,
        n=len(known),
        of=of,
        difference=statistics.bootstrap(known),
        wins=sum(value > TIE for value in known),
        ties=sum(abs(value) <= TIE for value in known),
        losses=sum(value < -TIE for value in known),
        p_value=statistics.wilcoxon(known),
    )


def duels_sheet(found: Sequence[Duel]) -> Sheet:
    """The table that stands first."""
    rows: list[tuple[Entry, ...]] = [
        (
            method_name(each.rival),
            SETTINGS[each.setting],
            each.protocol,
            SCOPES[each.scope],
            each.n,
            each.difference.estimate,
            each.difference.low,
            each.difference.high,
            f"{each.wins}-{each.ties}-{each.losses}",
            each.p_value,
            each.p_adjusted,
        )
        for each in found
    ]
    return Sheet(
        name="gradtree-against-cart",
        title="GradTree against CART",
        caption="Mean test F1 of GradTree minus the other's over the datasets that both finished, "
        "with a 95 % interval (paired bootstrap over datasets), wins-ties-losses, and Wilcoxon's "
        "p, plain and corrected by Holm over this table",
        source="paper and clean",
        columns=(
            SheetColumn("Against"),
            SheetColumn("Setting"),
            SheetColumn("Protocol"),
            SheetColumn("Task"),
            SheetColumn("datasets", 0),
            SheetColumn("difference"),
            SheetColumn("low", group="95 % interval"),
            SheetColumn("high", group="95 % interval"),
            SheetColumn("W-T-L"),
            SheetColumn("p", 4),
            SheetColumn("p (Holm)", 4),
        ),
        rows=tuple(rows),
    )


def answer(found: Sequence[Duel]) -> str:
    """The whole table in two sentences: where GradTree leads CART, and where it trails."""
    named = {"better": [], "worse": [], "open": []}  # type: dict[str, list[str]]
    for each in found:
        if each.rival != "cart" or each.scope == "all":
            continue
        text = (
            f"{SCOPES[each.scope]} {SETTINGS[each.setting]} under `{each.protocol}` "
            f"{each.difference.estimate:+.3f}"
        )
        if each.p_adjusted >= LEVEL:
            named["open"].append(text)
        else:
            named["better" if each.difference.estimate > 0 else "worse"].append(text)
    parts = [
        f"{words}: {'; '.join(named[kind])}."
        for kind, words in (
            ("better", "GradTree is significantly better than CART on"),
            ("worse", "significantly worse on"),
            ("open", "not told apart on"),
        )
        if named[kind]
    ]
    return " ".join(part[0].upper() + part[1:] for part in parts)


LEVEL = 0.05
