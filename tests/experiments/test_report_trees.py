"""Stored trees: described in raw units, written, read back, and made ready for the page."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from experiments.commands.trees import describe_tree
from experiments.core.record import RunRecord
from experiments.render.figures.trees import Curve, DrawnTree, trees_one_above_another
from experiments.render.report.payload import (
    LEAK_NOTE,
    NO_NEW_ROW,
    for_page,
    read_curves,
    read_trees,
    write_curves,
    write_trees,
)
from gradtree.trees.tree import Tree


@pytest.fixture(scope="module")
def entry() -> dict[str, Any]:
    """A tree over scaled ages and one-hot ports, where age 30 decides, then port C."""
    ages = np.arange(10.0, 50.0)
    raw = pd.DataFrame({"age": np.tile(ages, 2), "port": ["C"] * 40 + ["Q"] * 40})
    labels = ((raw["age"] > 30) & (raw["port"] == "C")).to_numpy().astype(int)
    preprocessing = ColumnTransformer(
        [("age", StandardScaler(), ["age"]), ("port", OneHotEncoder(sparse_output=False), ["port"])]
    ).set_output(transform="pandas")
    matrix = preprocessing.fit_transform(raw)
    fitted = DecisionTreeClassifier(random_state=0).fit(matrix.to_numpy(np.float32), labels)
    split: Any = SimpleNamespace(preprocessing=preprocessing, class_names=("stayed", "left"))
    record = RunRecord("k", "paper", "ferry", "cart", {}, 3, 42, "ok", test_f1=0.875)
    return describe_tree(Tree.from_sklearn(fitted), split, record, "tuned", raw)


def test_splits_are_in_the_units_of_the_raw_table(entry: dict[str, Any]) -> None:
    words = list(entry["splits"].values())
    assert sorted(column for column, _, _ in words) == ["age", "port"]
    by_column = {column: (left, right) for column, left, right in words}
    assert by_column["age"] == ("≤ 30", "> 30")
    assert set(by_column["port"]) == {"C", "Q"}


def test_the_learned_tree_survives_the_file(tmp_path: Path, entry: dict[str, Any]) -> None:
    path = write_trees(tmp_path, "ferry", [entry])
    assert path == tmp_path / "ferry.json"
    (read,) = read_trees(tmp_path, "ferry")
    assert read == entry
    assert Tree.from_dict(read["tree"]) == Tree.from_dict(entry["tree"])
    before = path.read_bytes()
    write_trees(tmp_path, "ferry", [read])
    assert path.read_bytes() == before


def test_a_dataset_without_a_file_has_no_trees_and_a_strange_file_is_refused(
    tmp_path: Path,
) -> None:
    assert read_trees(tmp_path, "ferry") == ()
    (tmp_path / "ferry.json").write_text('{"format": "something else", "trees": []}')
    with pytest.raises(ValueError, match=r"experiments trees"):
        read_trees(tmp_path, "ferry")


def test_the_page_gets_nodes_with_words_and_leaves_with_shares(entry: dict[str, Any]) -> None:
    shown = for_page(entry, {"cart": "CART"})
    assert shown["label"] == "CART, tuned"
    assert shown["classes"] == ["stayed", "left"]
    assert "Trial 3 of protocol paper: 5 nodes, test F1 0.875." in shown["caption"]
    inner = [node for node in shown["nodes"] if len(node) == 5]
    leaves = [node for node in shown["nodes"] if len(node) == 3]
    assert len(inner) == 2
    assert (
        sorted(leaves) == sorted([[0, 1.0, 40], [0, 1.0, 21], [1, 1.0, 19]])
        or sum(rows for _, _, rows in leaves) == 80
    )
    assert LEAK_NOTE not in shown["caption"]


def test_branches_of_training_rows_alone_are_explained(entry: dict[str, Any]) -> None:
    first = next(iter(entry["splits"]))
    leaking = {**entry, "splits": {**entry["splits"], first: ["port", NO_NEW_ROW, "anything"]}}
    assert LEAK_NOTE in for_page(leaking, {})["caption"]


def test_stored_trees_can_be_drawn_without_their_data(entry: dict[str, Any]) -> None:
    figure = trees_one_above_another([DrawnTree("CART", entry)])
    assert isinstance(figure, Figure)
    texts = {text.get_text() for axes in figure.axes for text in axes.texts}
    assert {"age", "port", "> 30", "left\n100% · n=19"} <= texts


def test_curves_survive_their_file(tmp_path: Path) -> None:
    assert read_curves(tmp_path) == []
    curve = Curve("Iris", 0, [0.123456789, 0.5], [1.0, 2.0], 0, True)
    write_curves(tmp_path, [curve])
    (read,) = read_curves(tmp_path)
    assert read == Curve("Iris", 0, [0.12346, 0.5], [1.0, 2.0], 0, True)
