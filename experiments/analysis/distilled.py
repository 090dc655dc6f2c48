"""How the distilled tree earned its place among the small trees: its prototype and the control.

The prototype's test scores on the fresh datasets under protocol ``clean``, trial by trial, are in
``results/small_trees/distilled.csv``; the control's are run records. What came of it, the learner
``distilled-tree``, has records like every other.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from experiments.analysis import statistics
from experiments.analysis.ranking import mean_of

TABLE = Path(__file__).resolve().parents[2] / "results" / "small_trees" / "distilled.csv"
LEAST_GAIN = 0.005
"""In mean test F1 at some size; with less, the recipe is not worth its code."""


def prototype_scores(path: Path = TABLE) -> dict[str, dict[str, float]]:
    """Reading -> dataset -> mean test F1 over trials; empty without the file."""
    trials: dict[str, dict[str, list[float]]] = {}
    if path.is_file():
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                scores = trials.setdefault(row["reading"], {})
                scores.setdefault(row["dataset"], []).append(float(row["test_f1"]))
    return {
        reading: {dataset: mean_of(scores) for dataset, scores in datasets.items()}
        for reading, datasets in trials.items()
    }


def against_control(
    control: Mapping[str, Mapping[str, float]], path: Path = TABLE
) -> dict[str, statistics.Contrast]:
    """Per reading, the prototype minus the control over the datasets that both finished.

    Parameters
    ----------
    control : reading -> dataset -> mean test F1 over all trials.
    """
    found = {}
    for reading, scores in prototype_scores(path).items():
        own = control.get(reading, {})
        shared = sorted(scores.keys() & own.keys())
        contrast = statistics.contrast_of_known(scores[each] - own[each] for each in shared)
        if contrast is not None:
            found[reading] = contrast
    return found
