"""What protocol ``clean`` changes: the one place where it is told.

The report's section, the page ``clean.md`` and the README's table are made of the
same sentences and sheets.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from experiments.analysis.findings import Findings
from experiments.analysis.model import TASK_NAMES, Claim, Entry, Sheet, SheetColumn, Table
from experiments.analysis.paper import method_name
from experiments.analysis.ranking import OrderChange
from experiments.analysis.sensitivity import (
    MOVED,
    Change,
    RankingChange,
    changes,
    method_changes,
    ranking_changes,
)
from experiments.render import numbers
from experiments.render.markdown import section_markdown
from experiments.render.report.model import Section

TABLES = ("test-f1-default", "test-f1-tuned")
FIGURE = "clean-against-paper"
SOURCE = "protocols paper and clean"
INTRODUCTION = (
    "The paper encodes a category as the mean label of the other training rows in it. A training "
    "row’s code therefore depends on its own label; the codes of validation and test rows do not. "
    "Protocol clean encodes every row without its own label (cross-fitting), fits all "
    "preprocessing on the training rows, rebalances only those, and stratifies the splits. Every "
    "method is trained under both protocols. The leak only affects datasets with categorical "
    "columns; the others show the effect of the remaining differences. Tuned means the published "
    "hyperparameters, which were chosen under protocol paper."
)

Pair = tuple[Table, Table]
"""A table under ``paper`` and under ``clean``."""


def pairs_of(found: Findings) -> list[Pair]:
    """The tables of scores under both protocols; none before anything ran under ``clean``."""
    if "clean" not in found.table_sets:
        return []
    ours, clean = found.table_sets["paper"].tables, found.table_sets["clean"].tables
    return [(ours[name], clean[name]) for name in TABLES]


def clean_section(
    pairs: Sequence[Pair],
    categorical: Collection[str],
    claims: tuple[Sequence[Claim], Sequence[Claim]],
) -> tuple[Section, ...]:
    """The section on both protocols; none before anything ran under both.

    ``claims`` are those of the paper as checked under either protocol.
    """
    measured = measured_changes(pairs, categorical)
    rankings = [
        (before, change) for before, after in pairs for change in ranking_changes(before, after)
    ]
    if not measured:
        return ()
    sheets = [_change_sheet(table, both) for table, both in measured]
    if rankings:
        sheets.insert(0, _ranking_sheet(rankings))
    return (
        Section(
            slug="clean",
            title="Without the leak",
            paragraphs=(INTRODUCTION,),
            points=(
                *(_change_point(table, both) for table, both in measured),
                *(order_point(table, change) for table, change in rankings if _most(table, change)),
            ),
            sheets=(*sheets, *_claims_sheets(*claims)),
            figures=(FIGURE,),
        ),
    )


def clean_page(
    pairs: Sequence[Pair],
    categorical: Collection[str],
    claims: tuple[Sequence[Claim], Sequence[Claim]],
) -> str:
    """The section as a page of its own, with the change on every dataset."""
    sections = clean_section(pairs, categorical, claims)
    if not sections:
        return "# Without the leak\n\nNothing has been run under both protocols yet.\n"
    more = [_dataset_sheet(*both) for both in measured_changes(pairs, categorical)]
    return section_markdown(sections[0], more)


def orders(found: Findings) -> list[str]:
    """What becomes of the order of the methods, where it is over most datasets of a task."""
    return [
        order_point(before, change)
        for before, after in pairs_of(found)
        for change in ranking_changes(before, after)
        if _most(before, change)
    ]


def summary_sheet(found: Findings) -> Sheet:
    """Mean change of every method, with the number of datasets, as the README shows it."""
    measured = measured_changes(pairs_of(found), found.categorical)
    methods = [column.method for column in measured[0][0].columns] if measured else []
    rows: list[tuple[Entry, ...]] = []
    for table, compared in measured:
        for label, subset in by_leak(compared):
            means = {
                each.method: f"{numbers.signed(each.mean, 3)} ({each.n})"
                for each in method_changes(subset)
            }
            rows.append((f"{table.title}, {label}", *(means.get(method) for method in methods)))
    return Sheet(
        name="clean-summary",
        title="Without the leak",
        caption="Mean change of test F1 from protocol paper to protocol clean (datasets)",
        source=SOURCE,
        columns=(
            SheetColumn("`clean` minus `paper`"),
            *(SheetColumn(method_name(method)) for method in methods),
        ),
        rows=tuple(rows),
    )


def measured_changes(
    pairs: Sequence[Pair], categorical: Collection[str]
) -> list[tuple[Table, list[Change]]]:
    """The tables that were measured under both protocols, and how their cells change."""
    return [
        (before, both)
        for before, after in pairs
        if (
            both := [
                change
                for change in changes(before, after, categorical)
                if change.difference is not None
            ]
        )
    ]


def by_leak(compared: Sequence[Change]) -> list[tuple[str, list[Change]]]:
    """Changes on datasets where the leak can act, and on the others."""
    return [
        (label, [change for change in compared if change.categorical == categorical])
        for label, categorical in (
            ("with categorical columns", True),
            ("without categorical columns", False),
        )
    ]


def _change_point(table: Table, compared: Sequence[Change]) -> str:
    """How much each method gains where the leak can act, and where it cannot."""
    parts = []
    for label, subset in by_leak(compared):
        means = [
            f"{method_name(line.method)} {numbers.signed(line.mean, 3)} ({line.n})"
            for line in method_changes(subset)
        ]
        if means:
            parts.append(f"on datasets {label} {', '.join(means)}")
    return f"{table.title}, mean change (datasets): {'; '.join(parts)}."


def _most(table: Table, change: RankingChange) -> bool:
    """Whether an order is over enough of a task's datasets to be told in a sentence."""
    return 2 * change.datasets >= len(table.block(change.task).rows)


