"""The comparison of small trees as sheets, and its answer in sentences."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.analysis.distilled import KEPT, LEAST_GAIN
from experiments.analysis.model import Entry, Sheet, SheetColumn
from experiments.analysis.paper import method_name
from experiments.analysis.small_trees import (
    CEILING,
    CONTROL,
    FREE,
    GROUPS,
    MEASURES,
    PRUNED,
    READINGS,
    Place,
    SmallTrees,
)

LEVEL = 0.05
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
        "a 95 % interval (bootstrap over datasets) and the mean rank; log loss and Brier score (0 "
        "to 2) of the class shares in the leaves; tree size, conditions tested per row, CPU "
        "seconds including tuning; and F1 relative to boosting’s",
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


def answer(found: SmallTrees) -> list[str]:
    """What to use, in sentences made of the numbers."""
    sentences = [_overall(found, group) for group in dict.fromkeys(_groups(found))]
    sentences += [
        f"{situation.capitalize()}, {READINGS[reading]}: {_best_two(means)}."
        for (situation, reading), means in found.situations.items()
        if reading in (FREE, "small-trees-8")
    ]
    return [*sentences, *_against_control(found), *_distilled(found), *_time(found)]


def _groups(found: SmallTrees) -> list[tuple[str, str]]:
    places = [line.place for line in found.lines if line.place.protocol == "clean"]
    return [(place.group, place.reading) for place in places]


def _overall(found: SmallTrees, where: tuple[str, str]) -> str:
    lines = [
        line
        for line in found.lines
        if line.place.protocol == "clean" and (line.place.group, line.place.reading) == where
    ]
    trees = {line.method: (line.f1.estimate, line.n) for line in lines}
    group, reading = where
    return f"On {group}, {READINGS[reading]}: {_best_two(trees)}."


def _best_two(means: Mapping[str, tuple[float, int]]) -> str:
    """The best tree and pruned CART, with their means and the number of datasets."""
    trees = {method: mean for method, (mean, _) in means.items() if method != CEILING}
    best = max(trees, key=trees.__getitem__)
    n = next(iter(means.values()))[1]
    text = f"{method_name(best)} {trees[best]:.3f}"
    if best != PRUNED and PRUNED in trees:
        text += f", {method_name(PRUNED)} {trees[PRUNED]:.3f}"
    return f"{text} ({n} datasets)"


def _against_control(found: SmallTrees) -> list[str]:
    """Who is told apart from the control under ``clean`` once corrected."""
    told = [
        f"{method_name(test.method)} {test.contrast.difference.estimate:+.3f} "
        f"({READINGS[test.place.reading]}, {test.place.group})"
        for test in found.tests
        if test.against == CONTROL and test.place.protocol == "clean" and test.contrast.significant
    ]
    if not any(test.against == CONTROL for test in found.tests):
        return []
    if not told:
        return [f"After Holm’s correction no learner differs from {method_name(CONTROL)}."]
    return [f"After Holm’s correction these differ from {method_name(CONTROL)}: {'; '.join(told)}."]


def _distilled(found: SmallTrees) -> list[str]:
    """Why the distilled tree is no learner of the suite."""
    if not found.distilled:
        return []
    told = []
    for version in dict.fromkeys(version for version, _ in found.distilled):
        parts = ", ".join(
            f"{READINGS[reading]} {contrast.difference.estimate:+.3f} "
            f"[{contrast.difference.low:+.3f}, {contrast.difference.high:+.3f}]"
            for (each, reading), contrast in found.distilled.items()
            if each == version
        )
        told.append(f"{version}: {parts}")
    n = max(contrast.n for contrast in found.distilled.values())
    gains = [
        contrast.difference.estimate
        for (version, _), contrast in found.distilled.items()
        if version == KEPT
    ]
    verdict = "no code stayed" if max(gains, default=0.0) <= LEAST_GAIN else "it should be kept"
    return [
        "A distilled tree, which learns a forest’s probabilities instead of the labels, was tried "
        f"on {n} fresh datasets, as a prototype and as the {KEPT} written after it; F1 minus that "
        f"of {method_name(CONTROL)}: {'; '.join(told)}. More than {LEAST_GAIN:+.3f} at some size "
        f"was asked of the {KEPT}, so {verdict}."
    ]


def _time(found: SmallTrees) -> list[str]:
    """CPU seconds of a fit with tuning, at free size."""
    free = Place("clean", next(iter(GROUPS)), FREE)
    lines = [line for line in found.lines if line.place == free]
    seconds = {line.method: line.means["cpu_seconds"] for line in lines}
    known = sorted((value, method) for method, value in seconds.items() if value is not None)
    if not known:
        return []
    parts = ", ".join(f"{method_name(method)} {value:.1f}" for value, method in known)
    return [f"CPU seconds of a fit including tuning: {parts}."]
