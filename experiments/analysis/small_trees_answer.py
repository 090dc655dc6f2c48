"""Which small tree to use: the comparison in sentences made of its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from experiments.analysis.distilled import KEPT, LEAST_GAIN
from experiments.analysis.paper import method_name
from experiments.analysis.small_trees import (
    CEILING,
    CONTROL,
    FREE,
    GROUPS,
    PRUNED,
    READINGS,
    Place,
    SmallTrees,
    Test,
)
from experiments.core.text import capital

SMALLEST = "small-trees-8"
AS_PUBLISHED, OWN_DEFAULTS, TUNED = "gradtree", "gradtree-revised", "gradtree-tuned"
HOW_TUNED = (
    "All choose their size by the same inner folds, except {published} and {own}, which have the "
    "published settings and our default ones."
)
RANKED_SIZES = {
    "at most 8, 16 or 32 leaves": [reading for reading in READINGS if reading != FREE],
    "any size": [FREE],
}
QUICK_SECONDS = 1.0
"""What a fit with its tuning may take to count as quick."""


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


def recommendation(found: SmallTrees) -> str | None:
    """Whether anybody beats pruned CART, and who ranks first; ``None`` before anything ran."""
    tests = _tests_against(found, PRUNED)
    if not tests:
        return None
    better = [test for test in tests if _surely(test, better=True)]
    parts = []
    for size, readings in RANKED_SIZES.items():
        ranks = dict(_mean_ranks(found, readings))
        if ranks:
            first = next(iter(ranks))
            compared = (PRUNED, TUNED, OWN_DEFAULTS, AS_PUBLISHED)
            named = [method for method in compared if method in ranks and method != first]
            listed = ", ".join(f"{method_name(m)} {ranks[m]:.1f}" for m in named)
            parts.append(
                f"{method_name(first)} among {len(ranks)} of {size} ({ranks[first]:.1f}; {listed})"
            )
    learners = len({test.method for test in tests})
    others = f"of {learners} other learners of one tree under protocol clean"
    verdict = (
        f"Significantly better than {method_name(PRUNED)}, {others}: {_listed(better)}."
        if better
        else f"{method_name(PRUNED)}: {others}, none is significantly better at any size."
    )
    names = {"published": method_name(AS_PUBLISHED), "own": method_name(OWN_DEFAULTS)}
    verdict = f"{verdict} {HOW_TUNED.format(**names)}"
    return f"{verdict} Best mean rank over datasets: {'; '.join(parts)}." if parts else verdict


def _mean_ranks(found: SmallTrees, readings: Sequence[str]) -> list[tuple[str, float]]:
    """Trees that have a line at all of these sizes and groups, the best first."""
    lines = [
        line
        for line in found.lines
        if line.place.protocol == "clean" and line.place.reading in readings
    ]
    places = {line.place for line in lines}
    ranks: dict[str, list[float]] = {}
    for line in lines:
        if line.rank is not None:
            ranks.setdefault(line.method, []).append(line.rank)
    everywhere = {method: own for method, own in ranks.items() if len(own) == len(places)}
    return sorted(((m, fmean(own)) for m, own in everywhere.items()), key=lambda pair: pair[1])


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
            sentences.append(f"{capital(size)}: {'; '.join(parts)}.")
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
            sentences.append(f"{capital(situation)}: {'; '.join(parts)}.")
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
    tests = _tests_against(found, against)
    if not tests:
        return []
    better, worse = ([test for test in tests if _surely(test, side)] for side in (True, False))
    name = method_name(against)
    if not better and not worse:
        return [f"After Holm’s correction no learner differs from {name} at any size."]
    return [
        f"Significantly better than {name} after Holm’s correction: {_listed(better)}. "
        f"Significantly worse: {_listed(worse)}."
    ]


def _tests_against(found: SmallTrees, against: str) -> list[Test]:
    return [t for t in found.tests if t.against == against and t.place.protocol == "clean"]


def _surely(test: Test, better: bool) -> bool:
    return test.contrast.significant and (test.contrast.difference.estimate > 0) == better


def _listed(tests: Sequence[Test]) -> str:
    """By group of datasets and learner, the difference at each size."""
    groups: dict[str, dict[str, list[str]]] = {}
    for test in tests:
        told = f"{READINGS[test.place.reading]} {test.contrast.difference.estimate:+.3f}"
        groups.setdefault(test.place.group, {}).setdefault(test.method, []).append(told)
    parts = [
        f"on {group} "
        + ", ".join(f"{method_name(method)} ({', '.join(own)})" for method, own in methods.items())
        for group, methods in groups.items()
    ]
    return "; ".join(parts) or "nobody"


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
    timed = {line.method: line.means["cpu_seconds_alone"] for line in lines}
    known = sorted((value, method) for method, value in timed.items() if value is not None)
    if not known:
        return []
    parts = ", ".join(f"{method_name(method)} {value:.1f}" for value, method in known)
    quick = {method for value, method in known if value <= QUICK_SECONDS}
    means = {method: mean for method, mean in _means(found, place).items() if method in quick}
    best = f" Within {QUICK_SECONDS:.0f} s, {_best_two(means)}." if means else ""
    return [f"CPU seconds of a fit with its tuning at {READINGS[FREE]}: {parts}.{best}"]
