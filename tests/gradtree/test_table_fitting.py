"""From a raw table to a readable tree."""

import pickle

import numpy as np
import pandas as pd
import pytest
from small_problems import passengers, quick

from gradtree import TabularGradTree, fit_table
from gradtree.inputs.folds import hold_out

SETTINGS = {"epochs": 150, "patience": 50, "restarts": 1, "random_state": 0, "lr_leaf": 0.05}

pytestmark = pytest.mark.filterwarnings("ignore:columns left out")


@pytest.fixture(scope="module")
def model() -> TabularGradTree:
    with pytest.warns(UserWarning, match=r"columns left out: id .*name .*boarded .*ship"):
        return fit_table(passengers(), target="survived", depth=3, **SETTINGS)


def test_three_lines_and_columns_that_cannot_help_are_left_out(model):
    text = model.export_text()
    assert "sex = female" in text
    assert "→ yes (" in text
    assert model.score(passengers(seed=1), passengers(seed=1)["survived"]) > 0.8
    assert set(model.left_out_) == {"id", "name", "boarded", "ship"}
    assert "numbers the rows" in model.left_out_["id"]
    assert model.feature_names_in_.tolist() == ["sex", "age", "port", "cabin", "alone"]


def test_probabilities_and_pickles(model):
    raw = passengers(seed=3)
    proba = model.predict_proba(raw)
    assert proba.shape == (300, 2)
    assert model.classes_.tolist() == ["no", "yes"]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(raw), proba)
    assert again.export_text() == model.export_text()


def test_columns_may_be_in_any_order_but_not_missing(model):
    raw = passengers(seed=3)
    np.testing.assert_array_equal(model.predict(raw[raw.columns[::-1]]), model.predict(raw))
    with pytest.raises(ValueError, match=r"lacks columns .*: sex"):
        model.predict(raw.drop(columns="sex"))
    for other in ("old", True, pd.array([None, *[True] * (len(raw) - 1)], dtype="boolean")):
        with pytest.raises(ValueError, match="'age' held numbers in training"):
            model.predict(raw.assign(age=other))


def test_labels_of_validation_rows_teach_the_codes_nothing():
    table = passengers()
    y = (table["survived"] == "yes").to_numpy().astype(int)
    held_out = hold_out(y, 0.2, np.random.default_rng(0))
    table["town"] = "elsewhere"
    table.loc[held_out, "town"] = "of validation rows alone"
    table.loc[np.delete(np.arange(300), held_out)[:50], "town"] = "here"
    model = fit_table(table, "survived", depth=2, **SETTINGS)
    town = [column for column in model.tree_.columns if column.name == "town"]
    assert town[0].categories == ("elsewhere", "here")
    assert model.tree_.n_node_samples[0] == 300


def test_labels_that_are_numbers_are_named_after_their_column():
    table = passengers().assign(survived=lambda t: (t["survived"] == "yes").astype(int))
    text = fit_table(table, "survived", depth=2, **SETTINGS).export_text()
    assert "survived = 1" in text


def test_rows_without_a_target_are_left_out():
    table = passengers()
    table.loc[:9, "survived"] = None
    with pytest.warns(UserWarning, match="10 rows without a value of 'survived'"):
        model = fit_table(table, "survived", depth=2, **SETTINGS)
    assert model.tree_.n_node_samples[0] == 290


def test_numbers_can_be_categories():
    table = passengers()
    table["survived"] = np.where(table["cabin"] == 2, "yes", "no")
    model = fit_table(table, "survived", categorical=["cabin"], depth=2, **SETTINGS)
    assert "cabin in {1, 3}" in model.export_text()


def test_more_than_two_classes_and_only_text():
    table = passengers()[["sex", "port", "alone"]]
    target = table["sex"].where(table["port"].notna(), "nobody")
    model = TabularGradTree(**quick(depth=3, epochs=200).get_params()).fit(table, target)
    assert model.score(table, target) > 0.9
    assert model.tree_.n_features == 3
    assert "port = missing" in model.export_text()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda t: fit_table(t, "fare"), ValueError, "no column 'fare'.*survived"),
        (lambda t: fit_table(t.to_numpy(), "fare"), ValueError, "no column 'fare'"),
        (lambda t: TabularGradTree().fit(t.to_numpy(), t["sex"]), TypeError, "DataFrame"),
        (lambda t: fit_table(t, "sex", categorical=["x"]), ValueError, "not there: 'x'"),
        (lambda t: fit_table(t[["ship", "sex"]], "sex"), ValueError, "no column of the table"),
        (
            lambda t: fit_table(t.assign(age=np.inf, cabin=[np.inf, 1.0] * 150), "survived"),
            ValueError,
            "infinite",
        ),
    ],
)
def test_errors_say_what_to_do(call, error, message):
    with pytest.raises(error, match=message):
        call(passengers())
