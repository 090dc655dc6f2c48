"""One call for the best small tree: the choice, its rule, its limits, tables of any kind."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from gradtree import CartClassifier, GradTreeClassifier, SmallTreeClassifier, Tree

QUICK = {"cart": CartClassifier(), "gradtree": GradTreeClassifier(restarts=2, epochs=60)}


def exclusive_or(n_rows: int = 600) -> tuple[Any, Any]:
    rows = np.random.default_rng(0).random((n_rows, 5))
    return rows, ((rows[:, 0] > 0.5) ^ (rows[:, 1] > 0.5)).astype(int)


def raw_table() -> tuple[pd.DataFrame, pd.Series]:
    random = np.random.default_rng(1)
    n = 300
    table = pd.DataFrame(
        {
            "colour": random.choice(["red", "green", "blue"], n),
            "size": random.random(n),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 300, n), "D"),
        }
    )
    table.loc[::7, "size"] = np.nan
    y = np.where((table["colour"] == "red") | (table["size"] > 0.7), "yes", "no")
    return table, pd.Series(y)


def test_gradient_tree_wins_where_no_greedy_split_helps() -> None:
    X, y = exclusive_or()
    model = SmallTreeClassifier(random_state=0).fit(X, y)
    assert model.best_family_ == "gradtree"
    assert model.score(X, y) > 0.97
    assert model.tree_.node_count < 30


def test_within_noise_the_family_named_first_is_chosen() -> None:
    X, y = load_iris(return_X_y=True)
    same = {"b": CartClassifier(random_state=0), "a": CartClassifier(random_state=0)}
    model = SmallTreeClassifier(families=same, random_state=0).fit(X, y)
    assert model.best_family_ == "b"
    remarks = {one.family: one.remark for one in model.leaderboard_}
    assert remarks == {"b": "chosen: leads", "a": "within noise of the leader"}


def test_winner_is_fitted_to_all_rows_with_the_cap() -> None:
    X, y = load_iris(return_X_y=True)
    model = SmallTreeClassifier(max_leaf_nodes=3, families=QUICK, random_state=0).fit(X, y)
    assert model.tree_.n_leaves <= 3
    assert model.tree_.n_node_samples is not None
    assert model.tree_.n_node_samples[0] == len(y)
    assert "petal" in SmallTreeClassifier(families=["cart"], random_state=0).fit(
        *load_iris(return_X_y=True, as_frame=True)
    ).export_text()


def test_raw_tables_and_labels_of_text_are_read_by_every_family() -> None:
    X, y = raw_table()
    for family in QUICK.values():
        one = SmallTreeClassifier(families={"it": family}, cv=3, random_state=0).fit(X, y)
        assert one.score(X, y) > 0.95
        assert set(one.predict(X)) == {"yes", "no"}


def test_any_scorer_decides_and_reaches_the_families() -> None:
    X, y = exclusive_or(200)
    model = SmallTreeClassifier(families=["cart"], scoring="neg_log_loss", cv=3).fit(X, y)
    assert model.leaderboard_[0].score < 0
    assert model.best_estimator_.scoring == "neg_log_loss"


class Slow(CartClassifier):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        time.sleep(0.4)
        return super().fit(X, y, sample_weight)


def test_time_limit_gives_up_families_but_never_the_first() -> None:
    X, y = load_iris(return_X_y=True)
    families = {"first": CartClassifier(), "slow": Slow()}
    start = time.monotonic()
    model = SmallTreeClassifier(families=families, time_limit=0.5, random_state=0).fit(X, y)
    assert time.monotonic() - start < 2.5
    assert model.best_family_ == "first"
    assert model.leaderboard_[-1].remark == "given up: time limit"


def test_same_seed_same_tree_with_any_number_of_jobs() -> None:
    X, y = exclusive_or(200)
    one, two = (
        SmallTreeClassifier(families=["cart"], random_state=3, n_jobs=jobs).fit(X, y)
        for jobs in (1, 2)
    )
    assert one.tree_ == two.tree_
    assert [s.score for s in one.leaderboard_] == [s.score for s in two.leaderboard_]


@pytest.mark.parametrize(
    ("families", "message"), [(["forest"], "unknown family 'forest'"), ([], "at least one")]
)
def test_unknown_families_are_named(families: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SmallTreeClassifier(families=families).fit(*exclusive_or(50))


def test_cart_at_a_fixed_price_is_scikit_learns() -> None:
    X, y = load_iris(return_X_y=True)
    ours = CartClassifier(ccp_alpha=0.01, random_state=0).fit(X, y)
    theirs = DecisionTreeClassifier(ccp_alpha=0.01, random_state=0).fit(X, y)
    expected = Tree.from_sklearn(theirs)
    np.testing.assert_allclose(ours.tree_.value, expected.value, rtol=1e-12)
    assert replace(ours.tree_, class_counts=None, value=expected.value) == expected
    with pytest.raises(ValueError, match="ccp_alpha"):
        clone(ours).set_params(ccp_alpha=-1.0).fit(X, y)


def test_an_estimator_without_a_tree_is_refused() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="no tree_"):
        SmallTreeClassifier(families={"dummy": DummyClassifier()}).fit(X, y)


@parametrize_with_checks(
    [
        CartClassifier(cv=2),
        SmallTreeClassifier(families={"cart": CartClassifier(cv=2)}, cv=2, random_state=0),
    ]
)
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)
