"""The comparison of small trees as sheets."""

from __future__ import annotations

from experiments.analysis.model import Entry, Sheet, SheetColumn
from experiments.analysis.paper import method_name
from experiments.analysis.small_trees import MEASURES, READINGS, SmallTrees

SOURCE = "clean and paper"


def sheets_of(found: SmallTrees) -> list[Sheet]:
    """All sheets that have rows."""
    sheets = [lines_sheet(found), tests_sheet(found), situations_sheet(found)]
    return [sheet for sheet in sheets if sheet.rows]


def lines_sheet(found: SmallTrees) -> Sheet:
    rows: list[tuple[Entry, ...]] = [
        (
            method_name(line.method),
            READINGS[line.place.reading],
            line.place.protocol,
            line.place.group,
            line.n,
            line.f1.estimate,
            line.f1.low,
            line.f1.high,
            line.rank,
            *(line.means[measure] for measure in MEASURES[1:]),
            line.ceiling,
        )
        for line in found.lines
    ]
    return Sheet(
        name="small-trees",
        title="One small tree",
        caption="Mean test F1 over the datasets that every learner shown at a size finished, with "
        "a 95 % interval (bootstrap over datasets) and the mean rank among trees; log loss and "
        "Brier score (0 to 2) of the class shares in the leaves; tree size, conditions tested per "
        "row, CPU seconds including tuning; and F1 relative to boosting’s",
        source=SOURCE,
        columns=(
            SheetColumn("Learner"),
            SheetColumn("Reading"),
            SheetColumn("Protocol"),
            SheetColumn("Datasets"),
            SheetColumn("n", 0),
            SheetColumn("F1"),
            SheetColumn("low", group="95 % interval"),
            SheetColumn("high", group="95 % interval"),
            SheetColumn("rank", 2),
            SheetColumn("log loss"),
            SheetColumn("Brier"),
            SheetColumn("nodes", 1),
            SheetColumn("leaves", 1),
            SheetColumn("path", 2),
            SheetColumn("CPU s", 2),
            SheetColumn("of boosting"),
        ),
        rows=tuple(rows),
    )


def tests_sheet(found: SmallTrees) -> Sheet:
    rows: list[tuple[Entry, ...]] = [
        (
            method_name(each.method),
            method_name(each.against),
            READINGS[each.place.reading],
            each.place.protocol,
            each.place.group,
            each.contrast.n,
            each.contrast.difference.estimate,
            each.contrast.difference.low,
            each.contrast.difference.high,
            each.contrast.signs,
            each.contrast.p_value,
            each.contrast.p_adjusted,
        )
        for each in found.tests
    ]
    return Sheet(
        name="small-trees-tests",
        title="Small trees against pruned CART and against the control",
        caption="Mean difference of test F1 over the datasets that both finished, with a 95 % "
        "interval (paired bootstrap over datasets), wins-ties-losses, and Wilcoxon’s p, "
        "uncorrected and with Holm’s correction over this table",
        source=SOURCE,
        columns=(
            SheetColumn("Learner"),
            SheetColumn("Against"),
            SheetColumn("Reading"),
            SheetColumn("Protocol"),
            SheetColumn("Datasets"),
            SheetColumn("n", 0),
            SheetColumn("difference"),
            SheetColumn("low", group="95 % interval"),
            SheetColumn("high", group="95 % interval"),
            SheetColumn("W-T-L"),
            SheetColumn("p", 4),
            SheetColumn("p (Holm)", 4),
        ),
        rows=tuple(rows),
    )


def situations_sheet(found: SmallTrees) -> Sheet:
    methods = list(dict.fromkeys(m for row in found.situations.values() for m in row))
    rows: list[tuple[Entry, ...]] = []
    for (situation, reading), means in found.situations.items():
        counts = {n for _, n in means.values()}
        scores = (means[method][0] if method in means else None for method in methods)
        rows.append((situation, READINGS[reading], max(counts), *scores))
    return Sheet(
        name="small-trees-situations",
        title="Small trees by situation",
        caption="Mean test F1 under protocol clean over the paper’s and the fresh datasets of a "
        "kind that every learner shown at a size finished",
        source="clean",
        columns=(
            SheetColumn("Situation"),
            SheetColumn("Reading"),
            SheetColumn("n", 0),
            *(SheetColumn(method_name(method)) for method in methods),
        ),
        rows=tuple(rows),
        best_in_row="max",
    )
