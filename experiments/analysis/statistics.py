"""Tests and intervals beyond the paper, over datasets rather than trials.

The distributions are SciPy's, Wilcoxon's excepted; the rest is the arithmetic of
Demšar, "Statistical comparisons of classifiers over multiple data sets"
(Journal of Machine Learning Research 7, 2006): Friedman's test and its
correction by Iman and Davenport, pairwise Wilcoxon tests with Holm's
correction. What two methods differ in is decided by the latter: it looks at
their own scores alone, while the distance of two mean ranks depends on who
else is in the pool. Scores are matrices of shape (datasets, methods) without
gaps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

Scores = NDArray[np.float64]

TIED_DECIMALS = 12
"""Differences that agree to so many digits are tied; what remains is rounding."""
LEVEL = 0.05
TIE = 0.0005
"""A difference of scores that the printed digits do not show."""
FEWEST_DATASETS = 5
"""Below this no test and no interval over datasets is worth its name."""
BOOTSTRAP_SEED = 42
BOOTSTRAP_DRAWS = 10_000


@dataclass(frozen=True)
class Friedman:
    """Do the methods differ at all? ``p_value`` is that of the F statistic."""

    average_ranks: tuple[float, ...]
    n_datasets: int
    chi_squared: float
    chi_squared_p: float
    f_statistic: float
    p_value: float


@dataclass(frozen=True)
class PairTest:
    """Wilcoxon's signed-rank test of two methods over datasets, corrected by Holm."""

    first: str
    second: str
    mean_difference: float
    wins: int
    losses: int
    p_value: float
    p_adjusted: float


@dataclass(frozen=True)
class RankGroups:
    """Average ranks, and which methods pairwise tests do not tell apart."""

    methods: tuple[str, ...]
    average_ranks: tuple[float, ...]
    n_datasets: int
    level: float
    groups: tuple[tuple[str, ...], ...]
    """Maximal groups, by their best member, in which no pair differs significantly."""
    friedman: Friedman


@dataclass(frozen=True)
class Interval:
    """An estimate with the limits of its percentile bootstrap interval over datasets."""

    estimate: float
    low: float
    high: float
    level: float


@dataclass(frozen=True)
class Contrast:
    """Differences over datasets: their mean with its interval, signs, and Wilcoxon's test."""

    n: int
    difference: Interval
    wins: int
    ties: int
    losses: int
    p_value: float
    p_adjusted: float = 1.0

    @property
    def significant(self) -> bool:
        """After the correction."""
        return self.p_adjusted < LEVEL

    @property
    def signs(self) -> str:
        """Wins, ties and losses."""
        return f"{self.wins}-{self.ties}-{self.losses}"


Line = TypeVar("Line", bound=Any)
"""A frozen dataclass with a field ``contrast``."""


def stable(value: float) -> float:
    """To ten significant digits: vector units of processors differ in the last ones."""
    return float(f"{value:.10g}")


def friedman(scores: ArrayLike, smaller_is_better: bool = False) -> Friedman:
    """Friedman's test with Iman and Davenport's less conservative F statistic."""
    matrix = _matrix(scores)
    n_datasets, n_methods = matrix.shape
    if n_methods < 3 or n_datasets < 2:
        raise ValueError(
            f"Friedman's test needs 3 methods and 2 datasets, got {n_methods} and {n_datasets}; "
            "use Wilcoxon's test for two methods"
        )
    ranks = _ranks(matrix, smaller_is_better)
    if np.all(ranks == ranks[0, 0]):
        even = tuple(ranks.mean(axis=0).tolist())
        return Friedman(even, n_datasets, 0.0, 1.0, 0.0, 1.0)
    chi_squared, chi_squared_p = stats.friedmanchisquare(*matrix.T)
    slack = n_datasets * (n_methods - 1) - chi_squared
    if slack <= 1e-9:  # all datasets rank the methods alike
        f_statistic, p_value = np.inf, 0.0
    else:
        f_statistic = (n_datasets - 1) * chi_squared / slack
        p_value = stats.f.sf(f_statistic, n_methods - 1, (n_methods - 1) * (n_datasets - 1))
    return Friedman(
        tuple(ranks.mean(axis=0).tolist()),
        n_datasets,
        stable(chi_squared),
        stable(chi_squared_p),
        stable(f_statistic),
        stable(p_value),
    )


def rank_groups(
    scores: ArrayLike,
    methods: Sequence[str],
    level: float = LEVEL,
    smaller_is_better: bool = False,
) -> RankGroups:
    """Everything a critical-difference diagram shows, decided by Wilcoxon's tests with Holm's."""
    outcome = friedman(scores, smaller_is_better)
    different = {
        frozenset((pair.first, pair.second))
        for pair in wilcoxon_holm(scores, methods)
        if pair.p_adjusted < level
    }
    ranks = dict(zip(methods, outcome.average_ranks, strict=True))
    return RankGroups(
        methods=tuple(methods),
        average_ranks=outcome.average_ranks,
        n_datasets=outcome.n_datasets,
        level=level,
        groups=_groups(sorted(methods, key=lambda method: (ranks[method], method)), different),
        friedman=outcome,
    )


