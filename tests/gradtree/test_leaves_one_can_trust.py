"""Printed leaves are the data's, probabilities rank, and a fit that fails changes nothing."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from engine_runs import brier
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, train_test_split
from sklearn.tree import DecisionTreeClassifier
from small_problems import boxes, revised

from gradtree import GradTreeClassifier, TabularGradTree, Tree
from gradtree.training.finishing import FittedRows


def rare(n_rows: int = 10_000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """One row in ten against one in fifty: no leaf has more rows of the rare class."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 3))
    return X, rng.random(n_rows) < np.where(X[:, 0] > 0.5, 0.10, 0.02)


def test_text_rules_drawing_and_dot_show_the_rows_as_they_are():
    pytest.importorskip("matplotlib").use("agg")
    X, y = rare(3000)
    model = revised(class_weight="balanced").fit(X, y)
    leaves, predicted = model.apply(X), model.predict(X)
    drawn = " ".join(text.get_text() for text in model.plot().texts)
    for rule in model.rules(class_names=["usual", "rare"]):
        inside = leaves == rule.leaf
        label = predicted[inside][0]
        count, n_rows = int((y[inside] == label).sum()), int(inside.sum())
        assert (rule.n_predicted, rule.n_samples) == (count, n_rows)
        assert rule.probability == count / n_rows
        words = f"{'rare' if label else 'usual'} ({count / n_rows:.2f}, {count} of {n_rows} rows)"
        for text in (str(rule), model.export_text(class_names=["usual", "rare"])):
            assert words in text
        assert words in model.export_graphviz(class_names=["usual", "rare"])
        assert f"{count / n_rows:.0%} · {count} of {n_rows}" in drawn


def test_weights_decide_predictions_and_leave_probabilities_alone():
    X, y = rare(3000)
    model = revised(class_weight="balanced", leaf_smoothing=0).fit(X, y)
    leaves = model.apply(X)
    weight = model.class_weight_
    for leaf in np.unique(leaves):
        share = y[leaves == leaf].mean()
        here = X[leaves == leaf][:1]
        assert model.predict_proba(here)[0, 1] == pytest.approx(share)
        assert model.predict(here)[0] == (share * weight[1] > (1 - share) * weight[0])
    assert model.predict(X).any()
    assert not (model.predict_proba(X)[:, 1] > 0.5).any()
    note = model.export_text().splitlines()[-1]
    assert note.startswith("Leaves predict the class of most weight, not of most rows: False x")
    plain = revised(class_weight=None).fit(X, y)
    assert "weight" not in plain.export_text()
    weighed = revised(class_weight="balanced", probabilities="weighted").fit(X, y)
    np.testing.assert_array_equal(weighed.predict_proba(X)[:, 1] > 0.5, weighed.predict(X))


def test_the_twins_predict_the_same_or_give_the_same_probabilities():
    X, y = rare(3000)
    model = revised(class_weight="balanced").fit(X, y)
    np.testing.assert_array_equal(model.to_sklearn().predict(X), model.predict(X))
    twin = model.to_sklearn(probabilities=True)
    np.testing.assert_allclose(twin.predict_proba(X), model.predict_proba(X), atol=1e-12)
    again = Tree.from_json(model.tree_.to_json())
    assert again == model.tree_
    np.testing.assert_array_equal(model.classes_[again.predict(X)], model.predict(X))


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_log_loss_is_at_least_as_good_as_that_of_pruned_cart(load):
    X, y = load(return_X_y=True)
    alphas = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(X, y).ccp_alphas
    cart = GridSearchCV(DecisionTreeClassifier(random_state=0), {"ccp_alpha": alphas}, cv=3)
    ours = GradTreeClassifier(restarts=3, random_state=0)
    losses = [
        log_loss(y, cross_val_predict(model, X, y, cv=3, method="predict_proba"))
        for model in (ours, cart)
    ]
    assert losses[0] <= losses[1]


