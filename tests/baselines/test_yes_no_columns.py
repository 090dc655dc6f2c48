"""Yes/no columns made of numbers, and trees over them written as thresholds."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import OneHotEncoder

from baselines.algorithms.binarise import Binariser, paper_binariser, threshold_binariser
from baselines.algorithms.yes_no_tree import Branch, Leaf, Node, on_features, with_shares

N_COLUMNS, N_CLASSES = 8, 3
leaves = st.integers(0, N_CLASSES - 1).map(Leaf)
trees = st.recursive(
    leaves, lambda node: st.builds(Branch, st.integers(0, N_COLUMNS - 1), node, node), max_leaves=16
)
intervals = st.tuples(
    st.integers(0, 1),
    st.sampled_from([-np.inf, -1.0, 0.0, 0.5]),
    st.sampled_from([-0.5, 0.25, 1.0, np.inf]),
)


def decide(node: Node, columns: np.ndarray) -> int:
    while isinstance(node, Branch):
        node = node.yes if columns[node.column] else node.no
    return node.label


@given(trees, st.lists(intervals, min_size=N_COLUMNS, max_size=N_COLUMNS), st.integers(0, 99))
def test_thresholds_decide_as_the_columns_do(node, columns, seed):
    feature, low, high = zip(*columns, strict=True)
    binariser = Binariser(np.array(feature), np.array(low), np.array(high))
    random = np.random.default_rng(seed)
    X, labels = random.uniform(-2, 2, (40, 2)), random.integers(0, N_CLASSES, 40)
    yes = binariser.transform(X)
    tree = on_features(with_shares(node, yes, labels, N_CLASSES), binariser, X)
    np.testing.assert_array_equal(tree.predict(X), [decide(node, row) for row in yes])
    assert tree.n_node_samples[0] == 40


def test_an_open_interval_takes_one_threshold_and_a_closed_one_two():
    X = np.arange(100.0)[:, np.newaxis]
    binariser = paper_binariser(X)
    labels = np.zeros(100, dtype=np.intp)
    for column, thresholds in ((0, [19.5]), (2, [39.5, 59.5]), (4, [79.5])):
        node = with_shares(Branch(column, Leaf(0), Leaf(0)), binariser.transform(X), labels, 2)
        tree = on_features(node, binariser, X)
        np.testing.assert_array_equal(np.sort(tree.threshold[tree.feature == 0]), thresholds)


def test_what_a_path_has_decided_is_not_asked_again():
    X = np.arange(100.0)[:, np.newaxis]
    binariser = paper_binariser(X)
    # In the first bin, hence not in the second.
    node: Node = Branch(0, Branch(1, Leaf(0), Leaf(1)), Leaf(0))
    columns, labels = binariser.transform(X), np.repeat([1, 0], [20, 80])
    tree = on_features(with_shares(node, columns, labels, 2), binariser, X)
    assert tree.node_count == 3
    np.testing.assert_array_equal(tree.predict(X), labels)


def test_shares_favour_the_prediction_of_the_leaf():
    rows = np.zeros((4, 0), dtype=bool)
    tied = with_shares(Leaf(2), rows, np.array([0, 2, 0, 2]), 3)
    assert isinstance(tied, Leaf)
    np.testing.assert_allclose(tied.shares, [0.5, 0.0, 0.5])
    assert tied.shares.argmax() == 2
    mislabelled = with_shares(Leaf(1), rows, np.array([0, 0, 1, 2]), 3)
    assert isinstance(mislabelled, Leaf)
    np.testing.assert_array_equal(mislabelled.shares, [0, 1, 0])


def test_the_papers_columns_come_as_values_one_hot_then_bins_then_pairs():
    """Columns with 1, 2, 3, 9, 10 and 200 distinct values, in mixed order."""
    random = np.random.default_rng(3)
    few = [random.permutation(np.arange(200) % k) * 0.37 - 1 for k in (3, 2, 10, 9, 1)]
    X = np.column_stack([*few, random.normal(size=200)])
    binariser = paper_binariser(X)
    assert binariser.feature.tolist() == [0] * 3 + [3] * 9 + [2] * 5 + [5] * 5 + [1, 4]
    expected = OneHotEncoder(sparse_output=False).fit_transform(X[:, [0, 3]])
    np.testing.assert_array_equal(binariser.transform(X)[:, :12], expected)


def test_bins_hold_a_fifth_each_and_start_at_their_edges():
    X = np.arange(100.0)[:, np.newaxis]
    columns = paper_binariser(X).transform(X)
    np.testing.assert_array_equal(columns.argmax(axis=1), np.arange(100) // 20)
    # An edge that is a value belongs to the bin above it.
    X = np.arange(11.0)[:, np.newaxis]
    columns = paper_binariser(X).transform(X)
    np.testing.assert_array_equal(columns.argmax(axis=1), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4])
    # Bins that would be empty are left out.
    X = np.concatenate([np.zeros(150), np.arange(1, 51)])[:, np.newaxis]
    columns = paper_binariser(X).transform(X)
    assert columns.shape[1] == 2
    np.testing.assert_array_equal(columns.sum(axis=1), 1)


def test_pairs_and_constants_are_one_column_and_thresholds_of_constants_none():
    X = np.array([[5.0, 1.0], [2.0, 1.0], [5.0, 1.0]])
    np.testing.assert_array_equal(paper_binariser(X).transform(X).T, [[1, 0, 1], [0, 0, 0]])
    assert threshold_binariser(np.ones((5, 2)), 3).transform(np.ones((4, 2))).shape == (4, 0)


def test_unseen_values_fall_to_the_nearest():
    X = np.array([[0.0], [1.0], [5.0]])
    unseen = np.array([[-9.0], [0.4], [0.6], [3.5], [99.0]])
    columns = paper_binariser(X).transform(unseen)
    np.testing.assert_array_equal(columns.argmax(axis=1), [0, 0, 1, 2, 2])
