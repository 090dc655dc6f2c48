"""CART cut back by cross-validation."""

from __future__ import annotations

import numpy as np
import pytest
from learner_splits import made_up_split
from sklearn.tree import DecisionTreeClassifier

import baselines
from baselines.cart_pruned import candidate_alphas


def test_pruning_keeps_what_generalises() -> None:
    """One threshold matters, a third of the labels are wrong: the full tree is large."""
    split = made_up_split(2, n_rows=500)
    learner = baselines.learner("cart-pruned")
    pruned = learner.fit(split, learner.defaults("binary"), 0)
    full = DecisionTreeClassifier(random_state=0).fit(pruned.X_fit, pruned.y_fit)
    assert pruned.size is not None
    assert pruned.size < full.tree_.node_count / 2
    assert pruned.estimator.score(split.X_test, split.y_test) >= full.score(
        split.X_test, split.y_test
    )


@pytest.mark.parametrize("limit", [1, 5, 1000])
def test_prices_are_few_distinct_and_falling(limit: int) -> None:
    split = made_up_split(3)
    grower = DecisionTreeClassifier(random_state=0)
    alphas = np.array(candidate_alphas(grower, split.X_train, split.y_train, limit))
    assert 1 <= len(alphas) <= limit
    assert (np.diff(alphas) < 0).all()
    assert (alphas >= 0).all()


def test_a_tree_that_never_changes_has_one_price() -> None:
    X, y = np.zeros((4, 1)), np.array([0, 0, 0, 1])
    assert candidate_alphas(DecisionTreeClassifier(), X, y, 5) == [0.0]
