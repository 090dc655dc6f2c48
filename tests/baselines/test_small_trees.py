"""What the learners of small trees share: folds of real rows, prices of leaves, caps."""

from dataclasses import replace

import numpy as np
import pytest
from learner_splits import fit, made_up_split
from sklearn.tree import DecisionTreeClassifier

import baselines
from baselines import gradtree_variants
from baselines.algorithms.inner_folds import best_of, inner_folds, tuned
from baselines.algorithms.price_pruning import grown
from baselines.cart_pruned import candidate_alphas
from baselines.gradtree_variants import DEPTHS, NEW_DEFAULTS, PRICES, cut_back, settings_of
from datasets.split import Split
from gradtree import GradTreeClassifier
from gradtree.trees.simplify import pruned
from gradtree.trees.tree import Tree

SEED = 7
CAPPED = (
    *("cart-pruned", "cart-shrunk", "cart-weighted", "cart-weighted-grid", "dl85-tuned"),
    *("streed", "licketysplit", "contree", "gradtree-tuned"),
)


def rebalanced_split(n_copies: int = 60) -> Split:
    """Copies of rows of class 0, as oversampling appends them."""
    split = made_up_split(3, n_rows=200)
    rows = np.resize(np.flatnonzero(split.y_train == 0), n_copies)
    return replace(
        split,
        X_train=np.concatenate([split.X_train, split.X_train[rows]]),
        y_train=np.concatenate([split.y_train, split.y_train[rows]]),
    )


def test_folds_hold_out_every_real_row_once_and_are_rebalanced_as_the_split_is():
    """None holds out a copy or learns from a row it is scored on."""
    split = rebalanced_split()
    folds = inner_folds(split, SEED)
    real = np.concatenate([split.X_train[:120], split.X_valid])
    held = np.concatenate([fold.X_held for fold in folds])
    assert len(held) == len(real)
    np.testing.assert_array_equal(np.sort(held[:, 0]), np.sort(real[:, 0]))
    whole = np.bincount(split.y_train_valid) / len(split.y_train_valid)
    for fold in folds:
        assert not set(fold.X[:, 0]) & set(fold.X_held[:, 0])
        np.testing.assert_allclose(np.bincount(fold.y) / len(fold.y), whole, atol=0.01)


def test_of_equal_candidates_the_first_is_chosen_and_tuning_stops_when_its_time_is_up():
    assert best_of("abc", np.array([[0.5, 0.6, 0.6], [0.5, 0.7, 0.7]])) == "b"
    split = made_up_split(2)
    folds = inner_folds(split, SEED)

    def stump(depth: int, fold: object) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(max_depth=depth).fit(fold.X, fold.y)  # type: ignore[attr-defined]

    assert tuned([1, 2, 3], stump, folds, seconds=0.0)[:2] == (1, 1)
    assert tuned([1, 2, 3], stump, folds, seconds=60.0)[1] == 3


@pytest.mark.parametrize("n_classes", [2, 4])
def test_prices_cut_as_scikit_learn_does(n_classes):
    split = made_up_split(n_classes, n_rows=400)
    X, y = split.X_train, split.y_train
    grower = DecisionTreeClassifier(random_state=SEED)
    tree = grown(grower, X, y, n_classes)
    prices = tree.between(50)
    assert len(prices) > 5
    few = tree.between(50, most_leaves=9)
    assert [tree.pruned(price).n_leaves <= 9 for price in prices] == [p in few for p in prices]
    for price in prices:
        theirs = DecisionTreeClassifier(random_state=SEED, ccp_alpha=price).fit(X, y)
        ours = tree.pruned(price)
        assert ours.n_leaves == theirs.get_n_leaves()
        np.testing.assert_allclose(
            ours.predict_proba(split.X_test), theirs.predict_proba(split.X_test)
        )


def test_a_tree_that_never_changes_has_one_price():
    X, y = np.zeros((4, 1)), np.array([0, 0, 0, 1])
    assert candidate_alphas(DecisionTreeClassifier(), X, y, 5) == [0.0]


@pytest.mark.parametrize("slug", CAPPED)
def test_a_cap_on_leaves_holds(slug):
    split = made_up_split(4, n_rows=300, protocol="clean")
    assert 2 <= fit(slug, split, max_leaves=8).tree.n_leaves <= 8


