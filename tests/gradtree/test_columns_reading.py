"""Tables of any make and type, their names, and what the estimator tells about a tree."""

from datetime import date, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier
from small_problems import boxes, quick

from gradtree import GradTreeClassifier, Tree
from gradtree.units.cuts import DAY, cut_between, cut_text

N_ROWS = 200


def answers() -> tuple[np.random.Generator, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng, rng.random(N_ROWS) < 0.5


def columns_that_tell() -> dict[str, pd.Series]:
    """Columns of many types, each of which tells the label."""
    rng, y = answers()
    whole = pd.Series(np.where(y, 10, 0) + rng.integers(0, 5, N_ROWS))
    text = pd.Series(np.where(y, "yes", "no"), dtype=object)
    days = pd.Series(pd.Timestamp("2020-02-28") + pd.to_timedelta(whole, unit="D"))
    return {
        "int64": whole,
        "float32": whole.astype(np.float32),
        "Int8": whole.astype("Int8"),
        "Float64": whole.astype("Float64"),
        "arrow whole numbers": whole.astype("int64[pyarrow]"),
        "decimals": whole.map(Decimal),
        "numbers as objects": whole.astype(object),
        "text": text,
        "string": text.astype("string"),
        "arrow text": text.astype("string[pyarrow]"),
        "category": text.astype("category"),
        "category of numbers": whole.astype("category"),
        "several types": text.map({"yes": 1, "no": "no"}),
        "bool": pd.Series(y),
        "boolean": pd.Series(y, dtype="boolean"),
        "arrow truth": pd.Series(y).astype("bool[pyarrow]"),
        "datetime64": days,
        "with a zone": days.dt.tz_localize("Europe/Berlin"),
        "arrow moments": days.astype("timestamp[us][pyarrow]"),
        "dates as objects": pd.Series([date(2020, 1, 1) + timedelta(int(d)) for d in whole]),
        "timedelta64": pd.to_timedelta(whole, unit="h"),
        "intervals": pd.Series(pd.cut(whole, [-1, 7, 99]).astype(object)),
    }


@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
@pytest.mark.parametrize("kind", columns_that_tell())
def test_columns_of_every_type(kind, gaps):
    _, y = answers()
    column = columns_that_tell()[kind]
    if gaps:
        column = column.astype("boolean") if kind == "bool" else column
        column = column.where(np.arange(N_ROWS) % 10 > 0)
    frame = pd.DataFrame({"noise": np.sin(np.arange(N_ROWS)), kind: column})
    model = quick(epochs=60, batch_size=64, lr_values=0.05, lr_index=0.2).fit(frame, y)
    assert model.score(frame, y) > 0.85
    assert kind in model.export_text()
    leaves = model.apply(frame)
    for rule in model.rules():
        np.testing.assert_array_equal(rule.holds(frame), leaves == rule.leaf)
    again = Tree.from_json(model.tree_.to_json())
    np.testing.assert_array_equal(again.apply(frame), leaves)


def small_frame() -> tuple[pd.DataFrame, np.ndarray]:
    rng, y = answers()
    numbers = np.where(rng.random(N_ROWS) < 0.1, np.nan, y + rng.normal(0, 0.3, N_ROWS))
    return pd.DataFrame({"number": numbers, "word": np.where(y, "a", "b"), "flag": ~y}), y


def test_interchanged_tables_are_read_alike():
    frame, y = small_frame()

    class Interchanged:
        """Knows nothing but the protocol, and its shape as scikit-learn asks for it."""

        shape = frame.shape

        def __dataframe__(self, **options):
            return frame.__dataframe__(**options)

    expected = quick(epochs=20).fit(frame, y)
    model = quick(epochs=20).fit(Interchanged(), y)
    assert model.tree_ == expected.tree_
    np.testing.assert_array_equal(model.predict(Interchanged()), expected.predict(frame))


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([4, 2, 8, 6], ["x4", "x2", "x8", "x6"]),
        (["a", "b", "a", "a"], ["a", "b", "a (2)", "a (3)"]),
        (["a", "a (2)", "a", "a"], ["a", "a (2)", "a (3)", "a (4)"]),
        (pd.MultiIndex.from_product([["u", "v"], ["p", "q"]]), ["u.p", "u.q", "v.p", "v.q"]),
        ([0.5, 1.5, 2.5, 3.5], ["0.5", "1.5", "2.5", "3.5"]),
        (["", " ", "a <= 3", "x and y"], ["", " ", "a <= 3", "x and y"]),
    ],
    ids=["numbers", "repeated", "numbered", "levels", "fractions", "odd"],
)
def test_strange_names_are_named_or_renamed(labels, names):
    X, y = boxes(120)
    frame = pd.DataFrame(X)
    frame.columns = labels
    model = quick(epochs=20).fit(frame, y)
    np.testing.assert_array_equal(model.predict(frame), quick(epochs=20).fit(X, y).predict(X))
    assert [column.name for column in model.columns_] == names
    table = dict(zip(names, X.T, strict=True))
    for rule in model.rules():
        np.testing.assert_array_equal(rule.holds(table), model.apply(frame) == rule.leaf)


def test_categorical_features_by_mask_position_and_name():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 6, 300)
    y = np.isin(codes, [1, 4])
    X = np.column_stack([rng.normal(size=300), codes])
    named = pd.DataFrame(X, columns=["noise", "code"])
    trees = [
        quick(depth=2, lr_index=0.5, categorical_features=wanted).fit(table, y).tree_
        for wanted, table in (
            ([False, True], X),
            ([1], X),
            ([-1], X),
            (["code"], named),
            ([1], named),
        )
    ]
    assert all(np.array_equal(tree.members, trees[0].members) for tree in trees)
    assert "in {1, 4}" in trees[0].export_text()
    assert all(tree.n_leaves >= 2 for tree in trees)


