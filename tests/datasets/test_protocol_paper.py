"""The paper's preparation, step by step and as a whole."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from category_encoders import LeaveOneOutEncoder
from datasets_support import made_up_dataset
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import QuantileTransformer

from datasets import PROTOCOLS, load_dataset, make_split
from datasets.protocols.declared import data_seed
from datasets.protocols.paper import encode, fit_quantiles, rebalance
from datasets.protocols.steps import FillMissing, has_rare_class, random_parts


@given(st.integers(5, 1000), st.integers(0, 20))
def test_parts_are_of_60_20_and_20_percent(n_rows: int, seed: int) -> None:
    rows = random_parts(n_rows, seed)
    assert len(rows.test) == len(rows.valid) == n_rows // 5
    together = np.concatenate([rows.train, rows.valid, rows.test])
    assert np.array_equal(np.sort(together), np.arange(n_rows))


def test_the_formula_of_leaving_one_out() -> None:
    X = pd.DataFrame({"kind": pd.Categorical(list("aaabbc"))})
    y = np.array([1, 0, 1, 1, 0, 1])
    means, numbers = encode(X, y, ("kind",))
    mean = 4 / 6
    assert numbers[:, 0].tolist() == [1 / 2, 2 / 2, 1 / 2, 0, 1, mean]
    seen = pd.DataFrame({"kind": ["a", "b", "c", "never seen"]})
    assert means.transform(seen)[:, 0].tolist() == [2 / 3, 1 / 2, mean, mean]


@pytest.mark.parametrize("step", [LeaveOneOutEncoder, QuantileTransformer])
@pytest.mark.parametrize("method", ["fit", "transform"])
def test_the_libraries_themselves_prepare_a_split(
    step: type, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def called(*args: object, **more: object) -> None:
        raise RuntimeError("the library runs")

    monkeypatch.setattr(step, method, called)
    with pytest.raises(RuntimeError, match="the library runs"):
        make_split(made_up_dataset(), "paper", 0)


def test_the_noise_of_the_quantile_fit() -> None:
    X = np.column_stack([np.arange(50.0), np.zeros(50)])
    fitted = fit_quantiles(X, np.random.RandomState(42))
    np.random.seed(42)  # noqa: NPY002  (the authors used the global stream)
    normal = np.random.randn(50, 2)  # noqa: NPY002
    expected = np.sort(X + normal * [1e-3 / X[:, 0].std(), 1.0], axis=0)
    np.testing.assert_allclose(fitted.quantiles_, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((75, 25), "smote"),
        ((74, 26), "none"),
        ((40, 40, 11), "smote"),
        ((40, 40, 12), "none"),
        ((95, 5), "random-oversampling"),
        ((94, 6), "smote"),
        ((50, 50, 0), "none"),
        ((50, 0, 10), "smote"),
    ],
)
def test_when_and_how_a_part_is_rebalanced(counts: tuple[int, ...], expected: str) -> None:
    y = np.repeat(np.arange(len(counts)), counts)
    X = np.random.default_rng(0).normal(size=(len(y), 3))
    assert has_rare_class(y) == (expected != "none")
    if expected == "none":
        return
    X_new, y_new, how = rebalance(X, y, np.random.RandomState(42))
    assert how == expected
    np.testing.assert_array_equal(X_new[: len(y)], X)
    np.testing.assert_array_equal(y_new[: len(y)], y)
    present = np.bincount(y_new)[np.bincount(y_new) > 0]
    assert set(present) == {max(counts)}
    repeated = {row.tobytes() for row in X_new[len(y) :]} <= {row.tobytes() for row in X}
    assert repeated == (expected != "smote")


def test_missing_values_are_filled_from_all_rows() -> None:
    X = pd.DataFrame(
        {
            "number": [1.0, np.nan, 3.0, 3.0, 1.0, 10.0],
            "kind": pd.Categorical(["b", "a", None, "b", "a", "c"]),
        }
    )
    assert FillMissing("mode").fit(X).values_ == {"number": 1.0, "kind": "a"}
    assert FillMissing("mean").fit(X).values_ == {"number": 3.6, "kind": "a"}
    kept = FillMissing("category").fit(X[["kind"]])
    assert kept.transform(X[["kind"]])["kind"].tolist() == ["b", "a", "?", "b", "a", "c"]
    with pytest.raises(ValueError, match="'number' has missing values, but the rule is none"):
        FillMissing("none").fit(X)


def test_a_missing_label_becomes_the_most_frequent_class() -> None:
    split = make_split(made_up_dataset(missing_labels=30, shares=(0.7, 0.3)), "paper", 0)
    parts = np.concatenate([split.rows.train, split.rows.valid, split.rows.test])
    assert len(parts) == 200
    assert set(split.y_test) | set(split.y_valid) | set(split.y_train) == {0, 1}


def test_training_rows_leak_their_label_and_test_rows_do_not() -> None:
    dataset = made_up_dataset(shares=(0.5, 0.5), missing="none")
    split = make_split(dataset, "paper", 0)
    colour = dataset.X["colour"].to_numpy()
    values = split.X_train[:, 2]
    for level in np.unique(colour):
        mine = (colour == level)[split.rows.train]
        assert len(set(values[mine & (split.y_train == 0)])) == 1
        assert values[mine & (split.y_train == 0)][0] > values[mine & (split.y_train == 1)][0]
        assert len(set(split.X_test[(colour == level)[split.rows.test], 2])) == 1


def test_the_provenance_tells_how_a_split_came_about() -> None:
    dataset = load_dataset("wine", sources=["installed"])
    split = make_split(dataset, "paper", 2)
    made = split.provenance
    assert (made.dataset, made.content_hash) == ("wine", dataset.record.content_hash)
    assert (made.protocol, made.protocol_version) == ("paper", PROTOCOLS["paper"].version)
    assert (made.trial, made.seed, made.source) == (2, 44, "installed sklearn")
    assert (made.rebalanced, made.rows_before_rebalancing) == ("none", 108)
    assert (split.n_features, split.n_classes, split.task) == (12, 3, "multi")
    assert split.X_train_valid.shape == (143, 12)
    assert len(split.y_train_valid) == 143


def test_unknown_protocols_and_trials() -> None:
    with pytest.raises(ValueError, match="no protocol 'dirty'; known are paper, clean"):
        make_split(made_up_dataset(), "dirty", 0)
    with pytest.raises(ValueError, match="did you mean paper-plain-means"):
        make_split(made_up_dataset(), "paper-plane-means", 0)
    with pytest.raises(ValueError, match="trial -1 is negative"):
        data_seed(-1)
