"""Regressions in the runner, the table of runs and the analysis."""

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analysis_support import answered, make_runs
from hypothesis import given
from hypothesis import strategies as st
from runner_helpers import archived, job_of
from sklearn import metrics

from datasets.split import Provenance, Split
from experiments.analysis.printed import printed
from experiments.analysis.questions import regression
from experiments.commands.trees import kept_tree
from experiments.output import checks
from experiments.output import metrics as own_metrics
from experiments.runner import registry, run_job, scores
from experiments.runs import archive
from experiments.runs.archive import Prediction
from experiments.runs.schema import BadRunError, check
from experiments.runs.store import FILE, Store
from experiments.text import outcome
from gradtree.trees.regression_tree import RegressionTree

Verb = Callable[..., tuple[int, str, str]]


@given(st.integers(1, 40), st.booleans(), st.integers(0, 10**6))
def test_scores_of_numbers_are_those_of_scikit_learn(rows: int, flat: bool, seed: int) -> None:
    draws = np.random.default_rng(seed)
    truth = np.full(rows, 2.0) if flat else draws.normal(size=rows)
    predicted, quantiles = draws.normal(size=rows), draws.normal(size=(rows, 3))
    ours = scores.number_scores(truth, predicted, quantiles)
    if rows > 1:
        assert ours["test_r2"] == pytest.approx(metrics.r2_score(truth, predicted), abs=1e-12)
    assert ours["test_mae"] == pytest.approx(metrics.mean_absolute_error(truth, predicted))
    for share, told in zip((0.1, 0.5, 0.9), quantiles.T, strict=True):
        expected = metrics.mean_pinball_loss(truth, told, alpha=share)
        assert ours[f"test_pinball_{100 * share:.0f}"] == pytest.approx(expected)


def test_parts_that_do_not_fit_are_no_predictions() -> None:
    truth, table, codes = np.zeros(3), np.arange(4.0), np.array([0, 1, 1], dtype=np.uint16)
    assert Prediction.decoded(truth, None, table, codes) is not None
    assert Prediction.decoded(truth, None, np.arange(3.0), codes) is None
    assert Prediction.decoded(truth[:2], None, table, codes) is None
    assert Prediction.decoded(truth, None, None, codes) is None


