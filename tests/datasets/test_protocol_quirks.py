"""The quirks of protocol ``paper`` as switches: off one by one, with all else as it was."""

import hashlib
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from datasets_support import assert_no_row_sees_its_own_label, made_up_dataset, with_columns

from datasets import PROTOCOLS, Dataset, Split, load_dataset, make_split, protocol
from datasets.protocols.declared import Steps
from datasets.protocols.paper import fit_quantiles
from datasets.protocols.steps import encode

PARTS = ("X_train", "y_train", "X_valid", "y_valid", "X_test", "y_test")
VARIANTS = [name for name, known in PROTOCOLS.items() if known.base != name]


def digest(split: Split) -> str:
    """Of all numbers to nine decimals, and of the rows they are of."""
    sha256 = hashlib.sha256()
    for part in PARTS:
        values = getattr(split, part)
        scaled = np.round(values * 1e9).astype(np.int64) if values.ndim == 2 else values
        sha256.update(f"{values.dtype} {values.shape} ".encode() + scaled.tobytes())
    for rows in (split.rows.train, split.rows.valid, split.rows.test):
        sha256.update(rows.astype(np.int64).tobytes())
    return sha256.hexdigest()[:16]


BEFORE = {
    "two classes/paper/0": "2aea69d1dc76101b",
    "two classes/paper/5": "f2109a46509e46b9",
    "two classes/clean/0": "aadc93efad504201",
    "two classes/clean/5": "3d1bb72984d665d7",
    "rare class/paper/0": "fc040ea9670d962a",
    "rare class/paper/5": "2ae749d9e09c8fed",
    "rare class/clean/0": "2772f83791f03fb8",
    "rare class/clean/5": "55c3a033ddd82fe8",
    "three classes/paper/0": "7dde5a3111a1aa80",
    "three classes/paper/5": "7c6ef6d27edd5cc9",
    "three classes/clean/0": "e4026c27a54326c9",
    "three classes/clean/5": "3e6ffc5521170302",
    "wine/paper/3": "1c071a3f7b5f3ddd",
    "wine/clean/3": "5c83289735510bca",
    "wisconsin-breast-cancer/paper/3": "b588f6aebf524173",
    "wisconsin-breast-cancer/clean/3": "51f515852bfffff3",
    "titanic/clean/3": "74d2e0c558d2f462",
    "echocardiogram/clean/3": "a56693027d395ce0",
    "glass/clean/3": "dcca2f5718a6ba92",
    "annealing/clean/3": "fcfbe4521ccdf22f",
    "car/clean/3": "a327920f8f349457",
    "thyroid/clean/3": "ebbd0329e3eb216d",
}
"""Digests of splits as they were before the quirks could be switched."""
MADE_UP: dict[str, dict[str, Any]] = {
    "two classes": {},
    "rare class": {"shares": (0.85, 0.15), "missing_labels": 20},
    "three classes": {"shares": (0.5, 0.42, 0.08), "missing": "mean"},
}
AT_HAND = {"wine", "wisconsin-breast-cancer", *MADE_UP}


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(key, marks=() if key.split("/")[0] in AT_HAND else pytest.mark.mirror)
        for key in BEFORE
    ],
)
def test_paper_and_clean_are_as_they_were(key):
    name, chosen, trial = key.split("/")
    made = made_up_dataset(**MADE_UP[name]) if name in MADE_UP else load_dataset(name)
    assert digest(make_split(made, chosen, int(trial))) == BEFORE[key]


def test_every_variant_is_a_protocol_of_its_own():
    assert list(PROTOCOLS) == ["paper", "clean", *VARIANTS]
    for name in VARIANTS:
        assert re.fullmatch("[a-z]+(-[a-z]+)*", name)
        assert protocol(name).base == "paper"
        assert protocol(name).version.startswith(f"{PROTOCOLS['paper'].version}.")
        steps = vars(protocol(name).steps)
        changed = [key for key, value in steps.items() if value != vars(Steps())[key]]
        assert len(changed) == 1, "one quirk at a time"


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return made_up_dataset(rows=400, shares=(0.85, 0.15))


@pytest.fixture(scope="module")
def paper(dataset: Dataset) -> Split:
    return make_split(dataset, "paper", 1)


def same(one: Split, other: Split) -> set[str]:
    """The parts that are equal in both."""
    return {part for part in PARTS if np.array_equal(getattr(one, part), getattr(other, part))}


LABELS = {"y_train", "y_valid", "y_test"}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_split_says_what_it_is_and_maps_raw_rows(name, dataset):
    split = make_split(dataset, name, 1)
    assert split.provenance.protocol == name
    assert split.provenance.protocol_version == PROTOCOLS[name].version
    assert split.as_authors == (name != "clean")
    raw = dataset.X.iloc[split.rows.test]
    np.testing.assert_array_equal(split.preprocessing.transform(raw), split.X_test)


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.85, 0.15), (0.5, 0.3, 0.2), (0.9, 0.08, 0.02)])
def test_a_split_is_the_same_every_time(name, shares):
    first = make_split(made_up_dataset(shares=shares), name, 3)
    np.random.seed(7)  # noqa: NPY002
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    second = make_split(made_up_dataset(shares=shares), name, 3)
    assert np.random.get_state()[1].tolist() == state, "the global stream is left alone"  # noqa: NPY002
    assert same(first, second) == set(PARTS)
    assert "X_test" not in same(first, make_split(made_up_dataset(shares=shares), name, 4))


def test_variants_draw_the_rows_of_the_paper(dataset, paper):
    for name in VARIANTS:
        rows, drawn = vars(make_split(dataset, name, 1).rows), vars(paper.rows)
        equal = all(np.array_equal(rows[part], drawn[part]) for part in drawn)
        assert equal == (name != "paper-stratified")


