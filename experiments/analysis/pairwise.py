"""Two learners over datasets: differences of means, their interval, signs and test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import pandas as pd

from experiments.analysis import stats
from experiments.analysis.answer import Format
from experiments.analysis.grids import cells
from experiments.analysis.printed import Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import FEWEST_DATASETS, TIE

SCOPES = {"binary": "binary", "multi": "multi-class", "all": "all"}
PROTOCOLS = ("paper", "clean")

ENDS = ("low", "high")

Side = tuple[str, str, str]
"""protocol, experiment, method"""


@lru_cache(maxsize=512)
def _complete(runs: Runs, side: Side, metric: str) -> tuple[pd.Series, pd.Series]:
    """Mean and trials by dataset, of the datasets that have every trial."""
    protocol, experiment, method = side
    found = cells(runs, protocol, experiment, metric)
    rows = runs.of(protocol, experiment)
    trials = rows[rows["method"] == method].groupby("dataset")["trial"].agg(tuple)
    known = [slug for slug in trials.index if found.at[(slug, method), "n"] == len(trials[slug])]
    own = pd.Series({slug: found.at[(slug, method), "mean"] for slug in known}, dtype=float)
    return own, trials[known]


def means(runs: Runs, side: Side, metric: str = "test_f1") -> pd.Series:
    """Mean over trials by dataset, of the datasets that have every trial."""
    return _complete(runs, side, metric)[0]


def differences(runs: Runs, mine: Side, other: Side, metric: str = "test_f1") -> pd.Series:
    """Mean of one side minus that of the other, by dataset that both have with the same trials."""
    (one, trials), (two, others) = (_complete(runs, side, metric) for side in (mine, other))
    shared = [slug for slug in one.index if slug in two.index and trials[slug] == others[slug]]
    return one[shared] - two[shared]


def slugs_of(printed: Printed, scope: str = "all") -> list[str]:
    """The paper's datasets of a task, or ``all``, in its order."""
    tasks = printed.datasets["task"]
    return list(tasks.index if scope == "all" else tasks.index[tasks == scope])


def in_scope(values: pd.Series, printed: Printed, scope: str = "all") -> list[float]:
    """The values of the paper's datasets of a task, in its order."""
    return [values[slug] for slug in slugs_of(printed, scope) if slug in values.index]


def contrast(values: Iterable[float]) -> dict[str, Any] | None:
    """Mean difference, bootstrap interval, signs and Wilcoxon's p; ``None`` for few datasets."""
    known = list(values)
    if len(known) < FEWEST_DATASETS:
        return None
    estimate, low, high = stats.bootstrap(known)
    return {
        "n": len(known),
        "difference": estimate,
        "low": low,
        "high": high,
        "wins": sum(v > TIE for v in known),
        "ties": sum(abs(v) <= TIE for v in known),
        "losses": sum(v < -TIE for v in known),
        "p": stats.wilcoxon(known),
    }


def with_holm(lines: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Lines of contrasts as a frame, with Holm's correction over all of them."""
    frame = pd.DataFrame(list(lines))
    if len(frame):
        frame["holm"] = stats.holm(frame["p"].tolist())
    return frame


SIGNS = ("wins", "ties", "losses")


def named(change: str = "difference", signs: Sequence[str] = SIGNS) -> dict[str, str]:
    """What tables call the columns of a contrast."""
    return {
        "difference": change,
        "low": "95 % interval: low",
        "high": "95 % interval: high",
        **dict(zip(SIGNS, signs, strict=True)),
        "p": "p",
        "holm": "p (Holm)",
    }


def formats(change: str = "difference", signs: Sequence[str] = SIGNS) -> dict[str, Format]:
    """How tables show them."""
    interval = Format(kind="change", group="95 % interval")
    return {
        change: Format(kind="change"),
        "95 % interval: low": interval,
        "95 % interval: high": interval,
        **dict.fromkeys(signs, Format(kind="count")),
        "p": Format(kind="p"),
        "p (Holm)": Format(kind="p"),
    }


def interval(line: Any, decimals: int = 3) -> str:
    """``+0.013 [-0.009, +0.036]``: a difference with its limits; what rounds to zero has a sign."""
    low, high = line["low"], line["high"]
    return f"{line['difference']:+.{decimals}f} [{low:+.{decimals}f}, {high:+.{decimals}f}]"


def listed(parts: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def estimate(values: Iterable[float]) -> dict[str, Any] | None:
    """What a mean difference over datasets says, without a test; ``None`` for few datasets.

    Student's interval of the mean, wins, ties and losses, the interval that one more dataset is
    predicted in, and the chances of a Bayesian signed-rank test.
    """
    known = list(values)
    if len(known) < FEWEST_DATASETS:
        return None
    mean, new = stats.t_interval(known), stats.new_dataset(known)
    chances = stats.bayesian_signed_rank(known)
    return {
        "n": len(known),
        "difference": mean.estimate,
        "low": mean.low,
        "high": mean.high,
        "signs": f"{sum(v > TIE for v in known)}-{sum(abs(v) <= TIE for v in known)}-"
        f"{sum(v < -TIE for v in known)}",
        "new low": new.low,
        "new high": new.high,
        "better": chances.better,
        "equivalent": chances.equivalent,
        "worse": chances.worse,
    }


ESTIMATES = {
    "n": "datasets",
    "difference": "difference",
    "low": "95 % interval: low",
    "high": "95 % interval: high",
    "signs": "W-T-L",
    "new low": "new dataset: low",
    "new high": "new dataset: high",
    "better": "P: GradTree better",
    "equivalent": "P: within ±0.01",
    "worse": "P: other better",
}
ESTIMATE_FORMATS = {
    "datasets": Format(kind="count"),
    "difference": Format(kind="change"),
    **{f"95 % interval: {end}": Format(kind="change", group="95 % interval") for end in ENDS},
    **{f"new dataset: {end}": Format(kind="change", group="new dataset") for end in ENDS},
    **{name: Format(2, group="P") for name in ESTIMATES.values() if name.startswith("P: ")},
}
