"""Size and purpose are chosen on the fitted model; a tree is corrected by hand, and exported."""

import sqlite3
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import f1_score, make_scorer
from sklearn.tree import DecisionTreeClassifier
from small_problems import boxes, passengers, revised

from gradtree import GradTreeClassifier, GradTreeRegressor, Tree, fit_table


@pytest.fixture(scope="module")
def noisy() -> tuple[np.ndarray, np.ndarray]:
    X, y = boxes(600, n_classes=3)
    flipped = np.random.default_rng(1).random(600) < 0.2
    return X, np.where(flipped, (y + 1) % 3, y)


@pytest.fixture
def model(noisy) -> GradTreeClassifier:
    X, y = noisy
    return revised(depth=5, ccp_alpha=0.0, polish=False, tolerance=0.0).fit(X[:400], y[:400])


@pytest.mark.parametrize(
    "choose_by",
    ["accuracy", "roc_auc_ovr", "neg_log_loss", "f1_macro", "f1", "loss", make_scorer(f1_score)],
    ids=str,
)
def test_run_and_epoch_are_chosen_by_any_scorer(choose_by, noisy):
    X, y = noisy
    y = y > 0 if callable(choose_by) else y
    fitted = revised(restarts=3, choose_by=choose_by).fit(X, y)
    assert fitted.score(X, y) > 0.6
    again = clone(fitted).fit(X, y)
    assert again.tree_ == fitted.tree_


def test_the_scorer_decides():
    rng = np.random.default_rng(0)
    X = rng.random((3000, 4))
    y = rng.random(3000) < np.where(X[:, 0] > 0.5, 0.3, 0.1)
    alarms = []
    for sign in (-1, 1):

        def share_of_alarms(model, X, y, sign=sign):
            return sign * model.predict(X).mean()

        fitted = revised(restarts=7, ccp_alpha=0.0, choose_by=share_of_alarms).fit(X, y)
        alarms.append(fitted.predict(X).mean())
    assert alarms[0] < alarms[1]
    with pytest.raises(ValueError, match=r"'choose_by' .* Got 'accuracies'"):
        revised(choose_by="accuracies").fit(X, y)


def test_the_fitted_tree_is_cut_to_any_size_without_training(model, noisy):
    X, _ = noisy
    path = model.path_
    assert (np.diff(path.ccp_alphas) > 0).all()
    full = model.tree_
    sizes = [model.prune(max_leaf_nodes=most).get_n_leaves() for most in (2, 3, 5)]
    assert sizes[1:] == [3, 5]
    assert sizes[0] <= 2
    for price in (path.ccp_alphas[1], path.ccp_alphas[-1]):
        expected = clone(model).set_params(ccp_alpha=price)
        expected.fit(X[:400], noisy[1][:400])
        assert model.prune(ccp_alpha=price).tree_ == expected.tree_
    assert model.tree_.node_count == 1
    assert model.prune().tree_ == full


def test_the_size_that_scores_best_on_other_rows_is_taken(model, noisy):
    X, y = noisy[0][400:], noisy[1][400:]
    scores = {price: model.prune(ccp_alpha=price).score(X, y) for price in model.path_.ccp_alphas}
    best = max(scores.values())
    assert model.prune(X=X, y=y, scoring="accuracy").score(X, y) == best
    smallest = max(price for price, score in scores.items() if score == best)
    chosen = model.tree_
    assert model.prune(ccp_alpha=smallest).tree_ == chosen


def test_a_depth_has_two_names_and_a_leaf_a_share_of_rows(noisy):
    X, y = noisy
    assert revised(depth=3).fit(X, y).tree_ == revised(depth=7, max_depth=3).fit(X, y).tree_
    counts = revised(min_samples_leaf=0.1, ccp_alpha=0.0).fit(X, y).tree_
    leaves = counts.children_left == -1
    assert counts.n_node_samples[leaves].min() >= 60
    by_number = revised(min_samples_leaf=60, ccp_alpha=0.0).fit(X, y).tree_
    assert by_number == counts
    fitted = revised().fit(X, y)
    assert fitted.n_iter_ == sum(len(run.train_loss) for run in fitted.history_)


