"""Duels over datasets: GradTree against CART, ST entmax against ST Gumbel-softmax.

Is GradTree better than CART? For every setting (published hyperparameters,
defaults, our own search) and both protocols: the mean difference of test F1 over
datasets with a paired bootstrap interval, wins, ties and losses, and Wilcoxon's
test with Holm's correction over all lines of the table. The same against a
pruned CART, which a practitioner would use instead.

Is ST entmax better than ST Gumbel-softmax? The authors' program writes the
pruned tree back into the variables that it trains, as rows of zeros and ones,
and predicts with the function that it trained with. For ST Gumbel-softmax that
function adds fresh noise, so a node of the finished tree tests its own feature
with some probability only. The printed column is that of trees scrambled in this
way (``gradtree-gumbel``); the same trees, predicted as they are, are a column of
their own (``gradtree-gumbel-proper``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.analysis import statistics
from experiments.analysis.grids import Results
from experiments.analysis.model import TASKS, Cell, Entry, Setting, Sheet, SheetColumn, Table, Task
from experiments.analysis.paper import Paper, method_name
from experiments.analysis.ranking import mean_of
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
                theirs = "default" if rival in UNTUNED else setting
                sides = (protocol, setting, OURS), (protocol, theirs, rival)
                lines = differences(results, paper, *sides)
                for scope in SCOPES:
                    inside = [gap for task, _, gap in lines if scope in (task, "all")]
                    contrast = statistics.contrast_of_known(inside)
                    if contrast is not None:
                        found.append(Duel(rival, setting, protocol, scope, len(inside), contrast))
    return statistics.corrected_lines(found)


Side = tuple[str, str, str]
"""protocol, experiment, method"""


def differences(
    results: Results, paper: Paper, mine: Side, other: Side
) -> list[tuple[Task, str, float | None]]:
    """(task, dataset, difference of mean test F1); ``None`` where one of the two is missing."""
    lines: list[tuple[Task, str, float | None]] = []
    for task in TASKS:
        for dataset in paper.of_task(task):
            ours, theirs = (
                results.cell(protocol, experiment, dataset.slug, method, "test_f1")
                for protocol, experiment, method in (mine, other)
            )
            lines.append((task, dataset.slug, difference(ours, theirs)))
    return lines


def difference(mine: Cell, other: Cell) -> float | None:
    """Of two means over the same trials; ``None`` where trials are missing."""
    if mine.mean is None or other.mean is None or mine.partial or other.partial:
        return None
    return mine.mean - other.mean if mine.trials == other.trials else None


def contrast_columns(change: str, more: str, same: str, less: str) -> tuple[SheetColumn, ...]:
    """The columns that every table of contrasts ends with; they differ in their names."""
    return (
        SheetColumn(change, kind="change"),
        SheetColumn("low", group="95 % interval", kind="change"),
        SheetColumn("high", group="95 % interval", kind="change"),
        *(SheetColumn(name, 0) for name in (more, same, less)),
        SheetColumn("p", kind="p"),
        SheetColumn("p (Holm)", kind="p"),
    )


CONTRAST_COLUMNS = contrast_columns("difference", "wins", "ties", "losses")


def contrast_entries(contrast: Contrast) -> tuple[Entry, ...]:
    """The fields of one line in these columns."""
    return (
        contrast.difference.estimate,
        contrast.difference.low,
        contrast.difference.high,
        contrast.wins,
        contrast.ties,
        contrast.losses,
        contrast.p_value,
        contrast.p_adjusted,
    )


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
            *contrast_entries(each.contrast),
        )
        for each in found
    ]
    return Sheet(
        name="gradtree-against-cart",
        title="GradTree against CART",
        caption="Mean test F1 of GradTree minus that of the other method, over the datasets that "
        "both finished, with a 95 % interval (paired bootstrap over datasets), wins, ties and "
        "losses, and Wilcoxon's p, uncorrected and with Holm's correction over this table",
        source="protocols paper and clean",
        columns=(
            SheetColumn("Against"),
            SheetColumn("Setting"),
            SheetColumn("Protocol"),
            SheetColumn("Task"),
            SheetColumn("datasets", 0),
            SheetColumn("of", 0),
            *CONTRAST_COLUMNS,
        ),
        rows=tuple(rows),
    )


ENTMAX, PRINTED, PROPER = "gradtree", "gradtree-gumbel", "gradtree-gumbel-proper"
PRINTED_SETTINGS: tuple[Setting, ...] = ("tuned", "default")


@dataclass(frozen=True)
class SelectorDuel:
    """ST entmax minus ST Gumbel-softmax over the datasets of a scope.

    ``other`` says how the latter predicts: ``gradtree-gumbel`` with the artefact,
    ``gradtree-gumbel-proper`` without.
    """

    setting: Setting
    scope: str
    other: str
    entmax: float
    gumbel: float
    contrast: Contrast


def selector_duels(tables: Mapping[str, Table]) -> list[SelectorDuel]:
    """Every setting and scope, both ways of predicting, where enough datasets have been run.

    Holm's correction is over the lines of either way, which are two questions. One way alone
    compares nothing and gives no line.
    """
    if not any(
        column.method == PROPER
        for setting in PRINTED_SETTINGS
        for column in tables[f"ablation-{setting}"].columns
    ):
        return []
    found = []
    for other in (PRINTED, PROPER):
        lines = [
            line
            for setting in PRINTED_SETTINGS
            for scope in SCOPES
            if (line := _duel(tables[f"ablation-{setting}"], setting, scope, other)) is not None
        ]
        found += statistics.corrected_lines(lines)
    return found


def _duel(table: Table, setting: Setting, scope: str, other: str) -> SelectorDuel | None:
    pairs = _pairs(table, other, [task for task in TASKS if scope in (task, "all")])
    contrast = statistics.contrast_of_known(mine - theirs for mine, theirs in pairs)
    if contrast is None:
        return None
    entmax, gumbel = (mean_of(side) for side in zip(*pairs, strict=True))
    return SelectorDuel(setting, scope, other, entmax, gumbel, contrast)


def _pairs(table: Table, other: str, tasks: list[Task]) -> list[tuple[float, float]]:
    """Means of both over the datasets that both finished."""
    if other not in [column.method for column in table.columns]:
        return []
    mine, theirs = table.column(ENTMAX), table.column(other)
    return [
        (row.cells[mine].mean or 0.0, row.cells[theirs].mean or 0.0)
        for task in tasks
        for row in table.block(task).rows
        if difference(row.cells[mine], row.cells[theirs]) is not None
    ]


def without_artefact(table: Table, task: Task) -> Contrast | None:
    """ST entmax minus ST Gumbel-softmax predicted properly; ``None`` before enough has run."""
    pairs = _pairs(table, PROPER, [task])
    return statistics.contrast_of_known(mine - theirs for mine, theirs in pairs)


def selectors_sheet(found: Sequence[SelectorDuel], source: str) -> Sheet:
    """Both ways of predicting beside one another, line by line."""
    rows: list[tuple[Entry, ...]] = [
        (
            "with noise, as printed" if each.other == PRINTED else "without",
            each.setting,
            SCOPES[each.scope],
            each.contrast.n,
            each.entmax,
            each.gumbel,
            *contrast_entries(each.contrast),
        )
        for each in found
    ]
    return Sheet(
        name="selectors",
        title="ST entmax against ST Gumbel softmax",
        caption="Mean test F1 of both over datasets, with and without noise at prediction; the "
        "difference with a 95 % interval (paired bootstrap over datasets), wins, ties and losses "
        "of ST entmax, Wilcoxon's p, plain and corrected by Holm over the lines of either way",
        source=source,
        columns=(
            SheetColumn("Gumbel noise at prediction"),
            SheetColumn("Setting"),
            SheetColumn("Task"),
            SheetColumn("datasets", 0),
            SheetColumn("ST entmax"),
            SheetColumn("ST Gumbel softmax"),
            *CONTRAST_COLUMNS,
        ),
        rows=tuple(rows),
    )
