"""Stored trees: in raw units, written, read back, made ready for the page, drawn as pictures."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from experiments.commands import trees as command
from experiments.commands.trees import in_raw_units, tree_entry
from experiments.errors import UserError
from experiments.output.files import read_trees, write_trees
from experiments.runner import registry
from experiments.runner.experiments import jobs_of
from experiments.runs import archive
from experiments.runs.schema import Job
from experiments.runs.store import Store
from gradtree.trees.tree import Tree


@pytest.fixture(scope="module")
def ferry() -> Any:
    """Scaled ages and one-hot ports, where age 30 decides, then port C."""
    raw = pd.DataFrame({"age": np.tile(np.arange(10.0, 50.0), 2), "port": ["C"] * 40 + ["Q"] * 40})
    labels = ((raw["age"] > 30) & (raw["port"] == "C")).to_numpy().astype(int)
    preprocessing = ColumnTransformer(
        [("age", StandardScaler(), ["age"]), ("port", OneHotEncoder(sparse_output=False), ["port"])]
    ).set_output(transform="pandas")
    matrix = preprocessing.fit_transform(raw).to_numpy(np.float32)
    fitted = DecisionTreeClassifier(random_state=0).fit(matrix, labels)
    return SimpleNamespace(
        raw=raw,
        labels=labels,
        matrix=matrix,
        tree=Tree.from_sklearn(fitted),
        preprocessing=preprocessing,
        class_names=("stayed", "left"),
        feature_names=("age", "port_C", "port_Q"),
        rows=SimpleNamespace(train=np.arange(80)),
    )


@pytest.fixture(scope="module")
def entry(ferry: Any) -> dict[str, Any]:
    run = {**dict.fromkeys(("method", "experiment", "protocol"), "cart"), "protocol": "paper"}
    return tree_entry(
        ferry.tree, ferry, ferry.raw, {**run, "trial": 3, "seed": 42, "test_f1": 0.875}
    )


def test_splits_are_in_the_units_of_the_raw_table(entry):
    words = {column: (left, right) for column, left, right in entry["splits"].values()}
    assert words["age"] in (("≤ 30", "> 30"), ("≤ 30.5", "> 30.5"))
    assert set(words["port"]) == {"C", "Q"}


def test_without_raw_rows_splits_are_in_numbers_of_training_and_mixing_is_refused(ferry):
    run = dict.fromkeys(("method", "experiment", "protocol", "trial", "seed", "test_f1"))
    columns = {words[0] for words in tree_entry(ferry.tree, ferry, None, run)["splits"].values()}
    assert columns <= set(ferry.feature_names)
    assert columns & {"port_C", "port_Q"}
    mixing = SimpleNamespace(
        transform=lambda raw: raw[["age"]].to_numpy() * (raw["port"] == "C").to_numpy()[:, None]
    )
    with pytest.raises(ValueError, match="mixes raw columns"):
        in_raw_units(ferry.tree, mixing, ferry.raw)


def test_the_learned_tree_survives_the_file(tmp_path, entry):
    path = write_trees(tmp_path, "ferry", [entry])
    (read,) = read_trees(tmp_path, "ferry")
    assert read == entry
    assert Tree.from_dict(read["tree"]) == Tree.from_dict(entry["tree"])
    before = path.read_bytes()
    write_trees(tmp_path, "ferry", [read])
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", ['{"format": "something else"}', "[]", "{", '{"trees": []}'])
def test_a_file_that_holds_no_trees_is_refused_with_the_remedy(tmp_path, content):
    assert read_trees(tmp_path, "ferry") == []
    (tmp_path / "ferry.json").write_text(content)
    with pytest.raises(UserError, match=r"experiments trees --dataset ferry"):
        read_trees(tmp_path, "ferry")


@pytest.fixture
def wine(monkeypatch: pytest.MonkeyPatch, ferry: Any) -> Job:
    """A job of CART on Wine, with the ferry's rows in place of its own."""
    split: Any = SimpleNamespace(
        **{name: getattr(ferry, name) for name in vars(ferry)},
        **{f"X_{part}": ferry.matrix.astype(float) for part in ("train", "valid", "test")},
        **{f"y_{part}": ferry.labels for part in ("train", "valid", "test")},
    )
    monkeypatch.setattr(command, "load_split", lambda *where: split)
    monkeypatch.setattr(registry, "load_dataset", lambda slug: SimpleNamespace(X=ferry.raw))
    (job,) = jobs_of("tuned", "paper", ["wine"], ["cart"], [0])
    return job


def stored(folder: Path, job: Job, tree: Tree | None) -> Store:
    store = Store(folder)
    truth = np.array([0, 1])
    packed = archive.pack(archive.Prediction(truth, truth), tree)
    store.plan([job])
    store.add([job.run("ok", test_f1=0.123)], {job.key: packed})
    return store


def test_a_kept_tree_is_described_with_the_score_of_its_run(wine, ferry, tmp_path):
    store = stored(tmp_path, wine, ferry.tree)
    rows = store.frame().set_index("key")
    (entry,) = command.tree_entries("wine", rows, store)
    assert entry["test_f1"] == 0.123
    assert Tree.from_dict(entry["tree"]) == ferry.tree
    assert list(command.tree_entries("wine", rows.iloc[:0], store)) == []


def test_a_tree_that_was_not_kept_is_fitted_again(wine, ferry, tmp_path, monkeypatch):
    store = stored(tmp_path, wine, None)
    fitted = SimpleNamespace(tree=ferry.tree)
    monkeypatch.setattr(command, "timed_fit", lambda learner, split, job: (fitted, 0, 0))
    (entry,) = command.tree_entries("wine", store.frame().set_index("key"), store)
    assert Tree.from_dict(entry["tree"]) == ferry.tree


def test_pictures_of_trees_carry_their_caption(wine, ferry, tmp_path):
    store = stored(tmp_path / "store", wine, ferry.tree)
    command.draw_trees(tmp_path / "plain", [wine, wine], store)
    plain = sorted((tmp_path / "plain").iterdir())
    assert [path.name for path in plain] == ["cart.pdf", "cart.png", "cart.svg"]
    store.add_facts("dataset", {"wine": {"categorical": ["port"]}})
    command.draw_trees(tmp_path / "noted", [wine], store)
    noted = tmp_path / "noted" / "cart.svg"
    assert noted.stat().st_size > 1.5 * plain[2].stat().st_size  # letters are outlines