@pytest.fixture
def servo(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of numbers in place of the dataset servo."""
    draws = np.random.default_rng(0)
    X = draws.normal(size=(120, 4))
    y = 3.0 * (X[:, 0] > 0) + X[:, 1] + 0.1 * draws.normal(size=120)
    facts = Provenance("servo", "", "clean", "1", 0, 42, "test", "none", 72)
    names = tuple("abcd")
    split = Split(X[:72], y[:72], X[72:96], y[72:96], X[96:], y[96:], names, (), facts)
    monkeypatch.setattr(registry, "make_split", lambda *place: split)
    run_job.load_split.cache_clear()
    yield
    run_job.load_split.cache_clear()


def servo_job(method: str) -> Any:
    params = {"prices": 5} if "pruned" in method else {"candidates": 2}
    return job_of(method, "servo", protocol="clean", **params, folds=2)


@pytest.mark.usefixtures("servo", "no_plugins")
class TestServo:
    @pytest.mark.parametrize("method", ["cart-pruned-regression", "cart-quantile"])
    def test_a_run_keeps_what_its_scores_need(self, method: str, tmp_path: Path) -> None:
        done = run_job.run_job(servo_job(method))
        run = check(done.run)
        assert run["status"] == "ok", run["traceback"]
        assert run["test_f1"] is None
        assert run["test_r2"] > 0.5
        assert run["train_r2"] > 0.5
        assert outcome(run).startswith(f"R² {run['test_r2']:.3f}, {run['tree_size']} nodes")
        assert (run["test_pinball_50"] is not None) == (method == "cart-quantile")
        store = Store(tmp_path / "store")
        store.add([run], {run["key"]: done.predictions or b""})
        assert isinstance(kept_tree(store, run["key"]), RegressionTree | None)
        runs = store.frame("runs")
        archived(store, tmp_path / "archive")
        archive.write_predictions(tmp_path / "archive", archive.kept_predictions(store, runs))
        for folder in (tmp_path / "store", tmp_path / "archive"):
            found = checks.scores(folder, scores.scores_of, scores.number_scores)
            assert (found.compared, found.wrong) == (1, [])
        kept = archive.read_predictions(tmp_path / "archive")[run["key"]]
        again = archive.unpack(done.predictions or b"")
        assert (kept.truth == again.truth).all()
        assert (kept.predicted == again.predicted).all()

    def test_a_changed_score_is_noticed(self, tmp_path: Path) -> None:
        done = run_job.run_job(servo_job("cart-quantile"))
        store = Store(tmp_path)
        wrong = {**done.run, "test_pinball_90": done.run["test_pinball_90"] + 1e-6}
        store.add([check(wrong)], {wrong["key"]: done.predictions or b""})
        (told,) = checks.scores(tmp_path, scores.scores_of, scores.number_scores).wrong
        assert "test_pinball_90" in told

    def test_a_learner_of_classes_is_left_out_with_the_reason(self) -> None:
        run = run_job.run_job(job_of("cart", "servo", protocol="clean")).run
        assert (run["status"], run["reason"]) == ("skipped", "classes only")

    def test_numbers_that_are_none_are_told(self) -> None:
        for answer, told in (
            (lambda X: np.full(len(X), np.nan), "no finite numbers"),
            (lambda X: np.zeros(len(X) + 1), "returned shape"),
            (lambda X: np.array(["a"] * len(X)), "no finite numbers"),
        ):
            with pytest.raises(scores.PredictionError, match=told):
                scores.predict_numbers(answer, np.zeros((3, 2)), ())


def test_a_success_without_any_main_score_is_no_run() -> None:
    run = job_of("cart-regression", "servo", protocol="clean").run("ok", test_mae=1.0)
    with pytest.raises(BadRunError, match="ok, but without test_f1 or test_r2"):
        check(run)
    assert check({**run, "test_r2": -2.5})["test_r2"] == -2.5


def test_a_store_from_before_there_were_regressions_is_brought_up_to_date(tmp_path: Path) -> None:
    run = check(job_of("cart", "iris").run("ok", test_f1=0.5))
    Store(tmp_path).add([run])
    with sqlite3.connect(tmp_path / FILE) as connection:
        for name in ("train_r2", "test_r2", "test_pinball_10"):
            connection.execute(f"ALTER TABLE runs DROP COLUMN {name}")
    store = Store(tmp_path)
    store.add([check(job_of("cart-regression", "servo", protocol="clean").run("ok", test_r2=0.1))])
    assert sorted(store.frame("runs")["test_r2"].fillna(-1)) == [-1, 0.1]


def test_metrics_of_numbers_are_of_numbers_alone() -> None:
    found, truth = own_metrics.find("mean_squared_error", {}, {}), np.arange(4.0)
    assert found.better == "low"
    assert own_metrics._scored(found, Prediction(truth, truth + 2), 0) == (4.0, "")
    classes = Prediction(np.arange(3), np.arange(3))
    assert own_metrics._scored(found, classes, 3) == (None, "it compares numbers")
    other = own_metrics.find("accuracy_score", {}, {})
    assert own_metrics._scored(other, Prediction(truth, truth), 0) == (None, "it compares classes")


def test_who_is_named_for_the_wrong_task_is_skipped_with_the_reason(run: Verb, tmp_path: Path):
    words = ["--experiment", "default", "--store", tmp_path]
    assert run("plan", *words, "--method", "cart", "--dataset", "servo")[0] == 4
    words += ["--method", "gradtree-regression", "--dataset", "iris", "--trial", "0", "--inline"]
    status, out, _ = run("run", *words, "--protocol", "paper")
    assert (status, "iris gradtree-regression trial 0: skipped: numbers only" in out) == (0, True)


def invented(r2: dict[str, float], pinball: float = 0.9, n: int = 9) -> Any:
    """Runs of n datasets, all alike but for a little noise."""
    cells: dict[Any, Any] = {}
    for number in range(n):
        slug = f"numbers-{number}"
        for method, score in r2.items():
            fit = {"status": "ok", "test_r2": score - 0.01 * number, "test_mae": 2 - score}
            cells["clean", "regression", slug, method] = [fit | {"tree_size": 9, "cpu_seconds": 1}]
        for method, loss in (("cart-quantile", 1.0), ("gradtree-quantile", pinball)):
            losses = dict.fromkeys(regression.LEVELS.values(), loss + 0.001 * number)
            fit = {"status": "ok", "test_r2": 0.5, "tree_size": 27, "cpu_seconds": 2, **losses}
            cells["clean", "regression-quantiles", slug, method] = [fit]
    return make_runs(cells)


R2 = {
    "cart-regression": 0.7,
    "cart-pruned-regression": 0.8,
    "gradtree-regression": 0.75,
    "boosting-regression": 0.9,
}


def test_it_is_said_plainly_who_wins() -> None:
    found = answered(regression.answer, invented(R2))
    first, *rest = found.sentences
    assert "(protocol clean, 9 datasets)" in first
    assert "CART (pruned regression) on 9" in first
    told = " ".join(rest)
    assert "In R² GradTree (regression) is worse than CART (pruned regression): -0.050" in told
    assert "has a higher R² than every tree on 9 of 9 datasets" in told
    assert "at 0.1: +0.1" in told
    ahead = answered(regression.answer, invented({**R2, "gradtree-regression": 0.85}))
    assert "GradTree (regression) on 9" in ahead.sentences[0]
    assert "is better than CART (pruned regression): +0.050" in " ".join(ahead.sentences)
    frame = ahead.tables[0].frame.set_index("Learner")
    assert frame.loc["GradTree (regression)", "wins among trees"] == 9
    assert ahead.figures[0].draw().axes
    lost = answered(regression.answer, invented({**R2, "cart-regression": 0.005}))
    assert sum("worse than the mean of the target" in each for each in lost.sentences) == 8


def test_datasets_that_are_not_finished_are_counted() -> None:
    runs = invented(R2)
    left = (runs.frame["dataset"] == "numbers-8") & (runs.frame["method"] == "cart-regression")
    frame = runs.frame.assign(status=runs.frame["status"].mask(left, ""))
    first = answered(regression.answer, replace(runs, frame=frame)).sentences[0]
    assert "(protocol clean, 8 of 9 datasets so far)" in first


def test_level_trees_win_nowhere_and_few_datasets_give_no_answer() -> None:
    found = answered(regression.answer, invented({**R2, "gradtree-regression": 0.8}))
    assert "and on 9 two trees are level" in found.sentences[0]
    assert regression.answer(invented(R2, n=4), printed()) is None
    assert regression.answer(make_runs({}), printed()) is None
