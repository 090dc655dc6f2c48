"""Tests and intervals over datasets.

The distributions are SciPy's, Wilcoxon's excepted; the tests are those of Demšar, "Statistical
comparisons of classifiers over multiple data sets" (JMLR 7, 2006), and of Benavoli and others,
"Time for a change: a tutorial for comparing multiple classifiers through Bayesian analysis"
(JMLR 18, 2017). Scores are matrices of shape (datasets, methods) without gaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats

LEVEL = 0.05
TIE = 0.0005
"""A difference of scores that the printed digits do not show: the one rule for ties of wins."""
FEWEST_DATASETS = 5
"""Below this no test and no interval over datasets is worth its name."""
ROPE = 0.01
"""Region of practical equivalence: differences of F1 that do not matter."""
TIED_DECIMALS = 12
"""Differences that agree to so many digits are tied; what remains is rounding."""
SEED = 42
DRAWS = 10_000


class Interval(NamedTuple):
    """An estimate with the limits of its interval."""

    estimate: float
    low: float
    high: float


def stable(value: float) -> float:
    """To ten significant digits: vector units of processors differ in the last ones."""
    return float(f"{value:.10g}")


def _sample(values: ArrayLike, fewest: int = 2) -> NDArray[np.float64]:
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or len(sample) < fewest or np.isnan(sample).any():
        raise ValueError(f"needs at least {fewest} datasets without gaps, got {sample.shape}")
    return sample


# Tests


def wilcoxon(differences: ArrayLike) -> float:
    """Two-sided p-value of the signed-rank test that differences centre on zero.

    Exact, given the ranks: equal differences share their mean rank, the ranks of zeros are split
    evenly between the signs. (SciPy is exact without ties only; with them it samples or enumerates
    sign patterns, which takes seconds for the pairs of a table.)
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


def friedman(scores: ArrayLike, smaller_is_better: bool = False) -> tuple[list[float], float]:
    """Do the methods differ at all? Average ranks, and p of Iman and Davenport's F statistic."""
    matrix = np.asarray(scores, dtype=np.float64)
    n_datasets, n_methods = matrix.shape
    if n_methods < 3 or n_datasets < 2 or np.isnan(matrix).any():
        raise ValueError(
            f"Friedman's test needs 3 methods and 2 datasets without gaps, got {matrix.shape}; "
            "use Wilcoxon's test for two methods"
        )
    ranks = stats.rankdata(matrix if smaller_is_better else -matrix, axis=1)
    average = ranks.mean(axis=0).tolist()
    if np.all(ranks == ranks[0, 0]):
        return average, 1.0
    chi_squared = stats.friedmanchisquare(*matrix.T).statistic
    slack = n_datasets * (n_methods - 1) - chi_squared
    if slack <= 1e-9:  # all datasets rank the methods alike
        return average, 0.0
    f_statistic = (n_datasets - 1) * chi_squared / slack
    p_value = stats.f.sf(f_statistic, n_methods - 1, (n_methods - 1) * (n_datasets - 1))
    return average, stable(p_value)


def pairs(scores: pd.DataFrame) -> pd.DataFrame:
    """Wilcoxon's test of every pair of columns, with Holm's correction over all pairs.

    Returns
    -------
    DataFrame : first, second, difference (mean of first minus second), better, worse (datasets,
    ties of less than ``TIE`` left out), p, p_holm.
    """
    lines = []
    for first, second in combinations(scores.columns, 2):
        values = scores[first].to_numpy() - scores[second].to_numpy()
        better, worse = int((values > TIE).sum()), int((values < -TIE).sum())
        lines.append((first, second, stable(values.mean()), better, worse, wilcoxon(values)))
    found = pd.DataFrame(lines, columns=["first", "second", "difference", "better", "worse", "p"])
    return found.assign(p_holm=holm(found["p"].tolist()))


