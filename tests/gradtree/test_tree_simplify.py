"""Pruning, refitting, merging and polishing a grown tree; other seeds tell much the same story."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import f1_score
from sklearn.tree import DecisionTreeClassifier
from small_problems import revised
from tree_samples import full_tree, grid_rows, random_dense, random_tree

from gradtree import GradTreeClassifier
from gradtree.trees.costs import log_loss_costs
from gradtree.trees.dense import DenseTree
from gradtree.trees.polish import Bins, ClassLosses, _leaf_below, grown_below, polished
from gradtree.trees.pruning import float32_below, pruned_tree
from gradtree.trees.simplify import (
    Labelled,
    counted,
    merged,
    pruned,
    pruning_path,
    rebuilt,
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


def test_small_leaves_give_way_and_every_row_has_a_leaf():
    X, y, weight = noisy()
    tree = Tree.from_sklearn(cart(X, y, weight))
    for least in (2, 5, 40, 1000):
        smaller = without_small_leaves(tree, X, least)
        rows = np.bincount(smaller.apply(X), minlength=smaller.node_count)
        leaves = smaller.children_left == LEAF
        assert rows[leaves].min() >= min(least, len(X))
        assert rows[leaves].sum() == len(X)


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


SHAPES = st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 4))


@given(SHAPES, st.sampled_from([2, 3]))
def test_pruning_keeps_the_predictions_of_training(shape, n_classes):
    seed, depth, n_features = shape
    dense = random_dense(seed, depth, n_features, n_classes)
    # Off the grid: no row lies on a threshold, where counting and training differ.
    X = grid_rows(seed, 50, n_features) + 1 / 16
    small, large = pruned_tree(dense, X)[0], full_tree(dense, X)
    np.testing.assert_array_equal(small.predict_proba(X), large.predict_proba(X))
    assert large.node_count == 2 ** (depth + 1) - 1
    reached = np.bincount(small.apply(X), minlength=small.node_count)
    leaf = small.children_left == LEAF
    np.testing.assert_array_equal(reached[leaf], small.n_node_samples[leaf])


def test_rows_on_the_threshold_the_first_of_equal_logits_and_a_leaf_logit_of_zero():
    """Training sends the rows right, and counting left."""
    dense = DenseTree(
        thresholds=np.array([[0.5]], dtype=np.float32),
        logits=np.zeros((1, 1), dtype=np.float32),
        leaves=np.array([-2.0, 2.0], dtype=np.float32),
    )
    tree = full_tree(dense, np.array([[0.5]]))
    assert tree.n_node_samples.tolist() == [1, 1, 0]
    assert tree.apply([[0.5], [np.nextafter(np.float32(0.5), np.float32(0))]]).tolist() == [2, 1]
    assert pruned_tree(dense, np.array([[0.5]]))[0].predict_proba([[0.5]])[0, 1] == expit(-2.0)
    dense = random_dense(0, 1, 3, 2)
    dense.logits[:] = [[1.0, 2.0, 2.0]]
    assert full_tree(dense, np.zeros((1, 3))).feature[0] == 1
    dense = random_dense(0, 1, 1, 2)
    dense.leaves[:] = 0.0
    assert full_tree(dense, np.zeros((1, 1))).predict([[-9.0], [9.0]]).tolist() == [0, 0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_strict_splits_keep_their_meaning_next_to_the_threshold(dtype):
    rng = np.random.default_rng(4)
    t = np.concatenate([rng.normal(size=200), [0.0, -0.0, 1.0, 1e-40, 1e30]]).astype(dtype)
    s = float32_below(t)
    near = t.astype(np.float32)
    for x in (near, np.nextafter(near, np.float32(9)), np.nextafter(near, np.float32(-9))):
        np.testing.assert_array_equal(x <= s, x < t)
    # Thresholds beyond all numbers stay finite.
    t = np.array([np.inf, -np.inf, 1e300, -1e300])
    s = float32_below(t)
    assert np.isfinite(s).all()
    np.testing.assert_array_equal(s >= 0.0, t > 0.0)


def test_inner_nodes_show_the_mean_of_their_rows():
    dense, X = random_dense(3, 4, 3, 3), grid_rows(5, 40, 3)
    tree, _ = pruned_tree(dense, X)
    leaf = tree.children_left == LEAF
    rows = tree.n_node_samples[leaf]
    np.testing.assert_allclose(tree.value[0], rows @ tree.value[leaf] / rows.sum(), rtol=1e-12)


def cost(tree, rows, price):
    """Log loss of the leaves' shares in parts of that of the root, and the price of the leaves."""
    leaves = tree.children_left == LEAF
    return log_loss_costs(counted(tree, rows)[1])[leaves].sum() + price * leaves.sum()


