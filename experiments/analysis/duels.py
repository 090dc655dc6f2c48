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
from experiments.analysis.statistics import Contrast

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
FEWEST_DATASETS = 5
"""Below this no interval over datasets is worth its name."""


@dataclass(frozen=True)
class Duel:
    """GradTree and a rival over the datasets on which both have every trial.

    ``of`` counts the paper's datasets in the scope.
    """

    rival: str
    setting: str
    protocol: str
    scope: str
    of: int
    contrast: Contrast


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
                        contrast = statistics.contrast(known)
                        found.append(Duel(rival, setting, protocol, scope, len(inside), contrast))
    corrected = statistics.corrected([each.contrast for each in found])
    return [replace(each, contrast=one) for each, one in zip(found, corrected, strict=True)]


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
            lines.append((task, difference(mine, other)))
    return lines


def difference(mine: Cell, other: Cell) -> float | None:
    """Of two means over the same trials; ``None`` where trials are missing."""
    if mine.mean is None or other.mean is None or mine.partial or other.partial:
        return None
    return mine.mean - other.mean if mine.trials == other.trials else None


def duels_sheet(found: Sequence[Duel]) -> Sheet:
    """Every line with all its figures."""
    rows: list[tuple[Entry, ...]] = [
        (
            method_name(each.rival),
            SETTINGS[each.setting],
            each.protocol,
            SCOPES[each.scope],
            each.contrast.n,
            each.of,
            each.contrast.difference.estimate,
            each.contrast.difference.low,
            each.contrast.difference.high,
            each.contrast.wins,
            each.contrast.ties,
            each.contrast.losses,
            each.contrast.p_value,
            each.contrast.p_adjusted,
        )
        for each in found
    ]
    return Sheet(
        name="gradtree-against-cart",
        title="GradTree against CART",
        caption="Mean test F1 of GradTree minus the other's over the datasets that both finished, "
        "with a 95 % interval (paired bootstrap over datasets), wins, ties and losses, and "
        "Wilcoxon's p, plain and corrected by Holm over this table",
        source="protocols paper and clean",
        columns=(
            SheetColumn("Against"),
            SheetColumn("Setting"),
            SheetColumn("Protocol"),
            SheetColumn("Task"),
            SheetColumn("datasets", 0),
            SheetColumn("of", 0),
            SheetColumn("difference", kind="change"),
            SheetColumn("low", group="95 % interval", kind="change"),
            SheetColumn("high", group="95 % interval", kind="change"),
            SheetColumn("wins", 0),
            SheetColumn("ties", 0),
            SheetColumn("losses", 0),
            SheetColumn("p", kind="p"),
            SheetColumn("p (Holm)", kind="p"),
        ),
        rows=tuple(rows),
    )
