"""Which small tree: learners of one tree, of any size and of equal size.

A line is one learner in one reading: free size, or at most 8, 16 or 32 leaves.
Means are over the datasets on which every learner that has a line finished all
its trials, so that nobody is judged on easier ones. A learner that finished too
few of them has no line; tests against one learner pair the datasets that the two
share, and tell about it too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from experiments.analysis import distilled, statistics
from experiments.analysis.grids import Results, summarise
from experiments.analysis.ranking import mean_of
from experiments.core.planned import DatasetFacts
from experiments.core.record import RunRecord

READINGS = {
    "small-trees": "free size",
    "small-trees-8": "at most 8 leaves",
    "small-trees-16": "at most 16 leaves",
    "small-trees-32": "at most 32 leaves",
}
FREE = "small-trees"
PRUNED, CONTROL, CEILING = "cart-pruned", "cart-control", "boosting"
PROTOCOLS = ("clean", "paper")
GROUPS: dict[str, Callable[[DatasetFacts], bool]] = {
    "the paper’s datasets": lambda facts: facts.in_paper,
    "fresh datasets": lambda facts: not facts.in_paper,
}
SITUATIONS: dict[str, Callable[[DatasetFacts], bool]] = {
    "binary": lambda facts: facts.task == "binary",
    "three or more classes": lambda facts: facts.task == "multi",
    "five or more classes": lambda facts: len(facts.class_counts) >= 5,
    "fewer than 500 rows": lambda facts: facts.n_rows < 500,
    "five or more categorical columns": lambda facts: len(facts.categorical) >= 5,
}
FEWEST_SHARE = 0.75
"""Of the datasets that anyone finished. Who finished fewer has no line, and shortens nobody's."""
MEASURES = (
    "test_f1",
    "test_log_loss",
    "test_brier",
    "tree_size",
    "leaves",
    "path_length",
    "cpu_seconds_alone",
)


@dataclass(frozen=True)
class Place:
    """What a comparison is about: protocol, group of datasets, reading."""

    protocol: str
    group: str
    reading: str


@dataclass(frozen=True)
class Line:
    """One learner in one reading, over the datasets that all learners of it finished."""

    place: Place
    method: str
    n: int
    f1: statistics.Interval
    rank: float | None
    """Among the trees; the ceiling has none."""
    means: Mapping[str, float | None]
    """Other measures by field of the record; ``None`` where a record lacks one."""
    ceiling: float | None
    """Mean F1 as a share of boosting's on the same datasets."""


@dataclass(frozen=True)
class Test:
    """One learner against another over the datasets that both finished."""

    place: Place
    method: str
    against: str
    contrast: statistics.Contrast


@dataclass(frozen=True)
class SmallTrees:
    """Everything about small trees that a store says."""

    lines: tuple[Line, ...] = ()
    tests: tuple[Test, ...] = ()
    situations: Mapping[tuple[str, str], Mapping[str, tuple[float, int]]] = field(
        default_factory=dict
    )
    """(situation, reading) -> learner -> mean F1 under ``clean`` and number of datasets."""
    distilled: Mapping[distilled.Attempt, statistics.Contrast] = field(default_factory=dict)
    """Two attempts at a distilled tree against the control."""


def compare(results: Results, datasets: Mapping[str, DatasetFacts]) -> SmallTrees:
    """Lines, tests and situations; empty where nothing ran."""
    scores = _scores(results)
    lines: list[Line] = []
    tests: list[Test] = []
    for protocol in PROTOCOLS:
        for group, belongs in GROUPS.items():
            inside = {slug for slug, facts in datasets.items() if belongs(facts)}
            for reading in READINGS:
                place = Place(protocol, group, reading)
                lines += _lines(results, scores, place, inside)
                for against in (PRUNED, CONTROL):
                    tests += _tests(scores, place, inside, against)
    tested = tuple(statistics.corrected_lines(tests))
    clean = {reading: scores.get((PROTOCOLS[0], reading), {}) for reading in READINGS}
    control = {reading: methods.get(CONTROL, {}) for reading, methods in clean.items()}
    attempts = distilled.against_control(control)
    return SmallTrees(tuple(lines), tested, _situations(scores, datasets), attempts)


Scores = dict[tuple[str, str], dict[str, dict[str, float]]]
"""(protocol, reading) -> method -> dataset -> mean test F1 of all trials."""