@pytest.mark.parametrize("name", sorted(set(VARIANTS) - {"paper-stratified", "paper-no-noise"}))
def test_a_dataset_without_the_occasion_is_not_touched(name):
    """No categories, no gaps, no rare class: there is nothing that these could change."""
    wine = load_dataset("wine", sources=["installed"])
    assert same(make_split(wine, name, 1), make_split(wine, "paper", 1)) == set(PARTS)


def test_plain_means_give_training_rows_what_test_rows_get(dataset, paper):
    split = make_split(dataset, "paper-plain-means", 1)
    fill, means, quantile = (step for _, step in split.preprocessing.steps)
    raw = fill.transform(dataset.X.iloc[split.rows.train])
    n = len(split.rows.train)
    np.testing.assert_array_equal(split.X_train[:n], quantile.transform(means.transform(raw)))
    assert means.mapping["shape"].equals(paper.preprocessing["encode"].mapping["shape"])
    assert "y_train" in same(split, paper)


@pytest.mark.parametrize("shares", [(0.6, 0.4), (0.5, 0.3, 0.2)])
def test_cross_fitted_means_never_see_the_own_label(shares):
    made_up = made_up_dataset(rows=60, shares=shares, missing="none")
    X, y, names = made_up.X, made_up.y, made_up.categorical
    assert_no_row_sees_its_own_label(
        lambda labels: encode(X, labels, names, "cross-fitted", 42)[1], y
    )
    means, plain = encode(X, y, names, "cross-fitted", 42)[0], encode(X, y, names)[0]
    np.testing.assert_array_equal(means.transform(X), plain.transform(X))


def test_training_fill_learns_nothing_from_other_rows(dataset, paper):
    split = make_split(dataset, "paper-training-fill", 1)
    training = dataset.X.iloc[split.rows.train]
    assert split.preprocessing["fill"].values_ == {
        "noise": training["noise"].mode().iloc[0],
        "colour": training["colour"].mode().iloc[0],
    }
    assert paper.preprocessing["fill"].values_["noise"] == dataset.X["noise"].mode().iloc[0]
    assert same(split, paper) >= LABELS


def test_training_fill_knows_gaps_that_only_other_rows_have():
    made_up = made_up_dataset(missing="mean")
    number, noise, colour, shape = made_up.table.columns
    rows = make_split(made_up, "paper", 0).rows
    noise = np.where(np.isnan(noise), 0.0, noise)
    noise[rows.test[:3]] = np.nan
    changed = with_columns(made_up, (number, noise, colour, shape))
    split = make_split(changed, "paper-training-fill", 0)
    assert np.isfinite(split.X_test).all()
    assert split.preprocessing["fill"].values_["noise"] == noise[rows.train].mean()


def test_a_column_of_gaps_alone_can_be_filled():
    made_up = made_up_dataset(missing="mode")
    number, noise, _, shape = made_up.table.columns
    nothing = pd.Categorical([None] * len(noise), categories=pd.Index([], dtype=object))
    changed = with_columns(made_up, (number, noise * np.nan, nothing, shape))
    for name in PROTOCOLS:
        assert np.isfinite(make_split(changed, name, 0).X_test).all()


def test_without_noise_quantiles_are_those_of_the_values(dataset, paper):
    split = make_split(dataset, "paper-no-noise", 1)
    fill, means, quantile = (step for _, step in split.preprocessing.steps)
    raw = means.transform(
        fill.transform(dataset.X.iloc[split.rows.train]), dataset.y[split.rows.train]
    )
    ends = [raw.min(axis=0), raw.max(axis=0)]
    np.testing.assert_array_equal(quantile.quantiles_[[0, -1]], ends)
    assert same(split, paper) == LABELS


def test_smote_draws_the_same_with_and_without_noise():
    X = np.random.default_rng(0).normal(size=(30, 3))
    next_draws = set()
    for with_noise in (True, False):
        stream = np.random.RandomState(42)
        fit_quantiles(X, stream, with_noise)
        next_draws.add(stream.random_sample())
    assert len(next_draws) == 1


def test_without_oversampling_rare_classes_stay_rare(dataset, paper):
    split = make_split(dataset, "paper-no-oversampling", 1)
    n = len(split.rows.train)
    assert (len(split.y_train), split.provenance.rebalanced) == (n, "none")
    np.testing.assert_array_equal(split.X_train, paper.X_train[:n])
    assert split.weights_train is None
    assert split.weights_train_valid is None
    assert same(split, paper) == set(PARTS) - {"X_train", "y_train"}


def test_class_weights_make_the_sums_that_oversampling_makes(dataset, paper):
    split = make_split(dataset, "paper-class-weights", 1)
    assert same(split, make_split(dataset, "paper-no-oversampling", 1)) == set(PARTS)
    weights = split.weights_train
    sums = np.bincount(split.y_train, weights=weights)
    np.testing.assert_allclose(sums, np.bincount(paper.y_train))
    assert weights.min() == 1.0
    both = split.weights_train_valid
    assert len(both) == len(split.y_train_valid)
    assert set(both[len(weights) :]) == {1.0}
    assert paper.weights_train is None


def test_only_the_papers_own_bins_see_the_test_rows(dataset, paper):
    split = make_split(dataset, "paper-training-bins", 1)
    assert same(split, paper) == set(PARTS)
    assert (paper.bins_from_test, split.bins_from_test) == (True, False)
    clean = make_split(dataset, "clean", 1)
    assert (clean.bins_from_test, clean.as_authors) == (False, False)
