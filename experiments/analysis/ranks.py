"""Ranks within a dataset, and what the paper makes of them over datasets.

Scores are frames, datasets x methods, NaN where a method has no result: it is not ranked there
and takes part in no average. MRR is the mean of 1/rank where ties share the better rank; MRD is the
mean of (best - x) / x, from means rounded to the printed digits; deviations are sample deviations
over datasets.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

MRD_DECIMALS = 3


def mean_of(values: Sequence[float]) -> float:
    """The correctly rounded mean, whatever the order of the values (so that ties are ties)."""
    return math.fsum(values) / len(values)


def population_std(values: Sequence[float]) -> float:
    centre = mean_of(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / len(values))


def sample_std(values: Sequence[float]) -> float:
    """NaN for a single value."""
    if len(values) < 2:
        return math.nan
    return population_std(values) * math.sqrt(len(values) / (len(values) - 1))


def over_datasets(values: Iterable[float]) -> dict[str, Any]:
    """Mean, sample deviation and number of the known values."""
    known = [float(value) for value in values if not math.isnan(value)]
    if not known:
        return {"value": math.nan, "spread": math.nan, "n": 0}
    if math.inf in known:
        return {"value": math.inf, "spread": math.nan, "n": len(known)}
    return {"value": mean_of(known), "spread": sample_std(known), "n": len(known)}


def _ranks(
    scores: pd.DataFrame, smaller: bool, ties: pd.DataFrame | None, method: str
) -> pd.DataFrame:
    """The paper ranked unrounded means: where two only print alike, its rank breaks the tie."""
    keys = scores.to_numpy(float) * (1 if smaller else -1)
    keys = keys if ties is None else keys + 1e-9 * ties.to_numpy(float)
    known = scores.notna().to_numpy()
    last = np.where(known, np.minimum(keys, np.finfo(float).max), math.inf)
    ranks = np.where(known, rankdata(last, method, axis=1), math.nan)
    return pd.DataFrame(ranks, scores.index, scores.columns)


def bracket_ranks(
    scores: pd.DataFrame, smaller: bool = False, ties: pd.DataFrame | None = None
) -> pd.DataFrame:
    """1 for the best; equal scores are ranked in column order."""
    return _ranks(scores, smaller, ties, "ordinal")


def shared_ranks(
    scores: pd.DataFrame, smaller: bool = False, ties: pd.DataFrame | None = None
) -> pd.DataFrame:
    """1 for the best; equal scores share the better rank (1, 1, 3)."""
    return _ranks(scores, smaller, ties, "min")


def contributions(
    scores: pd.DataFrame,
    statistic: str,
    smaller: bool = False,
    ties: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """What each dataset adds to a summary line: Mean, MRR, MRD or Wins."""
    if statistic == "Mean":
        return scores
    if statistic == "MRD":
        rounded = scores.map(lambda value: round(value, MRD_DECIMALS))
        best = (rounded.min(axis=1) if smaller else rounded.max(axis=1)).to_numpy()[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            behind = (best - rounded).abs() / rounded
        return behind.mask(rounded == best, 0.0)
    ranks = shared_ranks(scores, smaller, ties)
    return 1 / ranks if statistic == "MRR" else (ranks == 1).astype(float).where(ranks.notna())


def mean_reciprocal_ranks(scores: pd.DataFrame, smaller: bool = False) -> pd.Series:
    """MRR of each column."""
    values = contributions(scores, "MRR", smaller)
    return pd.Series({method: over_datasets(values[method])["value"] for method in values})
