"""The comparison of small trees as sheets, and its answer in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    Test,
)

SMALLEST = "small-trees-8"
QUICK_SECONDS = 1.0
"""What a fit with its tuning may take to count as quick."""
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
    """Which tree to use, in sentences made of the numbers."""
    return [
        *_by_size(found),
        *_by_situation(found),
        *_told_apart(found, PRUNED),
        *_told_apart(found, CONTROL),
        *_time(found),
        *_distilled(found),
    ]


def _by_size(found: SmallTrees) -> list[str]:
    """The best tree of each size, on each group of datasets."""
    sentences = []
    for reading, size in READINGS.items():
        parts = [
            f"{_best_two(means)} on {group}"
            for group in GROUPS
            if (means := _means(found, Place("clean", group, reading)))
        ]
        if parts:
            sentences.append(f"{_capital(size)}: {'; '.join(parts)}.")
    return sentences


def _by_situation(found: SmallTrees) -> list[str]:
    """The best trees of a kind of dataset, of any size and the smallest."""
    sentences = []
    for situation in dict.fromkeys(situation for situation, _ in found.situations):
        parts = [
            f"{READINGS[reading]} {_best_two(means)}"
            for reading in (FREE, SMALLEST)
            if (means := found.situations.get((situation, reading)))
        ]
        if parts:
            sentences.append(f"{_capital(situation)}: {'; '.join(parts)}.")
    return sentences


def _means(found: SmallTrees, place: Place) -> dict[str, tuple[float, int]]:
    return {line.method: (line.f1.estimate, line.n) for line in found.lines if line.place == place}


def _best_two(means: Mapping[str, tuple[float, int]]) -> str:
    """The best tree and pruned CART, with their means and the number of datasets."""
    trees = {method: mean for method, (mean, _) in means.items() if method != CEILING}
    best = max(trees, key=trees.__getitem__)
    n = next(iter(means.values()))[1]
    other = ""
    if best != PRUNED and PRUNED in trees:
        other = f"; {method_name(PRUNED)} {trees[PRUNED]:.3f}"
    return f"{method_name(best)} {trees[best]:.3f} ({n} datasets{other})"


def _told_apart(found: SmallTrees, against: str) -> list[str]:
    """Who is better and who is worse than one learner under ``clean``, once corrected."""
    tests = [
        test for test in found.tests if test.against == against and test.place.protocol == "clean"
    ]
    if not tests:
        return []
    sure = [test for test in tests if test.contrast.significant]
    name = method_name(against)
    if not sure:
        return [f"After Holm’s correction no learner differs from {name} at any size."]
    better, worse = (
        [test for test in sure if (test.contrast.difference.estimate > 0) == above]
        for above in (True, False)
    )
    return [
        f"Significantly better than {name} after Holm’s correction: {_listed(better)}. "
        f"Significantly worse: {_listed(worse)}."
    ]


def _listed(tests: Sequence[Test]) -> str:
    """Learner by learner, with the differences at each size and group."""
    differences: dict[str, list[str]] = {}
    for test in tests:
        place = f"{READINGS[test.place.reading]}, {test.place.group}"
        told = f"{test.contrast.difference.estimate:+.3f} {place}"
        differences.setdefault(test.method, []).append(told)
    parts = [f"{method_name(method)} ({'; '.join(own)})" for method, own in differences.items()]
    return ", ".join(parts) or "nobody"


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
    """CPU seconds of a fit with tuning, and the best tree among those that are quick."""
    place = Place("clean", next(iter(GROUPS)), FREE)
    lines = [line for line in found.lines if line.place == place and line.method != CEILING]
    timed = {line.method: line.means["cpu_seconds"] for line in lines}
    known = sorted((value, method) for method, value in timed.items() if value is not None)
    if not known:
        return []
    parts = ", ".join(f"{method_name(method)} {value:.1f}" for value, method in known)
    quick = {method for value, method in known if value <= QUICK_SECONDS}
    means = {method: mean for method, mean in _means(found, place).items() if method in quick}
    best = f" Within {QUICK_SECONDS:.0f} s, {_best_two(means)}." if means else ""
    return [f"CPU seconds of a fit with its tuning at {READINGS[FREE]}: {parts}.{best}"]


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
