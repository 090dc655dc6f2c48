"""End to end: a researcher's afternoon, one dataset with every learner, a benchmark of engines."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import plugins
import pytest

from experiments.commands.arguments import RESULTS
from experiments.runs.store import Store

MORE = """
from pathlib import Path
from sklearn.datasets import load_breast_cancer


def optimal(split, params, seed):
    from pystreed import STreeDClassifier

    X, y = split.X_train_valid, split.y_train_valid
    model = STreeDClassifier("cost-complex-accuracy", **params).fit(X, y)
    return Fitted(model, X, y, tree=None, size=2 * model.get_n_leaves() - 1)


LEARNERS = [
    LEARNER,
    Learner("optimal", "Optimal tree of depth 2", "1", defaults, optimal, needs=("pystreed",)),
]
del LEARNER
_cells = load_breast_cancer(as_frame=True).frame
DATASETS |= {
    "Visits": (pd.read_csv(Path(__file__).with_name("visits.csv")), "again"),
    "Cells": (_cells.iloc[::2, [0, 1, 2, -1]], "target"),
}
METRICS = {"surprise": (lambda y, p: float(-np.log2(np.clip(p[range(len(y)), y], 1e-6, 1)).mean()),
                        "low")}
"""
TABLES = "my-shop,visits,cells"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where one works: the plug-in, and a table on disk."""
    pytest.importorskip("pystreed")
    draws = np.random.default_rng(1).integers(0, 9, (120, 3))
    visits = pd.DataFrame(draws, columns=["days", "pages", "clicks"])
    visits.assign(again=(draws[:, 0] > draws[:, 1]) * 1).to_csv(
        tmp_path / "visits.csv", index=False
    )
    plugins.write(tmp_path, plugins.BOTH + MORE)
    monkeypatch.chdir(tmp_path)
    return tmp_path / ".runs"


def test_from_a_file_of_ones_own_to_a_table_with_statistics(run, folder):
    quick, own = ["--inline"], ["--plugin", "mine.py", "--dataset", TABLES]
    for _ in range(2):  # the second time nothing is left to do
        status, told, _ = run("search", *own, "--method", "shallow", "--trials", "30", *quick)
        assert (status, told.count("30 candidates"), "Winners are in" in told) == (0, 1, True)
    winners = pd.read_csv(folder / "search" / "winners.csv")
    assert set(winners["dataset"]) == set(TABLES.split(","))

    words = ["--experiment", "tuned", "--params", "ours", "--method", "shallow", "--trial", "0-1"]
    assert run("run", *own, *words, *quick)[0] == 0
    tuned = Store(folder).frame("runs").query("evaluation == 'holdout'")
    assert len(tuned) == 6
    assert set(tuned["status"]) == {"ok"}
    assert set(Store(folder).frame("planned")["experiment"]) == {"searched"}
    drawn = tuned.groupby("dataset")["params"].unique().map(list).to_dict()
    assert drawn == {row.dataset: [row.params] for row in winners.itertuples()}

    words = ["--against", "cart", "--metric", "test_f1,surprise", "--trial", "0-1"]
    status, told, _ = run("compare", "mine.py", "--dataset", f"{TABLES},iris,wine", *words, *quick)
    assert status == 0
    assert "Are Shallow tree and Optimal tree of depth 2 better than CART?" in told
    table = pd.read_csv(folder / "comparison" / "comparison.csv").set_index(["Metric", "Learner"])
    by_dataset = pd.read_csv(folder / "comparison" / "comparison-datasets.csv").set_index("Metric")
    for metric in ("test F1", "surprise"):
        ours = table.loc[(metric, "Shallow tree")]
        assert ours["datasets"] == len(by_dataset.loc[metric]) == 5
        assert ours["mean"] == pytest.approx(by_dataset.loc[metric, "Shallow tree"].mean())
        assert 0 < ours["p (Holm)"] <= 1
        gap = (by_dataset.loc[metric, "Shallow tree"] - by_dataset.loc[metric, "CART"]).mean()
        assert ours["difference"] == pytest.approx(-gap if metric == "surprise" else gap)
    made = {path.suffix for path in (folder / "comparison").iterdir()}
    assert made >= {".csv", ".tex", ".svg", ".pdf"}


REPOSITORY = Path(__file__).resolve().parents[2]


def script(
    *words: object, name: str = "run_dataset.py", **environment: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(REPOSITORY / "scripts" / name), *map(str, words)]
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("GRADTREE_")}
    return subprocess.run(
        command, capture_output=True, text=True, cwd=REPOSITORY, env={**inherited, **environment}
    )


def test_a_table_of_ones_own_beside_the_suites_learners(tmp_path):
    plug = plugins.write(tmp_path, plugins.BOTH)
    done = script(
        "My shop", "--plugin", plug, "--method", "shallow,cart,gradtree", "--trial", "0",
        "--experiment", "default", "--store", tmp_path / "runs", "--inline",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "My shop, default, test F1 (protocol paper):" in done.stdout
    found = pd.read_csv(tmp_path / "runs" / "datasets" / "my-shop" / "default.csv")
    assert set(found["method"]) == {"Shallow tree", "CART", "GradTree"}
    assert found["mean"].between(0.3, 1).all()
    drawings = {path.stem for path in (tmp_path / "runs" / "datasets" / "my-shop").glob("*.svg")}
    assert len(drawings) == 2  # of the learners that are trees


def test_without_the_data_it_says_how_to_get_it(tmp_path):
    nothing = dict.fromkeys(("GRADTREE_CACHE", "GRADTREE_DATA", "HOME"), str(tmp_path))
    blocked = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    done = script("adult", "--store", tmp_path / "runs", **nothing, **blocked, no_proxy="")
    assert done.returncode == 3, done.stdout
    assert "Adult is not available" in done.stderr
    assert "-m experiments data adult" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_mistakes_are_told(tmp_path):
    done = script("irsi", "--store", tmp_path / "runs")
    assert (done.returncode, "did you mean iris" in done.stderr) == (2, True)


def test_engines_are_timed_beside_the_committed_fits(tmp_path):
    shutil.copy(RESULTS / "bench" / "fits.csv", tmp_path)
    before = pd.read_csv(tmp_path / "fits.csv")
    words = ["--axis", "banknote", "--engines", "compiled", "--repeats", "2"]
    done = script(*words, "--output", tmp_path, name="bench.py")
    assert done.returncode == 0, done.stderr
    fits = pd.read_csv(tmp_path / "fits.csv")
    new, others = fits[fits["group"] == "banknote"], fits[fits["group"] != "banknote"]
    assert others.equals(before[before["group"] != "banknote"].reset_index(drop=True))
    assert list(new["engine"]) == ["compiled"] * 2
    assert (new[["epoch_cpu", "epoch_wall", "fit_cpu", "fit_wall"]] > 0).all(axis=None)
    medians = pd.read_csv(tmp_path / "medians.csv").set_index(["name", "engine"])
    assert medians.at[("Banknote size", "compiled"), "epoch_ratio"] == 1
    assert medians.at[("Spambase size", "tensorflow"), "epoch_ratio"] > 1
    done = script("--engines", "authors", name="bench.py")
    assert (done.returncode, "name it with --authors-python" in done.stderr) == (2, True)