@pytest.mark.parametrize("class_weight", ["auto", None])
def test_a_split_that_ranks_is_kept_though_both_sides_predict_the_same(class_weight):
    X, y = rare()
    model = GradTreeClassifier(class_weight=class_weight, restarts=3, random_state=0)
    model.fit(X[:7000], y[:7000])
    assert roc_auc_score(y[7000:], model.predict_proba(X[7000:])[:, 1]) > 0.65


@pytest.mark.parametrize("class_weight", ["auto", None])
def test_it_ranks_as_well_as_a_cart_of_as_many_leaves(class_weight):
    ahead = []
    for seed in range(4):
        X, y = make_classification(
            8000, 8, n_informative=4, weights=[0.94], flip_y=0.05, random_state=seed
        )
        model = GradTreeClassifier(class_weight=class_weight, restarts=3, random_state=0)
        model.fit(X[:2000], y[:2000])
        cart = DecisionTreeClassifier(max_leaf_nodes=model.get_n_leaves(), random_state=0)
        cart.fit(X[:2000], y[:2000])
        ours, theirs = (
            roc_auc_score(y[2000:], m.predict_proba(X[2000:])[:, 1]) for m in (model, cart)
        )
        ahead.append(ours - theirs)
    assert np.mean(ahead) > -0.02


def test_many_rows_pay_for_more_leaves():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12_000, 5))
    y = rng.random(12_000) < 1 / (1 + np.exp(-X[:, 0] - X[:, 1] * X[:, 2]))
    usual, dear = (
        GradTreeClassifier(ccp_alpha=price, restarts=1, random_state=0).fit(X[:8000], y[:8000])
        for price in ("auto", 0.015)
    )
    assert usual.get_n_leaves() > dear.get_n_leaves()
    ranked, worse = (
        roc_auc_score(y[8000:], m.predict_proba(X[8000:])[:, 1]) for m in (usual, dear)
    )
    assert ranked > worse + 0.02
    few = [
        GradTreeClassifier(ccp_alpha=price, restarts=1, random_state=0).fit(X[:200], y[:200])
        for price in ("auto", 0.015)
    ]
    assert few[0].tree_ == few[1].tree_


def test_siblings_of_one_class_are_merged_where_their_shares_do_not_differ():
    X, y = rare(4000)
    apart = revised(class_weight=None, ccp_alpha=0.0).fit(X, y)
    tree = apart.tree_
    assert tree.n_leaves > 1
    assert (tree.labels == 0).all()
    coins = np.random.default_rng(1).random(4000) < 0.1
    noise = revised(class_weight=None, ccp_alpha=0.0, polish=False, depth=2).fit(X, coins)
    assert noise.tree_.n_leaves <= 2


def test_a_single_leaf_is_told_where_a_split_would_mean_something():
    X, y = rare()
    with pytest.warns(UserWarning, match=r"single leaf.*lower ccp_alpha"):
        revised(ccp_alpha=10.0).fit(X, y)
    coins = np.random.default_rng(1).random(len(X)) < 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        revised(ccp_alpha=10.0).fit(X, coins)


COST = np.array([[0.0, 1.0], [5.0, 0.0]])


def expected_cost(p, label, gradient):
    gradient[:] = COST[label]
    return (COST[label] * p).sum()


@pytest.mark.parametrize("seed", range(3))
def test_leaves_minimise_a_loss_of_ones_own(seed):
    X, y = make_classification(
        2000, 8, n_informative=4, weights=[0.7], flip_y=0.15, class_sep=0.6, random_state=seed
    )
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    ours = GradTreeClassifier(depth=5, loss=expected_cost, random_state=0).fit(X, y)
    cart = DecisionTreeClassifier(class_weight={0: 1, 1: 5}, random_state=0).fit(X, y)

    def cost(predicted):
        return COST[y_test, predicted].mean()

    assert cost(ours.predict(X_test)) < cost(np.ones(len(X_test), dtype=int))
    assert cost(ours.predict(X_test)) < cost(cart.predict(X_test))
    counts = ours.tree_.class_counts
    np.testing.assert_array_equal(ours.tree_.labels, (counts @ COST).argmin(axis=1))


