"""Whether a distilled tree earned a place among the small trees.

A distilled tree learns a forest's probabilities instead of the labels, by
alternating optimisation of its splits. It was tried twice on the fresh datasets
under protocol ``clean``: as a prototype, and as the estimator that was written
after it. Neither is a learner of the suite. Their test scores, trial by trial, are
in ``results/small_trees/distilled.csv``; those of the control are run records.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from experiments.analysis import statistics
from experiments.analysis.ranking import mean_of

TABLE = Path(__file__).resolve().parents[2] / "results" / "small_trees" / "distilled.csv"
LEAST_GAIN = 0.005
"""In mean test F1 at some size, of what would stay; with less, it is not worth its code."""

KEPT = "estimator"
"""The version that would have stayed."""

Attempt = tuple[str, str]
"""version (prototype, estimator), reading"""


def scores_of_attempts(path: Path = TABLE) -> dict[Attempt, dict[str, float]]:
    """Mean test F1 over trials by dataset; empty without the file."""
    trials: dict[Attempt, dict[str, list[float]]] = {}
    if path.is_file():
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                scores = trials.setdefault((row["version"], row["reading"]), {})
                scores.setdefault(row["dataset"], []).append(float(row["test_f1"]))
    return {
        attempt: {dataset: mean_of(scores) for dataset, scores in datasets.items()}
        for attempt, datasets in trials.items()
    }


def against_control(
    control: Mapping[str, Mapping[str, float]], path: Path = TABLE
) -> dict[Attempt, statistics.Contrast]:
    """The distilled tree minus the control over the datasets that both finished.

    Parameters
    ----------
    control : reading -> dataset -> mean test F1 over all trials.
    """
    found = {}
    for attempt, scores in scores_of_attempts(path).items():
        own = control.get(attempt[1], {})
        shared = sorted(scores.keys() & own.keys())
        contrast = statistics.contrast_of_known(scores[each] - own[each] for each in shared)
        if contrast is not None:
            found[attempt] = contrast
    return found