def _groups(ordered: Sequence[str], different: set[frozenset[str]]) -> tuple[tuple[str, ...], ...]:
    """Maximal sets without a pair that differs; a handful of methods has few subsets."""
    found: list[tuple[str, ...]] = []
    for size in range(len(ordered), 1, -1):
        for members in combinations(ordered, size):
            alike = not any(frozenset(pair) in different for pair in combinations(members, 2))
            if alike and not any(set(members) <= set(larger) for larger in found):
                found.append(members)
    place = {method: at for at, method in enumerate(ordered)}
    return tuple(sorted(found, key=lambda group: [place[method] for method in group]))


def wilcoxon_holm(scores: ArrayLike, methods: Sequence[str]) -> tuple[PairTest, ...]:
    """Every pair of methods; zero differences are split between the signs (Demšar, 3.1.3)."""
    matrix = _matrix(scores)
    pairs = list(combinations(range(len(methods)), 2))
    p_values = [wilcoxon(matrix[:, a] - matrix[:, b]) for a, b in pairs]
    adjusted = holm(p_values)
    return tuple(
        PairTest(
            methods[a],
            methods[b],
            stable((matrix[:, a] - matrix[:, b]).mean()),
            int((matrix[:, a] > matrix[:, b]).sum()),
            int((matrix[:, a] < matrix[:, b]).sum()),
            p_values[at],
            adjusted[at],
        )
        for at, (a, b) in enumerate(pairs)
    )


def wilcoxon(differences: ArrayLike) -> float:
    """Two-sided p-value of the signed-rank test that differences centre on zero.

    Exact, given the ranks: equal differences share their mean rank, the ranks of zeros are
    split evenly between the signs. (SciPy is exact without ties only; with them it samples
    or enumerates sign patterns, which takes seconds for the pairs of a table.)
    """
    values = np.asarray(differences, dtype=np.float64).round(TIED_DECIMALS)
    twice_ranks = (2 * stats.rankdata(np.abs(values))).round().astype(int)
    moving = twice_ranks[values != 0]
    total = int(moving.sum())
    chances = np.zeros(total + 1)
    chances[0] = 1.0  # of each possible sum of ranks on the positive side
    for rank in moving:
        with_it = np.concatenate([np.zeros(rank), chances[:-rank]])
        chances = (chances + with_it) / 2
    positive = int(twice_ranks[values > 0].sum())
    tail = chances[: min(positive, total - positive) + 1].sum()
    return stable(min(1.0, 2 * tail))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment; compare the result with the level itself."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [1.0] * len(p_values)
    running = 0.0
    for place, at in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - place) * p_values[at]))
        adjusted[at] = running
    return adjusted


def bootstrap(
    values: ArrayLike,
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None,
    level: float = 0.95,
    draws: int = BOOTSTRAP_DRAWS,
    seed: int = BOOTSTRAP_SEED,
) -> Interval:
    """Percentile interval of a statistic (the mean unless given) over resampled datasets.

    ``statistic`` maps samples of shape (draws, datasets) to (draws,).
    """
    sample = np.asarray(values, dtype=np.float64)
    summarise = statistic or (lambda samples: samples.mean(axis=1))
    if len(sample) < 2:
        raise ValueError(f"a bootstrap interval needs at least 2 datasets, got {len(sample)}")
    picks = np.random.default_rng(seed).integers(len(sample), size=(draws, len(sample)))
    tail = (1 - level) / 2
    low, high = np.quantile(summarise(sample[picks]), [tail, 1 - tail])
    return Interval(stable(summarise(sample[None, :])[0]), stable(low), stable(high), level)


def contrast(differences: ArrayLike) -> Contrast:
    """Mean, bootstrap interval, signs and Wilcoxon's test of differences over datasets."""
    values = np.asarray(differences, dtype=np.float64)
    return Contrast(
        n=len(values),
        difference=bootstrap(values),
        wins=int((values > TIE).sum()),
        ties=int((np.abs(values) <= TIE).sum()),
        losses=int((values < -TIE).sum()),
        p_value=wilcoxon(values),
    )


def contrast_of_known(differences: Iterable[float | None]) -> Contrast | None:
    """The contrast over the datasets that have a difference; ``None`` for too few of them."""
    known = [value for value in differences if value is not None]
    return contrast(known) if len(known) >= FEWEST_DATASETS else None


def corrected(contrasts: Sequence[Contrast]) -> list[Contrast]:
    """The same with Holm's correction over all of them."""
    adjusted = holm([each.p_value for each in contrasts])
    return [replace(each, p_adjusted=p) for each, p in zip(contrasts, adjusted, strict=True)]


def corrected_lines(lines: Sequence[Line]) -> list[Line]:
    """The same lines of a table, their contrasts with Holm's correction over all lines."""
    contrasts = corrected([line.contrast for line in lines])
    return [replace(line, contrast=one) for line, one in zip(lines, contrasts, strict=True)]


def _ranks(matrix: Scores, smaller_is_better: bool) -> NDArray[np.float64]:
    return np.asarray(stats.rankdata(matrix if smaller_is_better else -matrix, axis=1))


def _matrix(scores: ArrayLike) -> Scores:
    matrix = np.asarray(scores, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"scores must be a matrix (datasets, methods), got shape {matrix.shape}")
    if np.isnan(matrix).any():
        raise ValueError("scores must have no gaps: leave out a dataset or a method")
    return matrix