@given(st.integers(0, 2**32 - 1), st.integers(2, 20), st.sampled_from([0.0, 0.01, 0.05]))
@settings(max_examples=30, deadline=None)
def test_polishing_makes_trees_smaller_and_hardly_worse(seed, n_leaves, price):
    tree = random_tree(seed, n_leaves)
    rng = np.random.default_rng(seed)
    X = rng.integers(-9, 10, (200, 5)).astype(np.float32) / 4
    y = rng.integers(0, tree.n_classes, 200)
    rows = Labelled(X, y, rng.random(200) + 0.1)
    after = polished(tree, X, ClassLosses(y, rows.scaled_weight), price)
    assert after.node_count <= tree.node_count
    # Shares are smoothed while thresholds move, so that the plain loss may rise a little.
    assert cost(after, rows, price) <= cost(tree, rows, price) + 0.02


def test_a_split_below_which_another_gave_way_pays_for_two_leaves_alone():
    """The one of 0 and 1 tells nothing; that of 2 saves .058 of the loss, more than one leaf."""
    X = np.repeat([[0.0], [1.0], [2.0]], [50, 50, 100], axis=0).astype(np.float32)
    y = np.repeat([0, 1, 0, 1, 0, 1], [30, 20, 30, 20, 40, 60])
    shape = ([1, 3, LEAF, LEAF, LEAF], [2, 4, LEAF, LEAF, LEAF], [0, 0, LEAF, LEAF, LEAF])
    tree = Tree(*shape, [1.5, 0.5, np.nan, np.nan, np.nan], np.full((5, 2), 0.5), 1)
    sizes = [
        polished(tree, X, ClassLosses(y, np.ones(200)), price).n_leaves for price in (0.04, 0.07)
    ]
    assert sizes == [2, 1]


@pytest.mark.parametrize("seed", range(5))
def test_nodes_that_gave_way_one_after_the_other_are_passed_as_in_the_tree_without_them(seed):
    tree, X = random_tree(seed, 12), grid_rows(seed)
    instead = np.arange(tree.node_count)
    inner = np.flatnonzero(tree.children_left != LEAF)[:4]  # some of them below each other
    instead[inner] = tree.children_left[inner]
    after, origin = rebuilt(tree, instead=instead)
    given = (tree, tree.feature, tree.threshold, instead, 0, X, np.arange(len(X)))
    np.testing.assert_array_equal(_leaf_below(*given), origin[after.apply(X)])


@given(st.integers(0, 2**32 - 1), st.integers(2, 20), st.sampled_from([1, 5, 20]))
@settings(max_examples=30, deadline=None)
def test_other_features_and_grown_leaves_lower_the_loss_within_bounds(seed, n_leaves, least):
    X, price = grid_rows(seed), 0.01
    y = (X[:, 0] > 0).astype(np.int64) + (X[:, 1] > X[:, 2])
    rows = Labelled(X, y, np.random.default_rng(seed).random(len(y)) + 0.1)
    losses = ClassLosses(y, rows.scaled_weight)
    tree = without_small_leaves(random_tree(seed, n_leaves), X, least)
    chosen = polished(tree, X, losses, price, Bins(X))
    assert cost(chosen, rows, price) <= cost(tree, rows, price) + 0.02
    unit, depth = losses.unit(tree), chosen.depth + 1
    larger = grown_below(chosen, X, y, rows.scaled_weight, price * unit, depth, least)
    assert larger.depth <= depth
    assert cost(larger, rows, price) <= cost(chosen, rows, price) + 1e-9
    sizes = np.bincount(larger.apply(X))
    assert sizes[sizes > 0].min() >= min(least, np.bincount(chosen.apply(X))[chosen.apply(X)].min())