def test_missing_and_unseen_values_take_documented_sides():
    frame, y = small_frame()
    frame["word"] = np.where(np.arange(N_ROWS) % 5 == 0, None, frame["word"])
    model = quick().fit(frame, y)
    gone = frame.assign(word=None)
    strange = frame.assign(word="never seen")
    np.testing.assert_array_equal(model.apply(gone), model.apply(strange))
    # Nothing was missing in training: gaps go with most rows.
    X, y = boxes(200)
    model = quick().fit(X, y)
    root = model.tree_.n_node_samples
    left, right = model.tree_.children_left[0], model.tree_.children_right[0]
    assert model.tree_.missing_left[0] == (root[left] >= root[right])
    path = model.decision_path(np.full((1, 4), np.nan)).toarray()[0]
    assert path[left if root[left] >= root[right] else right] == 1


def test_gaps_that_tell_the_label_are_learned():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = rng.random(300) < 0.4
    X[y, 1] = np.nan
    model = quick().fit(X, y)
    assert model.score(X, y) == 1.0
    assert model.export_text().count("missing") == 1


@pytest.mark.parametrize(("load", "floor"), [(load_iris, 0.9), (load_wine, 0.85)])
def test_raw_columns_need_no_scaling(load, floor):
    X, y = load(return_X_y=True)
    model = GradTreeClassifier(
        depth=4, restarts=2, epochs=300, patience=60, lr_leaf=0.1, random_state=0
    )
    assert cross_val_score(model, X, y, cv=4).mean() > floor
    # To the ranks that training sees, an increasing map of the columns changes nothing at all.
    bent = np.exp(X / X.max())
    np.testing.assert_array_equal(
        clone(model).fit(X, y).apply(X), clone(model).fit(bent, y).apply(bent)
    )


def test_importances_follow_the_gain():
    X, y = boxes(400, n_classes=3)
    model = quick(epochs=150).fit(X, y)
    importances = model.feature_importances_
    assert importances.sum() == pytest.approx(1.0)
    assert set(np.argsort(importances)[-2:]) == {0, 1}
    np.testing.assert_allclose(importances, model.to_sklearn().feature_importances_, atol=1e-12)
    X[:, 0] = X[:, 1] = 0.0
    constant = quick(epochs=10).fit(X[:, :2], y)
    assert constant.feature_importances_.tolist() == [0.0, 0.0]
    assert (constant.get_depth(), constant.get_n_leaves()) == (0, 1)


def test_paths_end_in_the_leaves_that_apply_gives():
    X, y = boxes(200)
    X[::7, 0] = np.nan
    model = quick(merge_leaves=False).fit(X, y)
    path = model.decision_path(X)
    leaves = model.apply(X)
    assert path.shape == (200, model.tree_.node_count)
    assert (path[np.arange(200), leaves] == 1).all()
    np.testing.assert_array_equal(path.sum(axis=0).A1, model.tree_.n_node_samples)
    assert path.sum(axis=1).max() == model.get_depth() + 1
    assert model.get_n_leaves() == (model.tree_.children_left == -1).sum()
    twin = model.to_sklearn()
    np.testing.assert_array_equal(twin.decision_path(X).toarray(), path.toarray())


def test_missing_sides_of_scikit_learn_survive_the_way_here_and_back():
    X, y = boxes(300)
    X[y == 1, 0] = np.where(np.arange((y == 1).sum()) % 2, np.nan, X[y == 1, 0])
    cart = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    tree = Tree.from_sklearn(cart)
    rows = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
    np.testing.assert_array_equal(tree.apply(rows), cart.apply(rows))
    np.testing.assert_array_equal(tree.to_sklearn().apply(rows), cart.apply(rows))


@pytest.mark.parametrize(
    ("low", "high", "cut"),
    [
        (2.0, 3.0, "2"),
        (12.0, 13.0, "12"),
        (2.0, 11.0, "6"),
        (7.75, 8.05, "8"),
        (7.75, 8.0, "7.9"),
        (15.67, 16.0, "15.8"),
        (0.0, 0.08, "0.04"),
        (1e300, 3e300, "2e+300"),
        (-1e-9, 1e-9, "0"),
    ],
)
def test_cuts_are_short(low, high, cut):
    assert cut_text(cut_between(low, high)) == cut


@pytest.mark.parametrize("seed", range(20))
def test_a_printed_cut_is_the_cut(seed):
    rng = np.random.default_rng(seed)
    cells = np.unique(rng.normal(size=300) * 10.0 ** rng.integers(-300, 300))
    cells = np.append(cells, np.nextafter(cells, np.inf))
    cells.sort()
    for low, high in zip(cells[:-1].tolist(), cells[1:].tolist(), strict=True):
        if low < high:
            cut = cut_between(low, high)
            assert low <= cut < high
            assert float(cut_text(cut)) == cut


def test_cuts_of_dates():
    assert cut_text(cut_between(3.0 * DAY, 5.0 * DAY, "date"), "date") == "1970-01-05"
    noon = cut_between(3.1 * DAY, 3.8 * DAY, "date")
    assert cut_text(noon, "date") == "1970-01-04 10:00:00"
    assert cut_text(1.5 * DAY, "duration") == "1 day, 12:00:00"