def test_leaves_minimise_a_loss_that_is_no_matrix_of_costs():
    X, y = boxes(300)
    flipped = np.random.default_rng(0).random(300) < 0.3
    model = revised(loss=brier, leaf_smoothing=0, ccp_alpha=0.0).fit(X, np.where(flipped, 1 - y, y))
    shares = model.tree_.class_counts / model.tree_.class_counts.sum(axis=1, keepdims=True)
    by = model.tree_.value if model.tree_.decision is None else model.tree_.decision
    np.testing.assert_allclose(by, shares, atol=1e-3)


def test_a_fit_that_fails_changes_nothing(monkeypatch):
    X, y = boxes(200)
    model = revised().fit(X, y)
    before, first = model.predict_proba(X), revised()

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(FittedRows, "grow", interrupted)
    for unlucky in (model, first):
        with pytest.raises(KeyboardInterrupt):
            unlucky.fit(pd.DataFrame(X[:, :2], columns=["a", "b"]), 1 - y)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.n_features_in_ == 4
    assert not hasattr(model, "feature_names_in_")
    with pytest.raises(NotFittedError):
        first.predict(X)
    tabular = TabularGradTree()
    with pytest.raises(KeyboardInterrupt):
        tabular.fit(pd.DataFrame(X, columns=list("abcd")), y)
    with pytest.raises(NotFittedError):
        tabular.predict(pd.DataFrame(X, columns=list("abcd")))


@pytest.mark.parametrize("word", ["?", "n/a", "unknown", "broken"])
def test_numbers_written_as_text_are_numbers(word):
    X, y = boxes(300)
    written = pd.DataFrame(X, columns=list("abcd")).astype(str)
    written.loc[5, "a"] = word
    with pytest.warns(UserWarning, match=rf"column 'a' is text and read as numbers \('{word}'"):
        model = revised().fit(written, y)
    assert [column.kind for column in model.columns_] == ["number"] * 4
    assert model.score(written, y) > 0.95
    again = Tree.from_json(model.tree_.to_json())
    np.testing.assert_array_equal(again.apply(written), model.apply(written))
    for rule in model.rules():
        np.testing.assert_array_equal(rule.holds(written), model.apply(written) == rule.leaf)
    as_numbers = written.assign(a=pd.to_numeric(written["a"], errors="coerce"))
    np.testing.assert_array_equal(model.apply(as_numbers), model.apply(written))
    with pytest.warns(UserWarning, match="'twelve' is no number and counts as missing"):
        model.predict(written.assign(a="twelve"))


@pytest.mark.parametrize("kind", ["number", "date"])
def test_one_word_among_numbers_or_dates_is_a_gap(kind):
    rng = np.random.default_rng(0)
    number = rng.integers(0, 300, 400)
    dates = (pd.Timestamp("2020-01-01") + pd.to_timedelta(number, unit="D")).astype(object)
    column = pd.Series((number / 4).tolist() if kind == "number" else dates.tolist(), dtype=object)
    y = number > 150
    column[7] = "?"
    with pytest.warns(UserWarning, match=rf"read as {kind}s \('\?' as missing, in 1 rows\)"):
        model = revised().fit(column.to_frame("mixed"), y)
    assert model.columns_[0].kind == kind
    assert model.score(column.to_frame("mixed"), y) > 0.99
    few = pd.Series([1, 2, True, "u", "v"] * 80, dtype=object).to_frame("few")
    assert revised().fit(few, y).columns_[0].kind == "category"


