"""Yes/no columns made from numbers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import OneHotEncoder

from baselines.algorithms.binarise import paper_binariser, threshold_binariser


def mixed_rows(n_rows: int = 200) -> np.ndarray:
    """Columns with 1, 2, 3, 9, 10 and 200 distinct values, in mixed order."""
    random = np.random.default_rng(3)
    few = [random.permutation(np.arange(n_rows) % k) * 0.37 - 1 for k in (3, 2, 10, 9, 1)]
    return np.column_stack([*few, random.normal(size=n_rows)])


def test_the_papers_columns_come_as_values_then_bins_then_pairs() -> None:
    X = mixed_rows()
    binariser = paper_binariser(X)
    assert binariser.feature.tolist() == [0] * 3 + [3] * 9 + [2] * 5 + [5] * 5 + [1, 4]


def test_values_are_one_hot() -> None:
    X = mixed_rows()
    expected = OneHotEncoder(sparse_output=False).fit_transform(X[:, [0, 3]])
    np.testing.assert_array_equal(paper_binariser(X).transform(X)[:, :12], expected)


def test_bins_hold_a_fifth_each_and_start_at_their_edges() -> None:
    X = np.arange(100.0)[:, np.newaxis]
    columns = paper_binariser(X).transform(X)
    np.testing.assert_array_equal(columns.argmax(axis=1), np.arange(100) // 20)
    # An edge that is a value belongs to the bin above it.
    X = np.arange(11.0)[:, np.newaxis]
    columns = paper_binariser(X).transform(X)
    np.testing.assert_array_equal(columns.argmax(axis=1), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4])


def test_bins_that_would_be_empty_are_left_out() -> None:
    X = np.concatenate([np.zeros(150), np.arange(1, 51)])[:, np.newaxis]
    columns = paper_binariser(X).transform(X)
    assert columns.shape[1] == 2
    np.testing.assert_array_equal(columns.sum(axis=1), 1)


def test_pairs_and_constants_are_one_column() -> None:
    X = np.array([[5.0, 1.0], [2.0, 1.0], [5.0, 1.0]])
    np.testing.assert_array_equal(paper_binariser(X).transform(X).T, [[1, 0, 1], [0, 0, 0]])


def test_unseen_values_fall_to_the_nearest() -> None:
    X = np.array([[0.0], [1.0], [5.0]])
    unseen = np.array([[-9.0], [0.4], [0.6], [3.5], [99.0]])
    columns = paper_binariser(X).transform(unseen)
    np.testing.assert_array_equal(columns.argmax(axis=1), [0, 0, 1, 2, 2])


@pytest.mark.parametrize("n_thresholds", [1, 3, 5])
def test_thresholds_are_few_and_ascending(n_thresholds: int) -> None:
    X = mixed_rows()
    binariser = threshold_binariser(X, n_thresholds)
    for feature in range(X.shape[1]):
        cuts = binariser.high[binariser.feature == feature]
        distinct = len(np.unique(X[:, feature]))
        assert len(cuts) == min(n_thresholds, distinct - 1)
        assert (np.diff(cuts) > 0).all()
    assert np.isneginf(binariser.low).all()
    columns = binariser.transform(X)
    assert columns.any(axis=0).all()
    assert not columns.all(axis=0).any()


def test_nothing_to_ask_about_constant_features() -> None:
    assert threshold_binariser(np.ones((5, 2)), 3).transform(np.ones((4, 2))).shape == (4, 0)
