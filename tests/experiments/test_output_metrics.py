"""``measure``: other metrics of stored predictions."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from experiments.__main__ import main
from experiments.analysis.runs import load
from experiments.errors import UserError
from experiments.output.metrics import find, measure
from experiments.runner.experiments import jobs_of
from experiments.runs import archive
from experiments.runs.archive import Prediction
from experiments.runs.schema import Column
from experiments.runs.store import Store


def rows(classes: int, n: int = 60) -> Prediction:
    generator = np.random.default_rng(classes)
    truth = generator.integers(0, classes, n)
    proba = generator.dirichlet(np.ones(classes), n)
    return Prediction(truth, proba.argmax(axis=1), proba)


def scored(name: str, given: Prediction, classes: int, **options: Any) -> float | None:
    score = find(name, options, {}).score
    return score(given, classes)


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("matthews_corrcoef", {}),
        ("f1_score", {"average": "macro"}),
        ("precision_score", {"average": "macro", "zero_division": 0}),
        ("hamming_loss", {}),
        ("roc_auc_score", {"multi_class": "ovr"}),
        ("log_loss", {}),
        ("average_precision_score", {}),
        ("top_k_accuracy_score", {"k": 1}),
    ],
)
def test_metrics_get_the_arguments_that_they_need(name, options, classes):
    given, function = rows(classes), getattr(sklearn_metrics, name)
    answers: Any = given.predicted
    if name in ("roc_auc_score", "log_loss", "average_precision_score", "top_k_accuracy_score"):
        answers = given.proba if classes > 2 or name == "log_loss" else given.proba[:, 1]
        assert scored(name, Prediction(given.truth, given.predicted), classes) is None
    more = {"k": 1} if "k" in options else {}
    wanted = function(given.truth, answers, **options)
    assert scored(name, given, classes, **more) == pytest.approx(wanted)


def test_a_class_that_the_test_rows_lack_options_and_directions():
    given = Prediction(np.array([0, 1, 0]), np.array([0, 1, 2]), np.eye(3)[[0, 1, 2]] * 0.7 + 0.1)
    wanted = -(2 * np.log(0.8) + np.log(0.1)) / 3
    assert scored("log_loss", given, 3) == pytest.approx(wanted)
    given = rows(3)
    wanted = sklearn_metrics.f1_score(given.truth, given.predicted, average="weighted")
    assert scored("f1_score", given, 3, average="weighted") == pytest.approx(wanted)
    assert find("zero_one_loss", {}, {}).better == "low"
    assert find("accuracy_score", {}, {}).better == "high"
    assert find("test_brier", {}, {}).better == "low"


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("mathews_corrcoef", {}, "did you mean matthews_corrcoef"),
        ("mean_squared_error", {"multioutput": "raw_values"}, "gives no score of numbers"),
        ("adjusted_rand_score", {}, "compares clusters"),
        ("confusion_matrix", {}, "not one number"),
        ("hinge_loss", {}, "decision values"),
        ("accuracy_score", {"averge": 1}, "no option 'averge'"),
        ("f1_score", {"average": "nothing"}, "gives no score"),
        ("test_f1", {"average": "macro"}, "takes no options"),
        ("ConfusionMatrixDisplay", {}, "unknown metric"),
    ],
)
def test_what_is_no_metric_is_refused_with_the_reason(name, options, told):
    with pytest.raises(UserError, match=told):
        find(name, options, {})


def test_a_metric_of_a_plugin_takes_truth_and_probabilities():
    cost = {"better": "low", "score": lambda y, p: float((p[:, 0] * (y != 0)).sum())}
    own = Column("cost", float, "score", "cost", **cost)
    found, given = find("cost", {}, {"cost": own}), rows(3)
    assert found.better == "low"
    wanted = given.proba[given.truth != 0, 0].sum()
    assert found.score(given, 3) == pytest.approx(wanted)
    assert found.score(Prediction(given.truth, given.predicted), 3) is None


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two trials of tuned CART on Iris; predictions of the first alone."""
    jobs, opened = jobs_of("tuned", "paper", ["iris"], ["cart"], [0, 1]), Store(tmp_path / "runs")
    opened.plan(jobs)
    runs = [job.run("ok", test_f1=0.5, test_brier=0.125) for job in jobs]
    opened.add(runs, {jobs[0].key: archive.pack(rows(3))})
    opened.close()
    return opened.folder


def test_runs_without_predictions_are_counted(store, tmp_path, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        grid, missing = measure(load(store), find("accuracy_score", {}, {}), "paper", "tuned")
    given = rows(3)
    assert grid.frame["mean"].tolist() == [float(np.mean(given.truth == given.predicted))]
    assert grid.frame["n"].tolist() == [1]
    assert dict(missing) == {"no predictions are kept": 1}
    words = ["measure", "accuracy_score", "--store", str(store), "--output", str(tmp_path / "out")]
    assert main(words) == 3
    assert "1: no predictions are kept" in capsys.readouterr().out
    assert (tmp_path / "out" / "tables" / "paper" / "tuned-accuracy-score.csv").is_file()


def test_stored_scores_need_no_predictions(store, capsys):
    assert main(["measure", "test_brier", "--store", str(store)]) == 0
    assert "0.125" in capsys.readouterr().out
    assert main(["measure", "test_brier", "--store", str(store), "--experiment", "tunde"]) == 2
    assert "did you mean paper/tuned" in capsys.readouterr().err
