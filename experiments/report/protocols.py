"""The finding beside the reproduction: what changes without the label leak."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from experiments.report.gallery import PROTOCOLS_FIGURE
from experiments.report.model import Section
from experiments.tables.book import Book
from experiments.tables.definitions import method_name
from experiments.tables.model import TASK_NAMES, Entry, Sheet, SheetColumn
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
    """The section on both protocols; none before anything ran under ``clean``."""
    if clean is None:
        return ()
    paragraphs, sheets = [INTRODUCTION], []
    for name in TABLES:
        found = changes(ours.tables[name], clean.tables[name], categorical)
        compared = [change for change in found if change.difference is not None]
        if compared:
            sheets.append(_sheet(name, ours.tables[name].title, compared))
            title = ours.tables[name].title
            paragraphs += [
                f"{title}, {_ranking(change)}"
                for change in ranking_changes(ours.tables[name], clean.tables[name])
            ]
    if not sheets:
        return ()
    return (
        Section(
            slug="clean",
            title="Without the leak",
            paragraphs=tuple(paragraphs),
            sheets=tuple(sheets),
            figures=(PROTOCOLS_FIGURE,),
        ),
    )


def _ranking(change: RankingChange) -> str:
    before, after = (
        ", ".join(f"{method_name(method)} {score:.3f}" for method, score in order)
        for order in (change.paper, change.clean)
    )
    if change.order_survives:
        verdict = "the order by mean reciprocal rank stays"
    elif change.leader_survives:
        verdict = f"{method_name(change.paper[0][0])} stays first, the order behind it changes"
    else:
        verdict = (
            f"the lead passes from {method_name(change.paper[0][0])} to "
            f"{method_name(change.clean[0][0])}"
        )
    task = TASK_NAMES[change.task].lower()
    return (
        f"{task} ({change.datasets} datasets): {verdict}. Protocol paper: {before}. "
        f"Protocol clean: {after}."
    )


def _sheet(name: str, title: str, compared: Sequence[Change]) -> Sheet:
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
        name=f"{name}-changes",
        title=title,
        caption="Change of mean test F1 from protocol paper to protocol clean; p by Wilcoxon’s "
        "test over datasets",
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
