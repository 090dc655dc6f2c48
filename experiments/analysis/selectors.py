"""ST entmax against ST Gumbel-softmax, with and without what happened at prediction.

The authors' program writes the pruned tree back into the variables that it
trains, as rows of zeros and ones, and predicts with the function that it
trained with. For ST Gumbel-softmax that function adds fresh noise, so a node of
the finished tree tests its own feature with some probability only. The printed
column is that of trees scrambled in this way (``gradtree-gumbel``); the same
trees, predicted as they are, are a column of their own
(``gradtree-gumbel-proper``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from experiments.analysis import statistics
from experiments.analysis.duels import FEWEST_DATASETS, SCOPES, difference
from experiments.analysis.model import TASKS, Entry, Setting, Sheet, SheetColumn, Table, Task
from experiments.analysis.ranking import mean_of
from experiments.analysis.statistics import Contrast

ENTMAX, PRINTED, PROPER = "gradtree", "gradtree-gumbel", "gradtree-gumbel-proper"
SETTINGS: tuple[Setting, ...] = ("tuned", "default")


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
        for setting in SETTINGS
        for column in tables[f"ablation-{setting}"].columns
    ):
        return []
    found = []
    for other in (PRINTED, PROPER):
        lines = [
            line
            for setting in SETTINGS
            for scope in SCOPES
            if (line := _duel(tables[f"ablation-{setting}"], setting, scope, other)) is not None
        ]
        corrected = statistics.corrected([line.contrast for line in lines])
        found += [replace(a, contrast=b) for a, b in zip(lines, corrected, strict=True)]
    return found


def _duel(table: Table, setting: Setting, scope: str, other: str) -> SelectorDuel | None:
    pairs = _pairs(table, other, [task for task in TASKS if scope in (task, "all")])
    if len(pairs) < FEWEST_DATASETS:
        return None
    return SelectorDuel(
        setting,
        scope,
        other,
        mean_of([mine for mine, _ in pairs]),
        mean_of([theirs for _, theirs in pairs]),
        statistics.contrast([mine - theirs for mine, theirs in pairs]),
    )


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
    if len(pairs) < FEWEST_DATASETS:
        return None
    return statistics.contrast([mine - theirs for mine, theirs in pairs])


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
