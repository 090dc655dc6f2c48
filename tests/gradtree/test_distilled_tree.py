"""DistilledTreeClassifier as an estimator of scikit-learn, on matrices and on tables."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from mixed_tables import KINDS, random_labels, random_table
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_problems import boxes

from gradtree import DistilledTreeClassifier

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "bags and new rows are drawn from rows: repeating one changes the draws, a weight does not"
    )
}


def quick(**params: object) -> DistilledTreeClassifier:
    settings = {"n_trees": 20, "n_synthetic": 500, "random_state": 0, **params}
    return DistilledTreeClassifier(**settings)


@parametrize_with_checks(
    [DistilledTreeClassifier(n_trees=10, n_synthetic=200)],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES,
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_a_capped_tree_is_as_good_as_cart_of_the_same_size():
    X, y = load_breast_cancer(return_X_y=True)
    ours = cross_val_score(quick(max_leaf_nodes=8), X, y, scoring="f1_macro")
    cart = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0)
    assert ours.mean() > cross_val_score(cart, X, y, scoring="f1_macro").mean() - 0.01


@pytest.mark.parametrize("leaves", [2, 3, 6])
def test_leaves_and_depth_are_limits(leaves):
    X, y = load_iris(return_X_y=True)
    model = quick(max_leaf_nodes=leaves).fit(X, y)
    assert 2 <= model.get_n_leaves() <= leaves
    assert quick(max_depth=1).fit(X, y).get_depth() == 1


def test_the_tree_is_the_same_with_any_number_of_processors_and_after_pickling():
    X, y = boxes(n_classes=3)
    model = quick(n_jobs=1).fit(X, y)
    assert quick(n_jobs=2).fit(X, y).tree_ == model.tree_
    again = pickle.loads(pickle.dumps(model))
    assert again.tree_ == model.tree_
    assert clone(model).get_params() == model.get_params()


def test_thresholds_lie_between_the_values_of_rows_that_are_given_for_them():
    X, y = load_breast_cancer(return_X_y=True)
    few = X[:40]
    tree = quick().fit(X, y, X_thresholds=few).tree_
    used = [(f, t) for f, t in zip(tree.feature, tree.threshold, strict=True) if f >= 0]
    assert used
    for feature, threshold in used:
        values = np.unique(few[:, feature].astype(np.float32)).astype(np.float64)
        assert np.isclose((values[:-1] + values[1:]) / 2, threshold).any()


def test_a_table_with_text_dates_and_gaps_is_read_and_its_tree_is_over_its_columns():
    table = pd.DataFrame(
        {
            "colour": ["red", "blue", None, "green"] * 60,
            "size": np.tile([1.0, 2.0, np.nan, 4.0, 5.0], 48),
            "day": pd.date_range("2024-01-01", periods=240),
        }
    )
    y = np.where(table["colour"].isin(["red", "green"]) & (table["size"].fillna(9) > 1.5), "a", "b")
    model = quick(max_leaf_nodes=6).fit(table, y)
    assert (model.predict(table) == y).mean() > 0.95
    text = model.export_text()
    assert "colour" in text
    assert "size" in text
    assert model.tree_.n_node_samples[0] == 240
    by_tree = model.classes_[model.tree_.value.argmax(axis=1)[model.tree_.apply(table)]]
    assert (by_tree == model.predict(table)).all()


def test_on_random_tables_every_row_fulfils_the_rule_of_its_leaf_alone():
    for seed in range(25):
        rng = np.random.default_rng(seed)
        kinds = rng.choice(KINDS, int(rng.integers(1, 7))).tolist()
        table = random_table(rng, int(rng.integers(20, 160)), kinds)
        model = quick(max_leaf_nodes=8).fit(table, random_labels(rng, table, 3))
        for rows in (table, random_table(rng, 60, kinds, known=False)):
            leaves = model.apply(rows)
            for rule in model.rules():
                np.testing.assert_array_equal(rule.holds(rows), leaves == rule.leaf)


def test_classes_that_no_row_has_are_kept():
    X, y = boxes(n_classes=2)
    model = quick().fit(X, y, classes=[0, 1, 2])
    assert model.predict_proba(X).shape == (len(X), 3)


def test_rows_of_weight_zero_are_left_out():
    X, y = boxes(n_classes=2)
    weight = np.ones(len(y))
    weight[: len(y) // 2] = 0
    some = quick().fit(X, y, sample_weight=weight)
    assert some.tree_ == quick().fit(X[len(y) // 2 :], y[len(y) // 2 :]).tree_


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"max_leaf_nodes": 1}, "max_leaf_nodes=1 must be a whole number from 2 on"),
        ({"n_trees": 0}, "n_trees=0"),
        ({"n_synthetic": 1.5}, "n_synthetic=1.5"),
        ({"n_starts": 4}, "n_starts=4 must be at most 3"),
        ({"passes": True}, "passes=True"),
        ({"label_share": 2}, "label_share=2 must be None or a number from 0 to 1"),
    ],
)
def test_wrong_parameters_are_named(params, words):
    with pytest.raises(ValueError, match=words):
        quick(**params).fit(*boxes())


def test_without_new_rows_and_passes_it_is_cart_on_soft_labels():
    X, y = load_iris(return_X_y=True)
    model = quick(n_synthetic=0, passes=0, n_starts=1).fit(X, y)
    assert model.score(X, y) > 0.9


def test_errors_name_this_estimator():
    from scipy.sparse import csr_matrix

    X, y = boxes()
    with pytest.raises(TypeError, match="DistilledTreeClassifier needs dense rows"):
        quick().fit(csr_matrix(X), y)
    text = np.array([["red"], ["blue"]] * 20)
    with pytest.raises(ValueError, match=r"DistilledTreeClassifier\(categorical_features"):
        quick().fit(text, [0, 1] * 20)
