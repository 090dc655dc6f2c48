"""What every learner of numbers must do."""

import functools
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from learner_splits import made_up_numbers
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeRegressor

import baselines
from baselines import Fitted
from baselines.algorithms.cart_trees import QuantileCart
from baselines.algorithms.price_pruning import grown
from baselines.contract import NUMBERS
from baselines.regression import some_prices
from datasets.split import Split

LEARNERS = {s: one for s, one in baselines.learners().items() if one.tasks == NUMBERS}
QUICK = {"candidates": 2, "folds": 2}
every_learner = pytest.mark.parametrize("slug", LEARNERS)


def fit(slug: str, split: Split, **params: Any) -> Fitted:
    learner = LEARNERS[slug]
    given = {**QUICK, **params}
    known = learner.defaults("regression")
    return learner.fit(split, {**known, **{k: v for k, v in given.items() if k in known}}, 42)


@functools.cache
def fitted(slug: str) -> tuple[Split, Fitted]:
    split = made_up_numbers()
    return split, fit(slug, split)


@every_learner
def test_it_learns_and_its_tree_says_the_same(slug: str) -> None:
    split, model = fitted(slug)
    predicted = model.estimator.predict(split.X_test)
    assert r2_score(split.y_test, predicted) > 0.5
    assert len(model.X_fit) == len(split.X_train_valid)
    if model.tree is not None:
        np.testing.assert_array_equal(model.tree.predict(split.X_test), predicted)
        assert model.size == model.tree.node_count
    assert json.loads(json.dumps(dict(model.extra))) == model.extra


@every_learner
def test_no_choice_sees_a_test_row(slug: str) -> None:
    split, model = fitted(slug)
    other = replace(split, X_test=split.X_test[::-1] + 1.0, y_test=-split.y_test)
    again = fit(slug, other)
    assert again.extra == model.extra
    X = split.X_test
    np.testing.assert_array_equal(again.estimator.predict(X), model.estimator.predict(X))


@pytest.mark.parametrize("slug", ["cart-quantile", "gradtree-quantile"])
def test_quantiles_lie_among_new_rows(slug: str) -> None:
    split, model = fitted(slug)
    told = model.estimator.predict_quantiles(split.X_test)
    low, _, high = (split.y_test[:, None] <= told).mean(axis=0)
    assert low < 0.35 < 0.65 < high
    np.testing.assert_array_equal(told[:, 1], model.estimator.predict(split.X_test))
    assert model.size == sum(tree.tree_.node_count for tree in model.estimator.trees)


def test_leaves_of_cart_say_the_quantile_of_their_rows() -> None:
    split = made_up_numbers()
    model = QuantileCart(0.9, max_depth=2).fit(split.X_train, split.y_train)
    leaf = model.apply(split.X_train)
    for each in np.unique(leaf):
        expected = np.quantile(split.y_train[leaf == each], 0.9)
        assert model.predict(split.X_train[leaf == each])[0] == pytest.approx(expected)


def test_trees_at_a_price_are_those_of_scikit_learn() -> None:
    split = made_up_numbers()
    X, y = split.X_train_valid, split.y_train_valid
    whole = grown(DecisionTreeRegressor(random_state=0), X, y)
    prices = some_prices(whole, 20)
    assert prices == sorted(prices, reverse=True)
    assert whole.pruned(prices[0]).node_count == 1
    for price in prices[1::4]:
        theirs = DecisionTreeRegressor(ccp_alpha=price, random_state=0).fit(X, y)
        assert whole.pruned(price).node_count == theirs.tree_.node_count
        np.testing.assert_allclose(whole.pruned(price).predict(X), theirs.predict(X))


def test_there_are_as_many_candidates_for_all() -> None:
    asked = {s: one.defaults("regression") for s, one in LEARNERS.items() if "pruned" not in s}
    assert len({json.dumps(each) for each in asked.values()}) == 1
    assert LEARNERS["cart-pruned-regression"].defaults("regression")["folds"] == 3
    for slug in asked:
        found = fitted(slug)[1].extra
        assert next(iter([found.get("0.1", found)]))["candidates"] == QUICK["candidates"]
