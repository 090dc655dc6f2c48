"""GeneticTree's printed cells: the mean and deviation of ten trials with the tuned parameters."""

from __future__ import annotations

import csv
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score

import baselines
from baselines.genetic_tree import translate

PAPER = Path(__file__).parents[2] / "results" / "paper"
# Quick to fit, of both tasks, with and without a share of mutants that is off by rounding.
DATASETS = (
    "Blood Transfusion",
    "Titanic",
    "Raisins",
    "Rice",
    "Echocardiogram",
    "Wisconsin Breast Cancer",
    "Loan House",
    "Heart Failure",
    "Heart Disease",
    "Hepatitis",
    "German",
    "Horse Colic",
    "Iris",
    "Wine",
    "Contraceptive",
    "Dermatology",
    "Annealing",
    "Splice",
)


def printed(table: str, dataset: str) -> tuple[float, float]:
    with (PAPER / table).open(newline="") as file:
        for row in csv.DictReader(file):
            if (row["dataset"], row["method"]) == (dataset, "GeneticTree"):
                return float(row["mean"]), float(row["std"])
    raise LookupError(f"{dataset} in {table}")


@pytest.mark.mirror
@pytest.mark.parametrize("dataset", DATASETS)
def test_tuned_cells_equal_the_paper(dataset: str) -> None:
    from datasets import load_dataset, make_split, record, resolve

    slug = resolve(dataset)
    data, learner = load_dataset(slug), baselines.learner("genetictree")
    params = baselines.published_params("genetictree", dataset, record(slug).task)
    test, train, size = [], [], []
    for trial in range(10):
        split = make_split(data, "paper", trial)
        fitted = learner.fit(split, params, 42)
        predict = fitted.estimator.predict
        test.append(f1_score(split.y_test, predict(split.X_test), average="macro"))
        train.append(f1_score(fitted.y_fit, predict(fitted.X_fit), average="macro"))
        size.append(fitted.size)
    for scores, table in ((test, "test_f1_optimized.csv"), (train, "train_f1_optimized.csv")):
        assert cell(scores, 3) == printed(table, dataset)
    assert cell(size, 2) == printed("tree_size.csv", dataset)


def cell(values: list[float], digits: int) -> tuple[float, float]:
    """Mean and population deviation as printed: rounded to three digits, and half up from there."""
    unit = Decimal(1).scaleb(-digits)
    rounded = (Decimal(f"{statistic(values):.3f}") for statistic in (np.mean, np.std))
    mean, deviation = (float(value.quantize(unit, ROUND_HALF_UP)) for value in rounded)
    return mean, deviation


def test_share_of_mutants_is_the_one_that_was_searched() -> None:
    """One mutant more of 500 where the search's arithmetic rounded up."""
    row = {
        "n_thresholds": "10",
        "n_trees": "500",
        "max_iter": "500",
        "cross_prob": "0.8",
    }
    mutants = {
        share: int(
            np.ceil(500 * translate({**row, "mutation_prob": share}, "binary")["mutation_prob"])
        )
        for share in ("0.3", "0.4", "0.6", "0.7", "0.9")
    }
    assert mutants == {"0.3": 150, "0.4": 200, "0.6": 301, "0.7": 351, "0.9": 450}