def _scores(results: Results) -> Scores:
    found: Scores = {}
    for (protocol, reading, dataset, method), attempts in results.attempts.items():
        if reading in READINGS:
            cell = summarise(attempts, "test_f1")
            if cell.mean is not None and not cell.partial:
                methods = found.setdefault((protocol, reading), {})
                methods.setdefault(method, {})[dataset] = cell.mean
    return found


def _lines(results: Results, scores: Scores, place: Place, inside: set[str]) -> list[Line]:
    methods = _listed(_inside(scores.get((place.protocol, place.reading), {}), inside))
    shared = sorted(set.intersection(*map(set, methods.values()))) if methods else []
    if len(shared) < statistics.FEWEST_DATASETS:
        return []
    trees = {method: own for method, own in methods.items() if method != CEILING}
    table = np.array([[-own[slug] for own in trees.values()] for slug in shared])
    ranks = dict(zip(trees, _mean_ranks(table), strict=True)) if trees else {}
    top = _ceiling(scores, place, shared)
    lines = []
    for method, own in methods.items():
        f1 = statistics.bootstrap([own[slug] for slug in shared])
        means = {
            measure: _mean(results, place, method, shared, measure) for measure in MEASURES[1:]
        }
        share = None if top is None else f1.estimate / top
        lines.append(Line(place, method, len(shared), f1, ranks.get(method), means, share))
    return lines


def _inside(
    methods: Mapping[str, Mapping[str, float]], inside: set[str]
) -> dict[str, dict[str, float]]:
    narrowed = {
        method: {slug: value for slug, value in own.items() if slug in inside}
        for method, own in methods.items()
    }
    return {method: own for method, own in narrowed.items() if own}


def _listed(methods: Mapping[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    most = max(map(len, methods.values()), default=0)
    return {method: own for method, own in methods.items() if len(own) >= FEWEST_SHARE * most}


def _mean_ranks(negated: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.stats import rankdata

    return np.asarray(rankdata(negated.round(statistics.TIED_DECIMALS), axis=1).mean(axis=0))


def _ceiling(scores: Scores, place: Place, shared: Sequence[str]) -> float | None:
    top = scores.get((place.protocol, FREE), {}).get(CEILING, {})
    known = [top[slug] for slug in shared if slug in top]
    return mean_of(known) if len(known) == len(shared) else None


def _mean(
    results: Results, place: Place, method: str, shared: Sequence[str], measure: str
) -> float | None:
    def value(record: RunRecord) -> float | None:
        found = getattr(record, measure)
        return None if found is None else float(found)

    cells = [
        summarise(results.attempts[place.protocol, place.reading, slug, method], value)
        for slug in shared
    ]
    known = [cell.mean for cell in cells if cell.mean is not None]
    return mean_of(known) if len(known) == len(shared) else None


def _tests(scores: Scores, place: Place, inside: set[str], against: str) -> list[Test]:
    methods = _inside(scores.get((place.protocol, place.reading), {}), inside)
    reference = methods.get(against, {})
    tests = []
    for method, own in methods.items():
        shared = sorted(own.keys() & reference.keys())
        repeated = against == CONTROL and method == PRUNED
        if method in (against, CEILING) or repeated:
            continue
        contrast = statistics.contrast_of_known(own[slug] - reference[slug] for slug in shared)
        if contrast is not None:
            tests.append(Test(place, method, against, contrast))
    return tests


def _situations(
    scores: Scores, datasets: Mapping[str, DatasetFacts]
) -> dict[tuple[str, str], dict[str, tuple[float, int]]]:
    """Means over the paper's and the fresh datasets that all learners of a reading finished."""
    found: dict[tuple[str, str], dict[str, tuple[float, int]]] = {}
    for situation, belongs in SITUATIONS.items():
        inside = {slug for slug, facts in datasets.items() if belongs(facts)}
        for reading in READINGS:
            methods = _listed(_inside(scores.get((PROTOCOLS[0], reading), {}), inside))
            shared = set.intersection(*map(set, methods.values())) if methods else set()
            if len(shared) >= statistics.FEWEST_DATASETS:
                found[situation, reading] = {
                    method: (mean_of([own[slug] for slug in sorted(shared)]), len(shared))
                    for method, own in methods.items()
                }
    return found