@pytest.mark.parametrize("style", ["%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%Y-%m-%dT%H:%M:%S"])
def test_dates_written_as_text_are_dates(style):
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 300, 400), unit="D")
    y = days > "2020-06-01"
    frame = pd.DataFrame({"day": days.strftime(style), "noise": rng.normal(size=400)})
    with pytest.warns(UserWarning, match="column 'day' is text and read as dates"):
        model = revised().fit(frame, y)
    assert model.columns_[0].kind == "date"
    assert model.score(frame, y) > 0.98
    assert re.search(r"day <= 2020-0[56]-\d\d", model.export_text())


@pytest.mark.parametrize("cells", [["007", "010", "123", "999"], ["a", "b", "1", "2"]])
def test_codes_and_words_stay_categories(cells):
    rng = np.random.default_rng(0)
    column = rng.choice(np.array(cells, dtype=object), 300)
    y = np.isin(column, cells[::3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = revised().fit(pd.DataFrame({"code": column}), y)
    assert model.columns_[0].categories == tuple(sorted(cells))


def test_ordered_categories_keep_their_order():
    rng = np.random.default_rng(0)
    sizes = ["XS", "S", "M", "L", "XL", "XXL"]
    size = rng.choice(sizes, 600)
    middle = np.isin(size, ["M", "L"])
    y = rng.random(600) < np.where(middle, 0.95, 0.05)
    column = pd.Categorical(size, categories=sizes, ordered=True)
    column = pd.Series(column).where(np.arange(600) % 11 > 0)
    tree = revised().fit(pd.DataFrame({"size": column}), y).tree_
    assert tree.columns[0].categories == tuple(sizes)
    splits = tree.members[tree.children_left != -1][:, : len(sizes)]
    assert len(splits) >= 2
    assert (np.abs(np.diff(splits.astype(int), axis=1)).sum(axis=1) <= 1).all()


def test_a_category_called_missing_is_told_from_a_gap():
    rng = np.random.default_rng(0)
    word = rng.choice(np.array(["missing", "a", "b", None], dtype=object), 400)
    y = word == "missing"
    model = revised().fit(pd.DataFrame({"word": word}), y)
    assert model.score(pd.DataFrame({"word": word}), y) == 1.0
    assert "word = 'missing'" in model.export_text()
    assert "word in {a, b, missing}" in model.export_text()


def test_a_rule_has_all_its_categories_and_the_text_the_first():
    rng = np.random.default_rng(0)
    towns = [f"town {i:02d}" for i in range(60)]
    town = rng.choice(towns, 3000)
    y = np.array([int(name[-1]) % 2 == 0 for name in town])
    model = revised().fit(pd.DataFrame({"town": pd.Categorical(town)}), y)
    whole = " ".join(str(rule) for rule in model.rules())
    assert "…" not in whole
    assert all(name in whole for name in towns)
    assert re.search(r"town 22, … \d+ more\}", model.export_text())


def test_free_text_is_left_out_with_a_warning():
    X, y = boxes(300)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(note=[f"note {i}" for i in range(300)])
    with pytest.warns(UserWarning, match=r"'note' is left out \(text that differs .* 300 values"):
        model = revised().fit(frame, y)
    assert model.columns_[4].left_out
    np.testing.assert_array_equal(model.predict(frame.assign(note=3)), model.predict(frame))
    with pytest.raises(ValueError, match="no column can be used"):
        revised().fit(frame[["note"]], y)
    kept = revised(categorical_features=["note"]).fit(frame, y)
    assert not kept.columns_[4].left_out


def test_a_twin_of_a_table_whose_used_columns_are_numbers():
    X, y = boxes(300)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["when"] = pd.Timestamp("2020-01-01")
    frame["word"] = np.where(np.arange(300) % 2, "u", "v")
    frame["mixed"] = ["u" if row % 3 else 3 for row in range(300)]
    model = revised().fit(frame, y)
    assert set(model.tree_.feature[model.tree_.feature >= 0]) <= {0, 1, 2, 3}
    twin = model.to_sklearn()
    np.testing.assert_array_equal(twin.predict(frame), model.predict(frame))