def test_below_a_single_leaf_grows_cart():
    X, y, weight = noisy(400)
    root = pruned(*grown(X, y, weight), 10.0, None)[0]
    ours = grown_below(root, X, y, weight, 0.01 * np.log(2) * weight.sum(), 5, 1)
    theirs = cart(X, y, weight, criterion="entropy", max_depth=5, ccp_alpha=0.01)
    assert root.node_count == 1 < ours.node_count
    np.testing.assert_array_equal(ours.apply(X), theirs.apply(X))


def test_a_node_takes_a_better_feature():
    X = np.random.default_rng(0).normal(size=(30_000, 3)).astype(np.float32)
    y = (X[:, 2] > 0.7).astype(np.int64)
    losses = ClassLosses(y, np.ones(len(y)))
    value = np.array([[0.5, 0.5], [0.9, 0.1], [0.1, 0.9]])
    # The leaves must differ a little for a node to know which rows belong on which side.
    start = Tree([1, -1, -1], [2, -1, -1], [2, -1, -1], [0.0, np.nan, np.nan], value, 3)
    wrong = replace(start, feature=np.array([0, -1, -1]), threshold=np.array([2.0, np.nan, np.nan]))
    tree = polished(wrong, X, losses, 0.0, Bins(X))
    assert (polished(wrong, X, losses, 0.0).feature[0], tree.feature[0]) == (0, 2)
    assert tree.threshold[0] == pytest.approx(0.7, abs=1e-3)


def test_digits_are_learned_nearly_as_well_as_by_a_cart_of_as_many_leaves():
    X, y = load_digits(return_X_y=True)
    model = GradTreeClassifier(restarts=3, random_state=0).fit(X, y)
    greedy = DecisionTreeClassifier(max_leaf_nodes=model.get_n_leaves(), random_state=0).fit(X, y)
    ours, theirs = (f1_score(y, one.predict(X), average="macro") for one in (model, greedy))
    assert ours > theirs - 0.04


def test_thresholds_come_to_lie_in_the_middle():
    X, y = np.array([[0.0], [1.0], [2.0], [10.0], [11.0]], dtype=np.float32), np.arange(5) > 2
    losses = ClassLosses(y.astype(np.int64), np.ones(5))
    for start in (2.1, 9.9, 0.5):
        tree = revised(scale=None, depth=1).fit(X, y).tree_
        moved = replace(tree, threshold=np.array([start, np.nan, np.nan]), columns=None)
        assert polished(moved, X, losses, 0.001).threshold[0] == 6.0


@pytest.mark.parametrize("seed", range(4))
def test_one_split_is_told_in_three_nodes(seed):
    X = np.random.default_rng(seed).normal(size=(100, 5))
    model = GradTreeClassifier(random_state=seed).fit(X, X[:, 0] > 0)
    assert model.tree_.node_count == 3
    assert model.tree_.feature[0] == 0


def test_seeds_agree_more_and_trees_are_smaller():
    X, y = load_breast_cancer(return_X_y=True)
    found = {}
    for name, params in {"after": {}, "before": {"polish": False, "tolerance": 0.0}}.items():
        models = [
            GradTreeClassifier(restarts=7, random_state=seed, **params).fit(X[:400], y[:400])
            for seed in range(4)
        ]
        labels = [model.predict(X[400:]) for model in models]
        found[name] = (
            np.mean([(one == other).mean() for one, other in combinations(labels, 2)]),
            np.mean([model.tree_.node_count for model in models]),
        )
    assert found["after"][0] >= found["before"][0]
    assert found["after"][1] < found["before"][1]


def test_the_smallest_of_nearly_equal_runs_is_kept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = X[:, 0] + rng.normal(0, 1, 300) > 0
    model = GradTreeClassifier(restarts=7, polish=False, random_state=0)
    tolerances = (0.0, 1.0, 10.0)
    counts = [model.set_params(tolerance=t).fit(X, y).tree_.node_count for t in tolerances]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1] > 1
