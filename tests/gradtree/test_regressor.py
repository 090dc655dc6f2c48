"""GradTreeRegressor: what its leaves say, what its losses reach, and all that trees can do."""

import pickle
import sqlite3

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeRegressor
from small_problems import goods
from small_problems import regressor as quick

from gradtree import CartRegressor, GradTreeClassifier, GradTreeRegressor, Tree, export_python
from gradtree.settings.losses import NUMBER_LOSSES, CustomLoss, NumberLoss
from gradtree.training.numbers import best_value, row_losses
from gradtree.trees.tree import LEAF


def steps(n_rows: int = 400, seed: int = 0):
    """Two columns decide the level, and the level decides the spread."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    level = 10.0 * (X[:, 0] > 0) + 20.0 * (X[:, 1] > 0.5)
    return X, level + (1 + level / 10) * rng.normal(size=n_rows)


def lopsided(prediction, target, gradient):
    """Too little costs nine times as much as too much: the .9 quantile."""
    loss = 0.0
    for k in range(len(prediction)):
        off = prediction[k] - target[k]
        gradient[k] = 1.0 if off > 0 else -9.0
        loss += off if off > 0 else -9.0 * off
    return loss


def pinball(y, prediction, quantile):
    return np.maximum(quantile * (y - prediction), (quantile - 1) * (y - prediction)).mean()


@pytest.mark.parametrize("loss", [*NUMBER_LOSSES, lopsided])
def test_leaves_say_what_suits_their_rows_best(loss):
    X, y = steps()
    y = np.abs(y) if loss == "poisson" else y
    model = quick(loss=loss, quantile=0.8, leaf_smoothing=0).fit(X, y)
    assert model.tree_.n_leaves > 2
    leaf, spread = model.apply(X), 1.4826 * np.median(np.abs(y - np.median(y)))
    for node in np.unique(leaf):
        own = y[leaf == node]

        def huber(value, own=own, reach=1.35 * spread):
            off = np.abs(own - value)
            return np.where(off < reach, off**2 / 2, reach * (off - reach / 2)).sum()

        expected = {
            "absolute_error": np.median(own),
            "huber": minimize_scalar(huber, (own.min(), own.max()), tol=1e-12).x,
            "quantile": np.quantile(own, 0.8, method="averaged_inverted_cdf"),
        }.get(loss if isinstance(loss, str) else "own", own.mean())
        if loss is lopsided:
            best = pinball(own, np.quantile(own, 0.9), 0.9)
            assert pinball(own, model.tree_.value[node, 0], 0.9) <= best * 1.02
        else:
            assert model.tree_.value[node, 0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("kind", NUMBER_LOSSES)
def test_weights_are_repeated_rows_and_no_other_value_is_better(kind):
    rng = np.random.default_rng(1)
    loss = NumberLoss(kind, 0.3, shift=np.zeros(2), scale=np.array([1.0, 4.0]))
    for n_rows in (1, 2, 5, 40):
        y, times = rng.gamma(2.0, 2.0, (n_rows, 2)), rng.integers(1, 4, n_rows)
        value = best_value(loss, y, times.astype(float))
        repeated = best_value(loss, np.repeat(y, times, axis=0), np.ones(times.sum()))
        np.testing.assert_allclose(value, repeated, rtol=1e-9)
        least = times @ row_losses(loss, value, y)
        for other in value + 0.05 * rng.normal(size=(20, 2)):
            assert times @ row_losses(loss, np.abs(other), y) >= least - 1e-12


def test_smoothing_lets_rows_of_the_parent_join():
    X, y = steps()
    model = quick(leaf_smoothing=3.0).fit(X, y)
    tree, path = model.tree_, model.decision_path(X).toarray().astype(bool)
    for node in np.flatnonzero(tree.children_left != LEAF):
        for child in (tree.children_left[node], tree.children_right[node]):
            own = y[path[:, child]]
            expected = (own.sum() + 3 * tree.value[node, 0]) / (len(own) + 3)
            assert tree.value[child, 0] == pytest.approx(expected, rel=1e-9)


def test_targets_are_scaled_inside_and_a_single_leaf_is_told_of():
    X, y = steps()
    with pytest.warns(UserWarning, match="parts the targets more than chance"):
        quick(ccp_alpha=5.0).fit(X, y)
    one, other = quick().fit(X, y), quick().fit(X, 2.0**40 * y)
    np.testing.assert_array_equal(other.predict(X), 2.0**40 * one.predict(X))
    far = quick().fit(X, y + 1e6)
    assert far.score(X, y + 1e6) > 0.85
    assert quick().fit(X, np.full(len(X), 7.0)).predict(X[:1]).tolist() == [7.0]


def test_several_targets_share_one_tree():
    X, y = steps()
    both = np.column_stack([y, 1000 * (X[:, 2] > 0)])
    model = quick(leaf_smoothing=0).fit(X, both)
    assert model.predict(X).shape == both.shape
    assert (1 - (both - model.predict(X)).var(axis=0) / both.var(axis=0) > 0.8).all()
    leaf = model.apply(X)
    np.testing.assert_allclose(model.predict(X)[0], both[leaf == leaf[0]].mean(axis=0))
    assert model.export_text().splitlines()[0]
    assert len(model.rules()[0].numbers) == 2
    np.testing.assert_array_equal(model.to_sklearn().predict(X), model.predict(X))
    assert quick().fit(X, y[:, np.newaxis]).predict(X).shape == (len(X),)


def test_interactions_that_no_greedy_split_sees_are_found():
    X = np.random.default_rng(0).normal(size=(1000, 6))
    y = np.where((X[:, 0] > 0) ^ (X[:, 1] > 0), 3.0, -3.0)
    model = GradTreeRegressor(random_state=0).fit(X[:700], y[:700])
    assert model.score(X[700:], y[700:]) > 0.95
    assert model.tree_.n_leaves < 10
    same_size = CartRegressor(max_leaf_nodes=model.tree_.n_leaves).fit(X[:700], y[:700])
    assert same_size.score(X[700:], y[700:]) < 0.5


@pytest.mark.parametrize("loss", ["quantile", lopsided])
def test_a_tree_of_quantiles_covers_new_rows(loss):
    X, y = steps(3000)
    model = quick(loss=loss, quantile=0.9).fit(X[:2000], y[:2000])
    told = model.predict(X[2000:])
    assert 0.86 < np.mean(y[2000:] <= told) < 0.94
    plain = quick().fit(X[:2000], y[:2000]).predict(X[2000:])
    assert pinball(y[2000:], told, 0.9) < 0.8 * pinball(y[2000:], plain, 0.9)


def test_rates_of_counts_are_positive():
    rng = np.random.default_rng(0)
    X = rng.random((600, 3))
    y = rng.poisson(np.where(X[:, 0] > 0.5, 4.0, 0.05))
    model = quick(loss="poisson").fit(X, y)
    assert model.predict(X).min() > 0
    found = model.predict([[0.1, 0.5, 0.5], [0.9, 0.5, 0.5]])
    np.testing.assert_allclose(found, [0.05, 4.0], atol=0.4)
    with pytest.raises(ValueError, match=r"counts.*below 0"):
        quick(loss="poisson").fit(X, y - 1)


def test_both_engines_train_the_same_tree():
    pytest.importorskip("tensorflow")
    X, y = steps(120)
    settings = {"loss": lopsided, "dtype": "float64", "depth": 3, "epochs": 4}
    one, other = (quick(engine=e, **settings).fit(X, y) for e in ("compiled", "tensorflow"))
    np.testing.assert_allclose(one.dense_.leaves, other.dense_.leaves, rtol=1e-8)
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-9)


def test_an_error_in_a_loss_of_ones_own_is_raised():
    def broken(prediction, target, gradient):
        if prediction[0] > 12.0:
            raise ZeroDivisionError("no such price")
        gradient[0] = prediction[0] - target[0]
        return gradient[0] ** 2 / 2

    X, y = steps(200)
    with pytest.raises(ZeroDivisionError, match="no such price"):
        quick(loss=CustomLoss(broken)).fit(X, y)

    def endless(prediction, target, gradient):
        gradient[0] = prediction[0] - target[0]
        return np.nan

    with pytest.raises(FloatingPointError, match="finite for all numbers"):
        quick(loss=endless).fit(X, y)


def test_the_run_is_chosen_by_any_score():
    X, y = load_diabetes(return_X_y=True)
    for choose_by in ("auto", "loss", "r2", "neg_median_absolute_error"):
        model = quick(restarts=3, choose_by=choose_by).fit(X, y)
        assert model.score(X, y) > 0.3
    smallest = quick(restarts=3, tolerance=100.0).fit(X, y).tree_.n_leaves
    assert smallest <= quick(restarts=3).fit(X, y).tree_.n_leaves


def test_trees_shrink_along_their_path_and_are_cut_by_rows_not_seen():
    X, y = steps(600)
    model = quick(ccp_alpha=0.0, polish=False).fit(X[:300], y[:300])
    whole, path = model.tree_, model.path_
    assert (np.diff(path.impurities) > -1e-12).all()
    assert path.impurities[-1] == pytest.approx(1.0)
    sizes = [model.prune(ccp_alpha=float(price)).tree_.n_leaves for price in path.ccp_alphas]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1
    assert model.prune(max_leaf_nodes=3).tree_.n_leaves == 3
    before = model.prune(ccp_alpha=0.0).score(X[300:], y[300:])
    assert model.tree_ == whole
    assert model.prune(X=X[300:], y=y[300:]).score(X[300:], y[300:]) >= before


def test_leaves_are_corrected_by_hand():
    X, y = steps()
    model = quick().fit(X, y)
    leaf = int(model.apply(X[:1])[0])
    assert model.relabel(leaf, 99.0).predict(X[:1]).tolist() == [99.0]
    with pytest.raises(ValueError, match="targets"):
        model.relabel(leaf, [1.0, 2.0])
    median = quick(loss="absolute_error", leaf_smoothing=0).fit(X, y).refit(X, y + 100)
    leaf = median.apply(X)
    assert median.predict(X)[0] == pytest.approx(np.median(y[leaf == leaf[0]]) + 100)
    assert model.collapse(0).tree_.n_leaves == 1


def test_models_are_stored_and_made_of_trees():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = quick().fit(X, y)
    for again in (
        pickle.loads(pickle.dumps(model)),
        GradTreeRegressor.from_json(model.to_json()),
        GradTreeRegressor.from_tree(model.tree_),
    ):
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
        assert again.prune(max_leaf_nodes=2).tree_.n_leaves == 2
    theirs = DecisionTreeRegressor(max_leaf_nodes=6, random_state=0).fit(X, y)
    ours = GradTreeRegressor.from_tree(Tree.from_sklearn(theirs))
    np.testing.assert_allclose(ours.predict(X.to_numpy()), theirs.predict(X))
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)
    with pytest.raises(ValueError, match="predicts numbers"):
        GradTreeClassifier.from_json(model.to_json())
    classes = GradTreeClassifier(depth=1, epochs=5, restarts=0).fit(X, y > 100)
    with pytest.raises(ValueError, match="predicts classes"):
        GradTreeRegressor.from_tree(classes.tree_)


def test_tables_with_text_gaps_and_dates():
    X, y = goods()
    model = quick(depth=5, restarts=5).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.8
    held = np.array([rule.holds(X) for rule in model.rules()])
    assert (held.sum(axis=0) == 1).all()
    told = np.array([rule.numbers[0] for rule in model.rules()])[held.argmax(axis=0)]
    np.testing.assert_array_equal(told, model.predict(X))
    new = pd.DataFrame({"kind": ["z"], "size": [np.nan], "day": [pd.NaT]})
    assert np.isfinite(model.predict(new)).all()
    plain = quick().fit(X[["kind", "size"]], y)
    np.testing.assert_array_equal(
        plain.to_sklearn().predict(X[["kind", "size"]]), plain.predict(X[["kind", "size"]])
    )


def test_programs_and_drawings_tell_the_predictions():
    pytest.importorskip("matplotlib").use("agg")
    X, y = goods()
    X = X[["kind", "size"]]
    model = quick().fit(X, y)
    room: dict = {}
    exec(export_python(model.tree_), room)
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    np.testing.assert_array_equal([room["predict"](row) for row in rows], model.predict(X))
    with sqlite3.connect(":memory:") as base:
        X.to_sql("t", base, index=False)
        found = base.execute(f"SELECT {model.export_sql()} FROM t").fetchall()
    np.testing.assert_array_equal(np.ravel(found), model.predict(X))
    assert f"({model.tree_.n_node_samples[0]} rows)" in model.prune(max_leaf_nodes=1).export_text()
    assert "<svg" in quick().fit(X, y).export_svg()
    assert "rows)" in quick().fit(X, y).export_graphviz()


def test_validation_rows_can_be_given():
    X, y = steps(500)
    model = quick().fit(X[:300], y[:300], X_valid=X[300:], y_valid=y[300:])
    assert model.tree_.n_node_samples[0] == 500
    with pytest.raises(ValueError, match="y_valid has 2 targets"):
        quick().fit(X, y, X_valid=X, y_valid=np.column_stack([y, y]))


@pytest.mark.parametrize(
    ("params", "y", "message"),
    [
        ({"loss": "hinge"}, None, "'loss' .*'squared_error'"),
        ({"loss": "quantile", "quantile": 1.0}, None, "quantile"),
        ({"delta": 0.0}, None, "delta"),
        ({"depth": 0}, None, "depth"),
        ({"choose_by": "f1"}, None, "no classes"),
        ({}, ["low"] * 50, "could not convert"),
        ({}, [np.nan] * 50, "NaN"),
        ({}, [np.inf] * 50, "infinity"),
        ({}, [1e200] * 50, "beyond 1e"),
        ({}, np.full(50, "2020-01-01", dtype="datetime64[s]"), "dates"),
        ({}, np.zeros(49), "inconsistent"),
        ({"loss": "poisson"}, np.zeros(50), "only zeros"),
    ],
)
def test_mistakes_are_named(params, y, message):
    X = np.random.default_rng(0).random((50, 2))
    with pytest.raises(ValueError, match=message):
        quick(**params).fit(X, X[:, 0] if y is None else y)
