"""The clean preparation: stratified, and nothing learned from where it must not be."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from datasets_support import (
    assert_no_row_sees_its_own_label,
    made_up_dataset,
    made_up_regression,
    with_columns,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets import Split, make_split
from datasets.protocols.clean import preparation
from datasets.protocols.steps import strata, stratified_parts


@settings(max_examples=40)
@given(st.lists(st.integers(1, 60), min_size=2, max_size=6), st.integers(0, 5))
def test_parts_are_stratified(counts, seed):
    counts[0] += 30
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    rows = stratified_parts(y, seed)
    assert len(rows.test) == len(rows.valid) == len(y) // 5
    together = np.concatenate([rows.train, rows.valid, rows.test])
    assert np.array_equal(np.sort(together), np.arange(len(y)))
    stratum = strata(y)
    for name, size in zip(*np.unique(stratum, return_counts=True), strict=True):
        for part in (rows.train, rows.valid, rows.test):
            assert abs((stratum[part] == name).sum() - size * len(part) / len(y)) < 2


def test_rare_classes_share_a_stratum():
    def pools(*counts: int) -> list[int]:
        y = np.repeat(np.arange(len(counts)), counts)
        return [len(np.unique(y[strata(y) == stratum])) for stratum in np.unique(strata(y))]

    assert pools(30, 5) == [1, 1]
    assert pools(30, 20, 4) == [1, 2]
    assert pools(1171, 141, 40, 20, 9, 4, 3, 1) == [1, 1, 1, 1, 1, 3]
    assert pools(2, 81, 61, 4) == [1, 1, 2]


@pytest.mark.parametrize("shares", [(0.6, 0.4), (0.5, 0.3, 0.2), None])
def test_no_row_sees_its_own_label(shares):
    dataset = made_up_dataset(rows=60, shares=shares) if shares else made_up_regression(60)
    _, categories, names = preparation(dataset, 42, 100).transformers[1]
    encode, raw = categories["encode"], dataset.X[names]
    assert_no_row_sees_its_own_label(lambda labels: encode.fit_transform(raw, labels), dataset.y)


@pytest.mark.parametrize("part", ["valid", "test"])
def test_nothing_is_learned_from_other_parts(part):
    dataset = made_up_dataset()
    before = make_split(dataset, "clean", 0)
    number, noise, colour, shape = (column.copy() for column in dataset.table.columns)
    elsewhere = getattr(before.rows, part)
    number[elsewhere] = 1000.0
    noise[elsewhere] = np.nan
    colour[elsewhere] = "red"
    after = make_split(with_columns(dataset, (number, noise, colour, shape)), "clean", 0)
    np.testing.assert_array_equal(after.X_train, before.X_train)
    assert not np.array_equal(getattr(after, f"X_{part}"), getattr(before, f"X_{part}"))


@pytest.mark.parametrize(
    ("shares", "expected"),
    [((0.5, 0.5), "none"), ((0.85, 0.15), "smote"), ((0.9, 0.08, 0.02), "random-oversampling")],
)
def test_only_the_training_part_is_rebalanced(shares, expected):
    dataset = made_up_dataset(shares=shares)
    split = make_split(dataset, "clean", 0)
    assert split.provenance.rebalanced == expected
    np.testing.assert_array_equal(split.y_valid, dataset.y[split.rows.valid])
    np.testing.assert_array_equal(split.y_test, dataset.y[split.rows.test])
    assert (len(split.y_train) > len(split.rows.train)) == (expected != "none")
    counts = np.bincount(split.y_train)
    if expected != "none":
        assert len(set(counts)) == 1


def test_a_category_that_training_never_saw():
    dataset = made_up_dataset(missing="none")
    rows = make_split(dataset, "clean", 0).rows
    number, noise, colour, shape = dataset.table.columns
    texts = np.asarray(colour, dtype=object)
    texts[rows.test[0]] = "new"
    changed = with_columns(dataset, (number, noise, pd.Categorical(texts), shape))
    split = make_split(changed, "clean", 0)
    assert np.isfinite(split.X_test).all()


def test_a_split_travels_between_processes():
    split: Split = pickle.loads(pickle.dumps(make_split(made_up_dataset(), "clean", 0)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert split.preprocessing.transform(made_up_dataset().X).shape[1] == split.n_features
