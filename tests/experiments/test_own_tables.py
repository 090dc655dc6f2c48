"""What a user adds without touching the suite: a dataset, a learner, a metric, a table."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tables_support import runs

from experiments.__main__ import main
from experiments.analysis import paper
from experiments.analysis.findings import findings_of
from experiments.analysis.grids import collect
from experiments.analysis.own_tables import DECLARATIONS, MEASURES, read_declared
from experiments.analysis.paper import load_paper
from experiments.core.checks import UserError
from experiments.core.record import RunRecord
from experiments.runner import plugins
from experiments.runner.executors.process import ROOT, python_environment

PLUGIN = """
import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from baselines import Fitted, Learner

rng = np.random.default_rng(0)
shop = pd.DataFrame({"age": rng.normal(40, 10, 120), "town": rng.choice(["a", "b", "c"], 120)})
shop["bought"] = np.where((shop.age > 40) ^ (shop.town == "a"), "yes", "no")
shop.loc[3, "age"] = np.nan
DATASETS = {"My shop": (shop, "bought")}


def fit(split, params, seed):
    X, y = split.X_train_valid, split.y_train_valid
    model = DecisionTreeClassifier(**params, random_state=seed).fit(X, y)
    return Fitted(model, X, y, tree=None, size=model.tree_.node_count)


