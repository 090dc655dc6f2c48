"""Cells of the paper: DL8.5 and GeneticTree to the printed digits, DNDT within a deviation."""

import csv
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest
from sklearn.metrics import f1_score

import baselines
from datasets import load_dataset, make_split, record, resolve

HALF_A_DIGIT = 0.0005 + 1e-9

# All that take DL8.5 less than 10 seconds a fit.
DL85_AS_PRINTED = """
Banknote Authentication; Titanic; Rice; Echocardiogram; Wisconsin Breast Cancer; Heart Failure
Congressional Voting; Absenteeism; Hepatitis; Mushroom; Horse Colic; Cervical Cancer; Iris
Balance Scale; Car; Glass; Contraceptive; Wine; Zoo
"""
# Quick to fit, of both tasks, with and without a share of mutants that is off by rounding.
GENETIC = """
Blood Transfusion; Titanic; Raisins; Rice; Echocardiogram; Wisconsin Breast Cancer; Loan House
Heart Failure; Heart Disease; Hepatitis; German; Horse Colic; Iris; Wine; Contraceptive
Dermatology; Annealing; Splice
"""
# Where pydl8.5 0.1.8 finds other trees than 0.1.2 did: ties, or searches that missed the optimum.
DL85_OF_TODAY = {
    "Blood Transfusion": 0.5908,
    "Loan House": 0.6089,
    "Raisins": 0.8497,
    "Solar Flare": 0.1412,
    "Lymphography": 0.5456,
    "Heart Disease": 0.6937,
}


def names(listed: str) -> list[str]:
    return [name.strip() for name in listed.strip().replace("\n", ";").split(";")]


def printed(table: str, method: str) -> dict[str, tuple[float, float]]:
    with (baselines.PAPER / table).open(newline="") as file:
        return {
            row["dataset"]: (float(row["mean"]), float(row["std"]))
            for row in csv.DictReader(file)
            if row["method"] == method and row["status"] == "ok"
        }


def tuned_scores(slug: str, dataset: str) -> dict[str, np.ndarray]:
    """Test F1, train F1 and size of the ten trials with the published parameters."""
    data, learner = load_dataset(resolve(dataset)), baselines.learner(slug)
    params = baselines.published_params(slug, dataset, record(resolve(dataset)).task)
    scores: dict[str, list[float]] = {"test": [], "train": [], "size": []}
    for trial in range(10):
        split = make_split(data, "paper", trial)
        fitted = learner.fit(split, params, 42)
        predict = fitted.estimator.predict
        scores["test"].append(f1_score(split.y_test, predict(split.X_test), average="macro"))
        scores["train"].append(f1_score(fitted.y_fit, predict(fitted.X_fit), average="macro"))
        scores["size"].append(fitted.size or 0)
    return {name: np.array(values) for name, values in scores.items()}


@pytest.mark.mirror
@pytest.mark.slow
@pytest.mark.parametrize("dataset", names(DL85_AS_PRINTED))
def test_dl85_equals_the_paper(dataset):
    scores = tuned_scores("dl85", dataset)
    for part in ("test", "train"):
        mean, deviation = printed(f"{part}_f1_optimized.csv", "DL8.5")[dataset]
        assert scores[part].mean() == pytest.approx(mean, abs=HALF_A_DIGIT)
        assert scores[part].std() == pytest.approx(deviation, abs=HALF_A_DIGIT)


@pytest.mark.mirror
@pytest.mark.slow
@pytest.mark.parametrize("dataset", DL85_OF_TODAY)
def test_dl85_of_today_where_it_differs_from_the_paper(dataset):
    scores = tuned_scores("dl85", dataset)
    assert scores["test"].mean() == pytest.approx(DL85_OF_TODAY[dataset], abs=0.00005 + 1e-9)


@pytest.mark.mirror
@pytest.mark.slow
@pytest.mark.parametrize("dataset", printed("test_f1_optimized.csv", "DNDT"))
def test_dndt_is_within_a_printed_deviation(dataset):
    scores = tuned_scores("dndt", dataset)
    mean, deviation = printed("test_f1_optimized.csv", "DNDT")[dataset]
    assert scores["test"].mean() == pytest.approx(mean, abs=deviation)
    assert scores["size"].mean() == pytest.approx(printed("tree_size.csv", "DNDT")[dataset][0])


@pytest.mark.mirror
@pytest.mark.parametrize("dataset", names(GENETIC))
def test_genetictree_equals_the_paper(dataset):
    scores = tuned_scores("genetictree", dataset)
    for part in ("test", "train"):
        expected = printed(f"{part}_f1_optimized.csv", "GeneticTree")[dataset]
        assert cell(scores[part], 3) == expected
    assert cell(scores["size"], 2) == printed("tree_size.csv", "GeneticTree")[dataset]


def cell(values: np.ndarray, digits: int) -> tuple[float, float]:
    """Mean and population deviation as printed: rounded to three digits, and half up from there."""
    unit = Decimal(1).scaleb(-digits)
    rounded = (Decimal(f"{statistic:.3f}") for statistic in (values.mean(), values.std()))
    mean, deviation = (float(value.quantize(unit, ROUND_HALF_UP)) for value in rounded)
    return mean, deviation