def test_a_node_is_collapsed_and_a_leaf_relabelled(model, noisy):
    X, _ = noisy
    before = model.predict(X)
    node = int(model.tree_.children_left[0])
    under = model.decision_path(X)[:, node].toarray().ravel() > 0
    counts = model.tree_.class_counts[node]
    model.collapse(node)
    assert len(set(model.apply(X[under]))) == 1
    leaf = int(model.apply(X[under])[0])
    assert model.tree_.class_counts[leaf].tolist() == counts.tolist()
    np.testing.assert_array_equal(model.predict(X[~under]), before[~under])
    proba = model.predict_proba(X)
    other = next(c for c in model.classes_ if c != model.predict(X[under])[0])
    model.relabel(leaf, other)
    assert (model.predict(X[under]) == other).all()
    np.testing.assert_array_equal(model.predict(X[~under]), before[~under])
    np.testing.assert_array_equal(model.predict_proba(X), proba)
    edited = model.tree_
    assert model.prune(ccp_alpha=0.0).tree_.node_count <= edited.node_count
    with pytest.raises(ValueError, match="there is no node 999"):
        model.collapse(999)
    with pytest.raises(ValueError, match="is a leaf already"):
        model.collapse(leaf)
    with pytest.raises(ValueError, match="node 0 is no leaf"):
        model.relabel(0, 1)
    with pytest.raises(ValueError, match="'cat' is no class"):
        model.relabel(leaf, "cat")


def test_leaves_are_refitted_on_other_rows(model, noisy):
    X, y = noisy[0][400:], noisy[1][400:]
    splits = model.tree_.threshold.copy()
    model.refit(X, y)
    np.testing.assert_array_equal(model.tree_.threshold, splits)
    leaves = model.apply(X)
    for leaf in np.unique(leaves):
        counts = np.bincount(y[leaves == leaf], minlength=3)
        assert model.tree_.class_counts[leaf].tolist() == counts.tolist()
    with pytest.raises(ValueError, match="classes that the training rows do not have"):
        model.refit(X, y + 7)


def test_an_estimator_from_a_tree_of_any_origin():
    X, y = load_iris(return_X_y=True)
    cart = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    names = ["a", "b", "c", "d"]
    model = GradTreeClassifier.from_tree(Tree.from_sklearn(cart), ["s", "ve", "vi"], names)
    frame = pd.DataFrame(X, columns=names)
    np.testing.assert_array_equal(model.predict(frame), model.classes_[cart.predict(X)])
    assert "c <= " in model.export_text()
    assert model.to_sklearn().feature_names_in_.tolist() == names
    assert model.refit(frame, model.classes_[y]).score(frame, model.classes_[y]) > 0.9
    assert model.prune(max_leaf_nodes=2).get_n_leaves() == 2
    with pytest.raises(ValueError, match="2 classes for a tree with 3"):
        GradTreeClassifier.from_tree(model.tree_, [0, 1])
    for estimator in (GradTreeClassifier, GradTreeRegressor):
        with pytest.raises(TypeError, match=r"Tree\.from_sklearn"):
            estimator.from_tree(cart)


def test_the_text_says_why_a_leaf_predicts_another_class_than_most_rows_have():
    rng = np.random.default_rng(0)
    X = rng.random((2000, 1))
    y = rng.random(2000) < np.where(X[:, 0] > 0.5, 0.3, 0.02)
    weighed = revised(class_weight="balanced").fit(X, y)
    by_weight = "most weight, not of most rows: False x0.59"
    by_hand = "Some leaves were relabelled by hand."
    assert by_weight in weighed.export_text()
    again = GradTreeClassifier.from_json(weighed.to_json())
    note = "Some leaves predict another class than most of their rows have."
    assert again.export_text().endswith(note)
    weighed.relabel(int(weighed.apply([[0.1]])[0]), True)
    assert by_weight in weighed.export_text()
    assert weighed.export_text().endswith(by_hand)
    plain = revised(class_weight=None).fit(X, y)
    assert "leaves predict" not in plain.export_text().lower()
    plain.relabel(int(plain.apply([[0.1]])[0]), True)
    assert plain.export_text().endswith(note)