LEARNERS = [Learner("shallow", "Shallow tree", "1", lambda task: {"max_depth": 2}, fit)]
"""

METRIC = """
[[table]]
name = "matthews"
title = "Matthews correlation, default hyperparameters"
experiment = "default"
metric = "matthews_corrcoef"
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What ``run_dataset.py`` leaves behind for the plug-in's table, its learner and two others."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "mine.py").write_text(PLUGIN, encoding="utf-8")
    done = subprocess.run(
        [
            *[sys.executable, str(ROOT / "scripts" / "run_dataset.py"), "My shop"],
            *["--plugin", str(folder / "mine.py"), "--experiment", "default", "--trial", "0-1"],
            *["--method", "cart,dl85,shallow", "--store", str(folder / "store"), "--inline"],
        ],
        env=python_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (folder / "printed.txt").write_text(done.stdout, encoding="utf-8")
    return folder / "store"


@pytest.fixture(autouse=True)
def no_learners(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is shown from here on is shown without the plug-in and without a fit."""
    monkeypatch.delenv(plugins.VARIABLE, raising=False)
    monkeypatch.setattr(plugins, "learner", None)


def rows_of(path: Path) -> dict[str, dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return {row["method"]: row for row in csv.DictReader(file)}


def test_a_plugged_in_dataset_and_learner_are_printed_beside_the_others(store: Path) -> None:
    printed = (store.parent / "printed.txt").read_text(encoding="utf-8")
    for title in ("Test F1, default, beyond the paper", "Tree size, default, beyond the paper"):
        lines = printed.partition(title)[2].splitlines()[3:6]
        assert [line.split("  ")[0] for line in lines] == ["CART", "DL8.5", "Shallow tree"]
        assert all(" ± " in line for line in lines)
        assert sorted(line.split()[-1] for line in lines) == ["1", "2", "3"]
    pictures = {path.name for path in (store / "datasets" / "my-shop").iterdir()}
    assert {"cart.svg", "dl85.svg", "others-default-tree-size.tex"} <= pictures


def test_they_have_tables_of_mean_spread_rank_and_size(store: Path, tmp_path: Path) -> None:
    assert main(["tables", "--store", str(store), "--output", str(tmp_path)]) == 0
    for measure in ("test-f1", "tree-size"):
        rows = rows_of(tmp_path / "paper" / f"others-default-{measure}.csv")
        assert list(rows) == ["dl85", "cart", "shallow"]
        assert {row["dataset"] for row in rows.values()} == {"my-shop"}
        assert all(row["mean"] and row["std"] and row["n"] == "2" for row in rows.values())
        assert sorted(row["rank"] for row in rows.values()) == ["1", "2", "3"]
        text = (tmp_path / "paper" / f"others-default-{measure}.tex").read_text(encoding="utf-8")
        assert "Shallow tree" in text


def test_they_are_in_the_report(store: Path, tmp_path: Path) -> None:
    command = ["report", "--store", str(store), "--output", str(tmp_path), "--no-figure-files"]
    assert main(command) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'id="dataset-my-shop"' in page
    assert 'href="#dataset-my-shop"' in page
    assert "Shallow tree" in page
    assert "120 rows × 2 features" in page


def test_a_new_metric_is_a_few_lines_of_toml_and_no_fit(store: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(METRIC, encoding="utf-8")
    command = ["tables", "--store", str(store), "--plugin", str(tmp_path / "mine.toml")]
    assert main([*command, "--output", str(tmp_path)]) == 0
    rows = rows_of(tmp_path / "paper" / "matthews.csv")
    assert list(rows) == ["dl85", "cart", "shallow"]
    assert (
        main(["measure", "matthews_corrcoef", "--experiment", "default", "--store", str(store)])
        == 0
    )
    measured = rows_of(store / "metrics" / "paper" / "matthews-corrcoef-default.csv")
    assert {method: row["mean"] for method, row in rows.items()} == {
        method: row["mean"] for method, row in measured.items()
    }


def test_a_declared_table_of_a_score_that_records_have(tmp_path: Path, store: Path) -> None:
    declared = '[[table]]\nname = "depths"\ntitle = "Depth"\nexperiment = "default"\n'
    declared += 'measure = "depth"\nmethods = ["cart"]\nsmaller_is_better = true\ndecimals = 1\n'
    (tmp_path / "mine.toml").write_text(declared, encoding="utf-8")
    command = ["tables", "--store", str(store), "--plugin", str(tmp_path / "mine.toml")]
    assert main([*command, "--output", str(tmp_path)]) == 0
    assert list(rows_of(tmp_path / "paper" / "depths.csv")) == ["cart"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("oops", "cannot be read as tables"),
        ("[other]\na = 1", r"may only hold \[\[table\]\] entries"),
        ('[[table]]\nname = "a"\nexperiment = "tuned"', "a lacks 'title'"),
        (
            '[[table]]\nname = "a"\ntitle = "A"\nexperiment = "tuned"',
            "either a measure or a metric",
        ),
        (f'{METRIC}measure = "test_f1"', "either a measure or a metric"),
        (f"{METRIC}colour = 1", "unknown 'colour'; known: name"),
        (METRIC.replace('metric = "matthews_corrcoef"', 'measure = "beauty"'), "no 'beauty'"),
    ],
)
def test_a_wrong_declaration_is_refused_with_a_sentence(
    text: str, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=problem):
        read_declared(tmp_path / "mine.toml")


def test_the_declared_measures_are_fields_of_a_record() -> None:
    assert set(MEASURES) <= set(RunRecord.__dataclass_fields__)
    assert [each.name for each in read_declared(DECLARATIONS)] == ["balanced-accuracy-tuned"]


@pytest.mark.parametrize(
    ("offered", "problem"),
    [
        ('DATASETS = {"a": 1}', "'a' has a int"),
        ("DATASETS = [1]", "not a list with a int"),
        (
            'DATASETS = {"iris": (None, "x")}',
            "table 'iris' is no dataset: a pandas DataFrame is expected",
        ),
    ],
)
def test_other_datasets_than_the_documented_are_refused(
    offered: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "odd.py").write_text(offered, encoding="utf-8")
    monkeypatch.setenv(plugins.VARIABLE, str(tmp_path / "odd.py"))
    with pytest.raises(UserError, match=problem):
        plugins.extras()


@pytest.fixture
def declarations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of ``tables.toml`` that a test may change."""
    path = tmp_path / "tables.toml"
    path.write_bytes(paper.DECLARATIONS.read_bytes())
    monkeypatch.setattr(paper, "DECLARATIONS", path)
    paper._declared.cache_clear()
    yield path
    paper._declared.cache_clear()


def test_a_method_needs_a_name_and_no_group(declarations: Path) -> None:
    text = declarations.read_text(encoding="utf-8")
    declarations.write_text(text.replace(', group = "Greedy"', ""), encoding="utf-8")
    assert paper.grids()["test-f1-tuned"].columns[-1].group == ""
    declarations.write_text(text.replace('name = "CART", ', ""), encoding="utf-8")
    paper._declared.cache_clear()
    with pytest.raises(ValueError, match="cart lacks its name"):
        paper.grids()


def test_any_protocol_with_records_has_the_papers_tables() -> None:
    jobs, records = runs("tuned", "iris", "cart", [0.9, 0.8], protocol="mine")
    found = findings_of(jobs, records, paper=load_paper())
    assert list(found.table_sets) == ["paper", "mine"]
    assert found.table_sets["mine"].tables["test-f1-tuned"].cell("iris", "cart").n == 2
    assert collect(jobs, records) == found.results
