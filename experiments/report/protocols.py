"""The finding beside the reproduction: what changes without the label leak."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from experiments.report.gallery import PROTOCOLS_FIGURE
from experiments.report.model import Section
from experiments.tables.book import Book
from experiments.tables.definitions import method_name
from experiments.tables.model import TASK_NAMES, Entry, Sheet, SheetColumn, Table
from experiments.tables.protocols import (
    MOVED,
    Change,
    RankingChange,
    changes,
    method_changes,
    ranking_changes,
)

TABLES = ("test-f1-default", "test-f1-tuned")
INTRODUCTION = (
    "The paper encodes a category by the mean label of the other training rows in it, so that a "
    "training row’s value depends on its own label; validation and test rows carry no such hint. "
    "Protocol clean encodes every row without its own label, fits all preprocessing on the "
    "training part alone, and stratifies the splits. The leak can act only where there are "
    "categorical columns; the other datasets show what the remaining differences do."
)


def protocol_section(
    ours: Book, clean: Book | None, categorical: Collection[str]
) -> tuple[Section, ...]:
    """The section on both protocols; none before anything ran under both."""
    if clean is None:
        return ()
    pairs = [(ours.tables[name], clean.tables[name]) for name in TABLES]
    found = [
        (before, [c for c in changes(before, after, categorical) if c.difference is not None])
        for before, after in pairs
    ]
    measured = [(table, compared) for table, compared in found if compared]
    if not measured:
        return ()
    rankings = [
        (before, change) for before, after in pairs for change in ranking_changes(before, after)
    ]
    sheets = [_change_sheet(table, compared) for table, compared in measured]
    if rankings:
        sheets.insert(0, _ranking_sheet(rankings))
    return (
        Section(
            slug="clean",
            title="Without the leak",
            paragraphs=(INTRODUCTION,),
            points=tuple(_point(table, change) for table, change in rankings),
            sheets=tuple(sheets),
            figures=(PROTOCOLS_FIGURE,),
        ),
    )


def _point(table: Table, change: RankingChange) -> str:
    if change.order_survives:
        verdict = "the order of the methods stays the same"
    elif change.leader_survives:
        verdict = f"{method_name(change.paper[0][0])} stays first, the order behind it changes"
    else:
        before, after = (method_name(order[0][0]) for order in (change.paper, change.clean))
        verdict = f"the lead passes from {before} to {after}"
    task = TASK_NAMES[change.task].lower()
    return f"{table.title}, {task}: {verdict} ({change.datasets} datasets)."


def _ranking_sheet(rankings: Sequence[tuple[Table, RankingChange]]) -> Sheet:
    methods = [column.method for column in rankings[0][0].columns]
    rows: list[tuple[Entry, ...]] = []
    for table, change in rankings:
        for protocol, order in (("paper", change.paper), ("clean", change.clean)):
            scores = dict(order)
            label = f"{table.title}, {TASK_NAMES[change.task].lower()}"
            rows.append((label, protocol, *(scores.get(method) for method in methods)))
    return Sheet(
        name="protocols-mrr",
        title="Mean reciprocal rank under both protocols",
        caption="Over the datasets whose row is complete under both; 1 is best",
        source="paper and clean",
        columns=(
            SheetColumn("Table"),
            SheetColumn("Protocol"),
            *(SheetColumn(method_name(method)) for method in methods),
        ),
        rows=tuple(rows),
        best_in_row="max",
    )


def _change_sheet(table: Table, compared: Sequence[Change]) -> Sheet:
    rows: list[tuple[Entry, ...]] = []
    for label, categorical in (("with categorical columns", True), ("without", False)):
        subset = [change for change in compared if change.categorical == categorical]
        rows += [
            (
                method_name(line.method),
                label,
                line.n,
                line.mean,
                line.gains,
                line.losses,
                line.p_value,
            )
            for line in method_changes(subset)
        ]
    return Sheet(
        name=f"{table.name}-changes",
        title=f"Change of {table.title[0].lower()}{table.title[1:]}",
        caption="Mean test F1 under protocol clean minus protocol paper; p by Wilcoxon’s test "
        "over datasets",
        source="paper and clean",
        columns=(
            SheetColumn("Method"),
            SheetColumn("Datasets"),
            SheetColumn("count", 0),
            SheetColumn("mean change"),
            SheetColumn(f"gains of {MOVED:g} or more", 0),
            SheetColumn(f"losses of {MOVED:g} or more", 0),
            SheetColumn("p", 4),
        ),
        rows=tuple(rows),
    )