def order_point(table: Table, change: RankingChange) -> str:
    task = TASK_NAMES[change.task].lower()
    return f"{table.title}, {task}: {order_phrase(change)} ({change.datasets} datasets)."


def order_phrase(change: OrderChange) -> str:
    """What becomes of an order by MRR, without its datasets."""
    if change.order_survives:
        return "the order of the methods stays the same"
    if change.leader_survives:
        return f"{method_name(change.before[0][0])} stays first, the order behind it changes"
    before, after = (method_name(order[0][0]) for order in (change.before, change.after))
    return f"the lead passes from {before} to {after}"


def _ranking_sheet(rankings: Sequence[tuple[Table, RankingChange]]) -> Sheet:
    methods = [column.method for column in rankings[0][0].columns]
    rows: list[tuple[Entry, ...]] = []
    for table, change in rankings:
        for protocol, order in (("paper", change.before), ("clean", change.after)):
            scores = dict(order)
            label = f"{table.title}, {TASK_NAMES[change.task].lower()}"
            rows.append((label, protocol, *(scores.get(method) for method in methods)))
    return Sheet(
        name="protocols-mrr",
        title="Mean reciprocal rank under both protocols",
        caption="Over the datasets whose row is complete under both protocols; 1 is best",
        source=SOURCE,
        columns=(
            SheetColumn("Table"),
            SheetColumn("Protocol"),
            *(SheetColumn(method_name(method)) for method in methods),
        ),
        rows=tuple(rows),
        best_in_row="max",
    )


def _change_sheet(table: Table, compared: Sequence[Change]) -> Sheet:
    rows: list[tuple[Entry, ...]] = [
        (
            method_name(line.method),
            label,
            line.n,
            line.mean,
            line.gains,
            line.losses,
            line.p_value,
        )
        for label, subset in by_leak(compared)
        for line in method_changes(subset)
    ]
    return Sheet(
        name=f"{table.name}-changes",
        title=f"Change of {table.title[0].lower()}{table.title[1:]}",
        caption="Mean test F1 under protocol clean minus protocol paper; p by Wilcoxon’s test "
        "over datasets",
        source=SOURCE,
        columns=(
            SheetColumn("Method"),
            SheetColumn("Datasets"),
            SheetColumn("count", 0),
            SheetColumn("mean change", kind="change"),
            SheetColumn(f"gains of {MOVED:g} or more", 0),
            SheetColumn(f"losses of {MOVED:g} or more", 0),
            SheetColumn("p", kind="p"),
        ),
        rows=tuple(rows),
    )


def _dataset_sheet(table: Table, compared: Sequence[Change]) -> Sheet:
    by_cell = {(change.dataset, change.method): change.difference for change in compared}
    leaking = {change.dataset for change in compared if change.categorical}
    rows: list[tuple[Entry, ...]] = []
    for block in table.blocks:
        for row in block.rows:
            found = [by_cell.get((row.dataset, column.method)) for column in table.columns]
            if any(value is not None for value in found):
                rows.append((row.name, "yes" if row.dataset in leaking else "no", *found))
    return Sheet(
        name=f"{table.name}-datasets",
        title=f"{table.title}, dataset by dataset",
        caption="Mean test F1 under protocol clean minus protocol paper",
        source=SOURCE,
        columns=(
            SheetColumn("Dataset"),
            SheetColumn("categorical columns"),
            *(SheetColumn(column.name, kind="change") for column in table.columns),
        ),
        rows=tuple(rows),
    )


def _claims_sheets(paper: Sequence[Claim], clean: Sequence[Claim]) -> list[Sheet]:
    """The claims that can be told under ``clean``, as one sheet if there are any."""
    rows: list[tuple[Entry, ...]] = [
        (after.sentence, before.outcome, after.outcome, after.ours)
        for before, after in zip(paper, clean, strict=True)
        if after.outcome != "cannot be told"
    ]
    if not rows:
        return []
    columns = ("Claim", "paper", "clean", "numbers under clean")
    return [
        Sheet(
            name="protocols-claims",
            title="The paper’s claims under both protocols",
            caption="Those that the records of protocol clean can decide",
            source=SOURCE,
            columns=tuple(SheetColumn(name) for name in columns),
            rows=tuple(rows),
        )
    ]
