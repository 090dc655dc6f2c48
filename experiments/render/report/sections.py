"""The findings beside the reproduction: other random draws, and a protocol without the leak."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.analysis.clean_effect import (
    MOVED,
    Change,
    RankingChange,
    changes,
    method_changes,
    ranking_changes,
)
from experiments.analysis.definitions import method_name
from experiments.analysis.findings import Findings
from experiments.analysis.model import (
    TASK_NAMES,
    Claim,
    Entry,
    Sheet,
    SheetColumn,
    Statistic,
    Table,
)
from experiments.analysis.ranking import mean_of
from experiments.render.figures.changes import Draws
from experiments.render.report.model import Section

SEEDS_FIGURE = "other-draws"
PROTOCOLS_FIGURE = "clean-against-paper"
SEEDS_INTRODUCTION = (
    "The published hyperparameters were chosen with the authors’ random draws, and this suite "
    "uses the same ones, number for number. With other seeds the same configuration gives other "
    "numbers: what it is expected to give is the mean over seeds, what a table prints is one draw."
)


def draws_of(sheet: Sheet | None) -> list[Draws]:
    """The rows of the sheet of seeds, which a book has once one ran, as points of the figure."""
    found = []
    for name, _, printed, drawn, others, _ in sheet.rows if sheet else ():
        if isinstance(others, Statistic) and others.value is not None:
            found.append(
                Draws(str(name), _number(printed), _number(drawn), others.value, others.spread or 0)
            )
    return found


def _number(entry: object) -> float | None:
    return float(entry) if isinstance(entry, int | float) else None


def seeds_section(sheet: Sheet | None) -> tuple[Section, ...]:
    """The section on other seeds; none before any of them ran."""
    draws = draws_of(sheet)
    if sheet is None or not draws:
        return ()
    return (
        Section(
            slug="draws",
            title="Other random draws",
            paragraphs=(SEEDS_INTRODUCTION,),
            points=tuple(_points(draws, seeds_per_dataset(sheet))),
            sheets=(sheet,),
            figures=(SEEDS_FIGURE,),
        ),
    )


def seeds_per_dataset(sheet: Sheet) -> str:
    """Such as ``10``, or ``2 to 10`` where not all datasets have as many yet."""
    counts = [entry for *_, entry in sheet.rows if isinstance(entry, int)]
    fewest, most = min(counts), max(counts)
    return f"{most}" if fewest == most else f"{fewest} to {most}"


def _points(draws: list[Draws], seeds: str) -> list[str]:
    whole = [one for one in draws if one.paper is not None and one.authors is not None]
    if not whole:
        return []
    printed = mean_of([one.paper or 0.0 for one in whole])
    authors = mean_of([one.authors or 0.0 for one in whole])
    others = mean_of([one.others for one in whole])
    spread = mean_of([one.spread for one in whole])
    below = sum(one.others < (one.paper or 0.0) for one in whole)
    widest = max(whole, key=lambda one: one.spread)
    return [
        f"Mean over {len(whole)} datasets: {printed:.3f} in the paper, {authors:.3f} here with "
        f"the authors’ draws, {others:.3f} with other seeds ({seeds} per dataset).",
        f"Other seeds fall below the printed number on {below} of {len(whole)} datasets.",
        f"Between seeds the mean over trials deviates by {spread:.3f} on average, most on "
        f"{widest.dataset} ({widest.spread:.3f}).",
    ]


TABLES = ("test-f1-default", "test-f1-tuned")
CLEAN_INTRODUCTION = (
    "The paper encodes a category by the mean label of the other training rows in it, so that a "
    "training row’s value depends on its own label; validation and test rows carry no such hint. "
    "Protocol clean encodes every row without its own label, fits all preprocessing on the "
    "training part alone, and stratifies the splits. The leak can act only where there are "
    "categorical columns; the other datasets show what the remaining differences do."
)


def protocol_section(found: Findings) -> tuple[Section, ...]:
    """The section on both protocols; none before anything ran under both."""
    measured, rankings = measured_changes(found), rankings_of(found)
    if not measured:
        return ()
    sheets = [_change_sheet(table, both) for table, both in measured]
    if rankings:
        sheets.insert(0, _ranking_sheet(rankings))
    sheets += _claims_sheets(found.claims, found.clean_claims)
    return (
        Section(
            slug="clean",
            title="Without the leak",
            paragraphs=(CLEAN_INTRODUCTION,),
            points=(
                *(_change_point(table, both) for table, both in measured),
                *order_points(found),
            ),
            sheets=tuple(sheets),
            figures=(PROTOCOLS_FIGURE,),
        ),
    )


def measured_changes(found: Findings) -> list[tuple[Table, list[Change]]]:
    """The tables of scores that were measured under both protocols, and how their cells change."""
    return [
        (before, both)
        for before, after in _tables_of_both(found)
        if (
            both := [
                change
                for change in changes(before, after, found.categorical)
                if change.difference is not None
            ]
        )
    ]


def rankings_of(found: Findings) -> list[tuple[Table, RankingChange]]:
    return [
        (before, change)
        for before, after in _tables_of_both(found)
        for change in ranking_changes(before, after)
    ]


def _tables_of_both(found: Findings) -> list[tuple[Table, Table]]:
    if "clean" not in found.books:
        return []
    ours, clean = found.books["paper"].tables, found.books["clean"].tables
    return [(ours[name], clean[name]) for name in TABLES]


def order_points(found: Findings) -> list[str]:
    """What becomes of the order of the methods, where it is over most datasets of a task."""
    return [_point(table, change) for table, change in rankings_of(found) if _most(table, change)]


def _change_point(table: Table, compared: Sequence[Change]) -> str:
    """How much each method gains where the leak can act, and where it cannot."""
    parts = []
    for label, subset in by_leak(compared):
        means = [
            f"{method_name(line.method)} {line.mean:+.3f} ({line.n})"
            for line in method_changes(subset)
        ]
        if means:
            parts.append(f"on datasets {label} {', '.join(means)}")
    return f"{table.title}, mean change (datasets): {'; '.join(parts)}."


def by_leak(compared: Sequence[Change]) -> list[tuple[str, list[Change]]]:
    """Changes on datasets where the leak can act, and on the others."""
    return [
        (label, [change for change in compared if change.categorical == categorical])
        for label, categorical in (
            ("with categorical columns", True),
            ("without categorical columns", False),
        )
    ]


def _most(table: Table, change: RankingChange) -> bool:
    """Whether an order is over enough of a task's datasets to be told in a sentence."""
    return 2 * change.datasets >= len(table.block(change.task).rows)


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
    for label, subset in by_leak(compared):
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
            caption="Those that the records of protocol clean suffice to tell",
            source="paper and clean",
            columns=tuple(SheetColumn(name) for name in columns),
            rows=tuple(rows),
        )
    ]
