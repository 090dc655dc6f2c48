"""Other seeds tell much the same story, in few nodes."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from small_problems import revised
from tree_samples import random_tree

from gradtree import GradTreeClassifier
from gradtree.trees.costs import log_loss_costs
from gradtree.trees.polish import ClassLosses, polished
from gradtree.trees.simplify import Labelled, counted
from gradtree.trees.tree import LEAF


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


def test_an_interaction_is_told_in_seven_nodes():
    X = np.random.default_rng(0).normal(size=(2000, 5))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    model = GradTreeClassifier(random_state=0).fit(X[:1000], y[:1000])
    assert model.tree_.node_count == 7
    assert model.score(X[1000:], y[1000:]) > 0.99


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
    sizes = [
        GradTreeClassifier(restarts=7, tolerance=tolerance, random_state=0).fit(X, y).tree_
        for tolerance in (0.0, 1.0, 10.0)
    ]
    counts = [tree.node_count for tree in sizes]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1] > 1