@pytest.mark.parametrize("most", [None, 4])
def test_cutting_back_gives_the_tree_that_gradtree_grows_at_the_price(most):
    split = made_up_split(3, n_rows=400)
    X, y = split.X_train, split.y_train
    settings = {**settings_of(NEW_DEFAULTS, SEED), "depth": 5, "restarts": 1, "epochs": 40}
    grown = GradTreeClassifier(**{**settings, "ccp_alpha": 0.0}).fit(X, y)
    trees = cut_back(grown, most)
    assert max(tree.n_leaves for tree in trees) == most or len({t.n_leaves for t in trees}) > 2
    for price, tree in zip(PRICES, trees, strict=True):
        changed = {**settings, "ccp_alpha": price, "max_leaf_nodes": most}
        expected = GradTreeClassifier(**changed).fit(X, y).tree_
        assert tree == expected


def test_tuned_gradtree_learns_from_no_copy_and_takes_what_its_folds_prefer(monkeypatch):
    seen: list[int] = []

    def counting(model: GradTreeClassifier, most: int | None) -> list[Tree]:
        seen.append(int(model.tree_.n_node_samples[0]))
        trees = cut_back(model, most)
        # Of all candidates only the second depth at the third price is any good.
        good = 2 if model.depth == DEPTHS[1] else None
        return [each if at == good else stump(each) for at, each in enumerate(trees)]

    monkeypatch.setattr(gradtree_variants, "cut_back", counting)
    split = rebalanced_split()
    fitted = fit("gradtree-tuned", split, epochs=40, restarts=1, fold_restarts=0)
    n_real = split.provenance.rows_before_rebalancing + len(split.y_valid)
    assert seen == [n_real * 4 // 5] * 5 * len(DEPTHS)
    assert fitted.extra == {"chosen": {"depth": DEPTHS[1], "ccp_alpha": PRICES[2]}}
    assert fitted.estimator.depth == DEPTHS[1]
    assert fitted.estimator.ccp_alpha == PRICES[2]
    assert fitted.estimator.restarts == 1


QUICK = {**NEW_DEFAULTS, "restarts": 1, "epochs": 40}


@pytest.mark.parametrize("changes", [{}, {"refit_leaves": False}], ids=["refitted", "learned"])
def test_sizes_share_a_training_and_are_what_each_would_be_alone(changes):
    split = rebalanced_split()
    n_rows = split.provenance.rows_before_rebalancing
    X, y = split.X_train[:n_rows], split.y_train[:n_rows]
    valid = {"X_valid": split.X_valid, "y_valid": split.y_valid}
    learner = baselines.learner("gradtree-new-defaults")
    sizes = set()
    for number, cap in enumerate((None, 8, 4)):
        params = {**QUICK, **changes, "max_leaf_nodes": cap}
        fitted = learner.fit(split, params, SEED)
        assert (fitted.shared_seconds > 0) == (number > 0)
        alone = GradTreeClassifier(**settings_of(params, SEED))
        alone.fit(X, y, **valid, classes=np.arange(split.n_classes))
        assert fitted.tree == alone.tree_
        assert fitted.estimator.get_params() == alone.get_params()
        probabilities = fitted.estimator.predict_proba(split.X_test)
        np.testing.assert_array_equal(probabilities, alone.predict_proba(split.X_test))
        sizes.add(alone.tree_.n_leaves)
    assert len(sizes) == 3


def test_nothing_is_shared_by_the_same_fit_by_other_rows_or_by_another_training():
    split, learner = rebalanced_split(), baselines.learner("gradtree-new-defaults")
    for other, params, seed in (
        (split, QUICK, SEED),
        (split, QUICK, SEED),
        (split, {**QUICK, "max_leaf_nodes": 4}, SEED + 1),
        (split, {**QUICK, "max_leaf_nodes": 4, "depth": 4}, SEED),
        (replace(split), {**QUICK, "max_leaf_nodes": 5}, SEED),
    ):
        assert learner.fit(other, params, seed).shared_seconds == 0


@pytest.mark.parametrize(
    ("slug", "quick", "cap"),
    [
        ("gradtree-tuned", {"fold_restarts": 0}, {"max_leaves": 4}),
        ("small-tree", {"cv": 2}, {"max_leaf_nodes": 4}),
    ],
)
def test_gradient_trees_of_folds_are_trained_once_for_all_sizes(slug, quick, cap):
    split, learner = rebalanced_split(), baselines.learner(slug)
    free = {**learner.defaults("multi"), "epochs": 40, "restarts": 1, **quick}
    small = {**free, **cap}
    alone = learner.fit(replace(split), small, SEED)
    assert learner.fit(split, free, SEED).shared_seconds == alone.shared_seconds == 0
    shared = learner.fit(split, small, SEED)
    assert shared.shared_seconds > 0
    assert shared.tree == alone.tree
    assert shared.extra == alone.extra


def stump(tree: Tree) -> Tree:
    """The root alone."""
    return pruned(tree, np.ones((tree.node_count, tree.n_classes)), 1.0, None)[0]
