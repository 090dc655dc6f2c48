"""Refitting, merging and pruning a grown tree."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from small_problems import revised

from gradtree.trees.simplify import (
    Labelled,
    counted,
    merged,
    pruned,
    pruning_path,
    refitted,
    without_small_leaves,
)
from gradtree.trees.tree import LEAF, Tree


def noisy(n_rows=300, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3)).astype(np.float32)
    y = (X[:, 0] > 0).astype(np.int64) + (n_classes > 2) * (X[:, 1] > 0.3)
    wrong = rng.random(n_rows) < 0.2
    return X, np.where(wrong, rng.integers(0, n_classes, n_rows), y), rng.uniform(0.2, 3, n_rows)


def cart(X, y, weight, **params):
    return DecisionTreeClassifier(random_state=0, **params).fit(X, y, weight)


def grown(X, y, weight):
    return counted(Tree.from_sklearn(cart(X, y, weight)), Labelled(X, y, weight))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_pruning_path_is_that_of_scikit_learn(n_classes):
    X, y, weight = noisy(n_classes=n_classes)
    path = pruning_path(*grown(X, y, weight))
    theirs = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(X, y, weight)
    assert (np.diff(path.ccp_alphas) > 0).all()
    assert (np.diff(path.impurities) >= 0).all()
    # Where theirs has equal prices twice, rounding apart, ours has the last of them.
    last = np.append(np.diff(theirs.ccp_alphas) > 1e-12, True)
    np.testing.assert_allclose(path.ccp_alphas, theirs.ccp_alphas[last], atol=1e-9)
    np.testing.assert_allclose(path.impurities, theirs.impurities[last], atol=1e-9)


@pytest.mark.parametrize("alpha", [0.001, 0.004, 0.02])
def test_pruning_is_that_of_scikit_learn(alpha):
    X, y, weight = noisy()
    theirs = Tree.from_sklearn(cart(X, y, weight, ccp_alpha=alpha))
    ours = pruned(*grown(X, y, weight), alpha, None)[0]
    assert ours.node_count == theirs.node_count
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("most", [1, 2, 7])
def test_no_more_leaves_than_wanted(most):
    X, y, weight = noisy()
    assert pruned(*grown(X, y, weight), 0.0, most)[0].n_leaves == most


def test_weights_count_like_repeated_rows():
    X, y, _ = noisy(100)
    times = np.arange(100) % 3 + 1
    tree = Tree.from_sklearn(cart(X, y, None, max_depth=4))
    _, weighted = counted(tree, Labelled(X, y, times.astype(float)))
    again = np.repeat(np.arange(100), times)
    _, repeated = counted(tree, Labelled(X[again], y[again], np.ones(len(again))))
    np.testing.assert_allclose(weighted / weighted[0].sum(), repeated / repeated[0].sum())


def test_small_leaves_give_way_and_every_row_has_a_leaf():
    X, y, weight = noisy()
    tree = Tree.from_sklearn(cart(X, y, weight))
    for least in (2, 5, 40, 1000):
        smaller = without_small_leaves(tree, X, least)
        rows = np.bincount(smaller.apply(X), minlength=smaller.node_count)
        leaves = smaller.children_left == LEAF
        assert rows[leaves].min() >= min(least, len(X))
        assert rows[leaves].sum() == len(X)


def test_refitted_leaves_are_shares_drawn_to_the_parent():
    X, y, weight = noisy()
    tree, table = grown(X, y, weight)
    plain, smooth = refitted(tree, table, 0.0), refitted(tree, table, 1.0)
    leaf = int(tree.apply(X)[0])
    np.testing.assert_allclose(plain.value[leaf], table[leaf] / table[leaf].sum())
    assert smooth.value[leaf].max() < plain.value[leaf].max() <= 1.0
    np.testing.assert_allclose(smooth.value.sum(axis=1), 1.0)


def test_merging_changes_no_prediction():
    X, y, weight = noisy()
    tree, table = grown(X, y, weight)
    tree = refitted(tree, table, 1.0)
    smaller, origin = merged(tree)
    assert smaller.node_count < tree.node_count
    np.testing.assert_array_equal(smaller.predict(X), tree.predict(X))
    np.testing.assert_array_equal(smaller.value, tree.value[origin])
    label = smaller.value.argmax(axis=1)
    for node in np.flatnonzero(smaller.children_left != LEAF):
        left, right = smaller.children_left[node], smaller.children_right[node]
        if smaller.children_left[left] == smaller.children_left[right] == LEAF:
            assert len({label[left], label[right], label[node]}) > 1


def test_the_path_of_an_estimator_is_that_of_the_tree_it_would_grow():
    X, y, weight = noisy(400)
    model = revised(ccp_alpha=0.0, merge_leaves=False, polish=False)
    path = model.cost_complexity_pruning_path(X, y, weight)
    assert not hasattr(model, "tree_")
    model.fit(X, y, weight)
    np.testing.assert_array_equal(path.ccp_alphas, model.path_.ccp_alphas)
    assert model.tree_.n_leaves > 3
    assert model.set_params(max_leaf_nodes=3).fit(X, y).tree_.n_leaves == 3
