"""Means, ranks, tests and intervals over datasets, after Demšar, "Statistical comparisons of
classifiers" (JMLR 7, 2006), and Benavoli and others, "Time for a change" (JMLR 18, 2017).

Scores are frames, datasets x methods. In ranks and summary lines NaN means no result: the method is
not ranked there and takes part in no average. MRR is the mean of 1/rank where ties share the better
rank; MRD is the mean of (best - x) / x, from means rounded to the printed digits.
"""

import math
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr, stdtrit  # scipy.stats takes a second to import

LEVEL = 0.05
TIE = 0.0005
"""A difference of scores that the printed digits do not show: the one rule for ties of wins."""
FEWEST_DATASETS = 5
"""Below this no test and no interval over datasets is worth its name."""
ROPE = 0.01
"""Region of practical equivalence: differences of F1 that do not matter."""
TIED_DECIMALS = 12
"""Differences that agree to so many digits are tied; what remains is rounding."""
MRD_DECIMALS = 3
SEED = 42
DRAWS = 10_000
Numbers = NDArray[np.float64]


class Interval(NamedTuple):
    """An estimate with the limits of its interval."""

    estimate: float
    low: float
    high: float


class Chances(NamedTuple):
    """Probabilities that the first is better by more than the region, within it, or worse."""

    better: float
    equivalent: float
    worse: float


def stable(value: float) -> float:
    """To ten significant digits: vector units of processors differ in the last ones."""
    return float(f"{value:.10g}")


def mean_of(values: Sequence[float]) -> float:
    """The correctly rounded mean, whatever the order of the values (so that ties are ties)."""
    return math.fsum(values) / len(values)


def population_std(values: Sequence[float]) -> float:
    centre = mean_of(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / len(values))


def sample_std(values: Sequence[float]) -> float:
    """NaN for a single value."""
    n = len(values)
    return population_std(values) * math.sqrt(n / (n - 1)) if n > 1 else math.nan


def over_datasets(values: Iterable[float]) -> dict[str, Any]:
    """Mean, sample deviation and number of the known values."""
    known = [float(value) for value in values if not math.isnan(value)]
    if not known or math.inf in known:
        return {"value": max(known, default=math.nan), "spread": math.nan, "n": len(known)}
    return {"value": mean_of(known), "spread": sample_std(known), "n": len(known)}


def ranks_of(
    scores: pd.DataFrame,
    smaller: bool = False,
    ties: pd.DataFrame | None = None,
    method: Literal["min", "first"] = "min",
) -> pd.DataFrame:
    """1 for the best; equal scores share a rank, or stand in order; ``ties`` break them."""
    keys = scores * (1 if smaller else -1)
    return (keys if ties is None else keys + 1e-9 * ties).rank(axis=1, method=method)


def contributions(
    scores: pd.DataFrame, statistic: str, smaller: bool = False, ties: pd.DataFrame | None = None
) -> pd.DataFrame:
    """What each dataset adds to a summary line: Mean, MRR, MRD or Wins."""
    if statistic == "Mean":
        return scores
    if statistic == "MRD":
        rounded = scores.map(lambda value: round(value, MRD_DECIMALS))
        best = (rounded.min(axis=1) if smaller else rounded.max(axis=1)).to_numpy()[:, None]
        return ((best - rounded).abs() / rounded).mask(rounded == best, 0.0)
    ranks = ranks_of(scores, smaller, ties)
    return 1 / ranks if statistic == "MRR" else (ranks == 1).astype(float).where(ranks.notna())


def wilcoxon(differences: ArrayLike) -> float:
    """Two-sided p-value of the signed-rank test that differences centre on zero.

    Exact, given the ranks, ties shared and zeros split evenly between the signs: SciPy is exact
    without ties only, and enumerates sign patterns with them, which takes seconds.
    """
    values = np.asarray(differences, dtype=np.float64).round(TIED_DECIMALS)
    twice_ranks = (2 * pd.Series(np.abs(values)).rank()).to_numpy().round().astype(int)
    moving = twice_ranks[values != 0]
    total = int(moving.sum())
    chances = np.eye(1, total + 1)[0]  # of each possible sum of ranks on the positive side
    for rank in moving:
        with_it = np.concatenate([np.zeros(rank), chances[:-rank]])
        chances = (chances + with_it) / 2
    positive = int(twice_ranks[values > 0].sum())
    tail = chances[: min(positive, total - positive) + 1].sum()
    return stable(min(1.0, 2 * tail))


def holm(p_values: Sequence[float] | pd.Series) -> pd.Series:
    """Holm's step-down adjustment of those there are; compare the result with the level itself."""
    found = pd.Series(p_values, dtype=float).dropna().sort_values(kind="stable")
    steps = (found * np.arange(len(found), 0, -1)).clip(upper=1.0)
    return steps.cummax().sort_index()


def t_interval(values: ArrayLike, of_one_more: int = 0) -> Interval:
    """Student's 95 % interval of the mean or, with 1, of what to expect on one more dataset:
    Higgins's prediction interval, with all of the spread taken for that between datasets.
    """
    sample = np.asarray(values, dtype=np.float64)
    centre, n = float(sample.mean()), len(sample)
    error = math.sqrt(sample.var(ddof=1) * (of_one_more + 1 / n))
    reach = stdtrit(n - 1 - of_one_more, 1 - LEVEL / 2) * error
    return Interval(*map(stable, (centre, centre - reach, centre + reach)))


def equivalence(differences: ArrayLike, margin: float = ROPE) -> float:
    """The larger p-value of two one-sided t-tests that the mean is outside of +-margin (TOST)."""
    sample = np.asarray(differences, dtype=np.float64)
    if np.ptp(sample) == 0:
        return float(abs(sample[0]) >= margin)
    error = sample.std(ddof=1) / math.sqrt(len(sample))
    return stable(stdtr(len(sample) - 1, (abs(sample.mean()) - margin) / error))


@cache
def _weights(n: int) -> Numbers:
    """Draws of a Dirichlet process with a prior of weight one half at the first of n values."""
    concentration = np.append(0.5, np.ones(n - 1))
    return np.ascontiguousarray(np.random.default_rng(SEED).dirichlet(concentration, DRAWS).T)


def bayesian_signed_rank(differences: ArrayLike, rope: float = ROPE) -> Chances:
    """Bayesian signed-rank test: where the pseudo-median of the differences may lie.

    Each draw of weights gives the mass of the pairwise means (Walsh averages) above, within and
    below the region of practical equivalence, and the part with most mass wins the draw.
    """
    sample = np.concatenate([[0.0], differences])
    order = np.argsort(sample)
    sample, weights = sample[order], _weights(len(sample))[order]
    below = np.vstack([np.zeros(DRAWS), np.cumsum(weights, axis=0)])  # mass of the k smallest
    up = 1 - (weights * below[np.searchsorted(sample, 2 * rope - sample, "right")]).sum(axis=0)
    down = (weights * below[np.searchsorted(sample, -2 * rope - sample, "left")]).sum(axis=0)
    mass = np.stack([up, 1 - up - down, down])
    best = mass >= mass.max(axis=0) - 1e-12
    return Chances(*(stable(share) for share in (best / best.sum(axis=0)).mean(axis=1)))