def test_json_with_labels_predicts_the_same():
    table = passengers().drop(columns=["id", "name", "ship", "boarded"])
    model = revised().fit(table.drop(columns="survived"), table["survived"])
    again = GradTreeClassifier.from_json(model.to_json())
    assert again.tree_ == model.tree_
    np.testing.assert_array_equal(
        again.predict(table.drop(columns="survived")), model.predict(table.drop(columns="survived"))
    )
    with pytest.raises(ValueError, match=r"not a model.*Tree\.from_json"):
        GradTreeClassifier.from_json(model.tree_.to_json())


@pytest.mark.filterwarnings("ignore:columns left out", "ignore:column 'name'")
def exported() -> tuple[object, pd.DataFrame]:
    table = passengers(400)
    table["boarded"] = pd.Timestamp("1912-04-10") + pd.to_timedelta(np.arange(400) % 7, "D")
    late = (table["boarded"] > "1912-04-13") & (table["age"].isna() | (table["port"] == "S"))
    table["survived"] = np.where(late, "it's late", table["survived"])
    rows = table.drop(columns=["survived", "id", "name", "ship"])
    return revised(depth=6, ccp_alpha=0.0).fit(rows, table["survived"]), rows


def test_python_code_predicts_the_same():
    model, rows = exported()
    scope: dict[str, object] = {}
    exec(model.export_python(name="survives"), scope)
    plain = rows.astype(object).where(rows.notna(), None).to_dict("records")
    assert [scope["survives"](row) for row in plain] == model.predict(rows).tolist()
    unseen = {**plain[0], "port": "Atlantis", "age": float("nan")}
    frame = rows.iloc[:1].assign(port="Atlantis", age=np.nan)
    with pytest.warns(UserWarning, match="did not see"):
        assert scope["survives"](unseen) == model.predict(frame)[0]


def test_sql_predicts_the_same():
    model, rows = exported()
    stored = rows.assign(boarded=rows["boarded"].dt.strftime("%Y-%m-%d %H:%M:%S"))
    with sqlite3.connect(":memory:") as base:
        stored.astype(object).where(stored.notna(), None).to_sql("rows", base, index=False)
        # SQLite has no type of moments: it compares their text.
        query = model.export_sql().replace("TIMESTAMP ", "")
        found = [cell for (cell,) in base.execute(f"SELECT {query} FROM rows")]
        assert found == model.predict(rows).tolist()
        query = model.export_sql(probability_of="it's late").replace("TIMESTAMP ", "")
        found = [cell for (cell,) in base.execute(f"SELECT {query} FROM rows")]
    place = model.classes_.tolist().index("it's late")
    np.testing.assert_array_equal(found, model.predict_proba(rows)[:, place])


def test_code_parts_numbers_of_double_precision_as_a_tree_over_a_matrix_does():
    X, y = boxes(300)
    tree = Tree.from_sklearn(DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y))
    model = GradTreeClassifier.from_tree(tree)
    scope: dict[str, object] = {}
    exec(model.export_python(), scope)
    borders = tree.threshold[tree.children_left != -1]
    near = (borders[:, None] + np.linspace(-1e-7, 1e-7, 41)).ravel()
    rows = np.random.default_rng(0).choice(near, (2000, 4))
    names = [f"x{i}" for i in range(4)]
    found = [scope["predict"](dict(zip(names, row, strict=True))) for row in rows.tolist()]
    np.testing.assert_array_equal(found, tree.predict(rows))


def test_notebooks_show_a_drawing(model):
    pytest.importorskip("matplotlib").use("agg")
    for text in (model.export_svg(class_names=["a", "b", "c"]), model.tree_._repr_svg_()):
        assert ET.fromstring(text).tag.endswith("svg")
    assert model.export_svg() == model.export_svg()


def test_a_table_model_is_pruned_like_any_other():
    with pytest.warns(UserWarning, match="columns left out"):
        model = fit_table(passengers(), "survived", epochs=30, restarts=0, random_state=0)
    assert model.prune(max_leaf_nodes=2).get_n_leaves() == 2
    again = type(model).from_json(model.to_json())
    np.testing.assert_array_equal(again.predict(passengers()), model.predict(passengers()))