def groups(order: Sequence[str], compared: pd.DataFrame) -> list[tuple[str, ...]]:
    """Maximal groups of methods in which no pair differs significantly, by their best member.

    Parameters
    ----------
    order : methods, best first.
    compared : their ``pairs``.
    """
    apart = compared[compared["p_holm"] < LEVEL]
    different = {frozenset(pair) for pair in zip(apart["first"], apart["second"], strict=True)}
    found: list[tuple[str, ...]] = []
    for size in range(len(order), 1, -1):
        for members in combinations(order, size):
            alike = not any(frozenset(pair) in different for pair in combinations(members, 2))
            if alike and not any(set(members) <= set(larger) for larger in found):
                found.append(members)
    return sorted(found, key=lambda group: [list(order).index(method) for method in group])


# Intervals of a mean over datasets


def bootstrap(values: ArrayLike, level: float = 0.95) -> Interval:
    """Percentile interval of the mean over resampled datasets."""
    sample = _sample(values)
    picks = np.random.default_rng(SEED).integers(len(sample), size=(DRAWS, len(sample)))
    tail = (1 - level) / 2
    low, high = np.quantile(sample[picks].mean(axis=1), [tail, 1 - tail])
    return Interval(stable(sample.mean()), stable(low), stable(high))


def t_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Student's interval of the mean."""
    sample = _sample(values)
    reach = stats.t.ppf((1 + level) / 2, len(sample) - 1) * stats.sem(sample)
    centre = float(sample.mean())
    return Interval(stable(centre), stable(centre - reach), stable(centre + reach))


def new_dataset(differences: ArrayLike, level: float = 0.95) -> Interval:
    """What to expect on one more dataset: Higgins's prediction interval of a random-effects mean.

    All of the spread is taken for that between datasets; Student's t has n - 2 degrees of freedom.
    """
    sample = _sample(differences, 3)
    n, between, centre = len(sample), sample.var(ddof=1), float(sample.mean())
    reach = stats.t.ppf((1 + level) / 2, n - 2) * np.sqrt(between + np.sqrt(between / n) ** 2)
    return Interval(stable(centre), stable(centre - reach), stable(centre + reach))


# Equivalence


def equivalence(differences: ArrayLike, margin: float = ROPE) -> float:
    """The larger p-value of two one-sided t-tests that the mean is outside of +-margin (TOST)."""
    sample = _sample(differences)
    if np.ptp(sample) == 0:
        return float(abs(sample[0]) >= margin)
    low = stats.ttest_1samp(sample, -margin, alternative="greater").pvalue
    high = stats.ttest_1samp(sample, margin, alternative="less").pvalue
    return stable(max(low, high))


class Chances(NamedTuple):
    """Probabilities that the first is better by more than the region, within it, or worse."""

    better: float
    equivalent: float
    worse: float


def bayesian_signed_rank(differences: ArrayLike, rope: float = ROPE) -> Chances:
    """Bayesian signed-rank test: where the pseudo-median of the differences may lie.

    A Dirichlet process with a prior of weight one half at zero; each draw of weights gives the
    mass of the pairwise means (Walsh averages) above, within and below the region of practical
    equivalence, and the part with most mass wins the draw.
    """
    sample = np.concatenate([[0.0], _sample(differences)])
    concentration = np.ones(len(sample))
    concentration[0] = 0.5
    weights = np.random.default_rng(SEED).dirichlet(concentration, DRAWS)
    walsh = sample[:, None] + sample[None, :]
    parts = [walsh > 2 * rope, np.abs(walsh) <= 2 * rope, walsh < -2 * rope]
    mass = np.stack([((weights @ part) * weights).sum(axis=1) for part in parts])
    best = np.isclose(mass, mass.max(axis=0), rtol=0, atol=1e-12)
    better, equivalent, worse = (best / best.sum(axis=0)).mean(axis=1)
    return Chances(stable(better), stable(equivalent), stable(worse))
