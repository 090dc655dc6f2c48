"""Whether GradTree's own defaults are better than the paper's, and what each choice is worth.

The experiment ``defaults`` fits GradTree as published, with its revised defaults, and with one
of their main choices set back at a time. Here the revised defaults are set against each of the
others, dataset by dataset.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from experiments.analysis import statistics
from experiments.analysis.duels import (
    CONTRAST_COLUMNS,
    PROTOCOLS,
    SCOPES,
    Side,
    contrast_entries,
    differences,
)
from experiments.analysis.grids import Results
from experiments.analysis.model import Entry, Sheet, SheetColumn
from experiments.analysis.paper import Paper
from experiments.analysis.ranking import mean_of
from experiments.analysis.statistics import Contrast

EXPERIMENT, REVISED = "defaults", "gradtree-revised"


@dataclass(frozen=True)
class Choice:
    """What the revised defaults do, and what the other learner does instead."""

    method: str
    choice: str
    instead: str

    @property
    def set_back(self) -> bool:
        """Whether the other learner is the revised one with this choice alone set back."""
        return self.method.startswith(REVISED)


CHOICES = (
    Choice("gradtree", "all defaults", "GradTree as published"),
    Choice("cart", "all defaults", "CART"),
    Choice(f"{REVISED}-learned-leaves", "leaves refitted on all rows", "learned leaves"),
    Choice(f"{REVISED}-by-loss", "run and epoch chosen by F1", "chosen by loss"),
    Choice(f"{REVISED}-four-long-runs", "sixteen short runs", "four long runs"),
    Choice(f"{REVISED}-slow-leaves", "leaf rate 0.2", "the paper's leaf rate"),
    Choice(f"{REVISED}-sigmoid", "softsign splits", "sigmoid splits"),
    Choice(f"{REVISED}-glorot", "first thresholds at quantiles", "around zero"),
    Choice(f"{REVISED}-free-leaves", "a price per leaf", "no price"),
)


@dataclass(frozen=True)
class Worth:
    """Test F1 of the revised defaults minus the other learner's; mean nodes of both."""

    choice: Choice
    protocol: str
    scope: str
    contrast: Contrast
    nodes: float
    other_nodes: float


def worths(results: Results, paper: Paper) -> list[Worth]:
    """Every choice, protocol and task with enough datasets; Holm's correction is over all."""
    found = []
    for choice in CHOICES:
        for protocol in PROTOCOLS:
            sides = (protocol, EXPERIMENT, REVISED), (protocol, EXPERIMENT, choice.method)
            lines = differences(results, paper, *sides)
            for scope in SCOPES:
                known = {
                    dataset: gap
                    for task, dataset, gap in lines
                    if scope in (task, "all") and gap is not None
                }
                contrast = statistics.contrast_of_known(known.values())
                if contrast is not None:
                    sizes = [_nodes(results, side, known) for side in sides]
                    found.append(Worth(choice, protocol, scope, contrast, *sizes))
    return statistics.corrected_lines(found)


def _nodes(results: Results, side: Side, datasets: Iterable[str]) -> float:
    protocol, experiment, method = side
    cells = (results.cell(protocol, experiment, slug, method, "tree_size") for slug in datasets)
    return mean_of([cell.mean or 0.0 for cell in cells])


def worths_sheet(found: Sequence[Worth]) -> Sheet:
    """Every line with all its figures."""
    rows: list[tuple[Entry, ...]] = [
        (
            each.choice.choice,
            each.choice.instead,
            each.protocol,
            SCOPES[each.scope],
            each.contrast.n,
            each.nodes,
            each.other_nodes,
            *contrast_entries(each.contrast),
        )
        for each in found
    ]
    return Sheet(
        name="gradtree-defaults",
        title="GradTree's own defaults",
        caption="Mean test F1 of GradTree with its own defaults minus that of the other learner, "
        "over datasets, with a 95 % interval (paired bootstrap over datasets); mean nodes of both; "
        "wins, ties and losses; Wilcoxon's p, uncorrected and with Holm's correction over this "
        "table",
        source="protocols paper and clean",
        columns=(
            SheetColumn("Choice"),
            SheetColumn("Instead"),
            SheetColumn("Protocol"),
            SheetColumn("Task"),
            SheetColumn("datasets", 0),
            SheetColumn("own defaults", 1, group="nodes"),
            SheetColumn("instead", 1, group="nodes"),
            *CONTRAST_COLUMNS,
        ),
        rows=tuple(rows),
    )
