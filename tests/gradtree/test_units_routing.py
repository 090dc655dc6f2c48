"""Rules in original units route raw rows exactly as the tree routes preprocessed ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from category_encoders import LeaveOneOutEncoder
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier

from gradtree.trees.tree import Tree
from gradtree.units.numbers import border_text
from gradtree.units.original import original_units

NUMBERS = ["age", "fare"]
CATEGORIES = ["sex", "port", "class"]


def people(seed: int, n_rows: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers with gaps, text with gaps, and whole numbers that are categories."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["male", "female"], n_rows),
            "age": np.where(rng.random(n_rows) < 0.2, np.nan, rng.integers(1, 80, n_rows)),
            "port": rng.choice(np.array(["S", "C", "Q", None]), n_rows, p=[0.5, 0.2, 0.2, 0.1]),
            "class": rng.integers(1, 4, n_rows),
            "fare": rng.lognormal(3, 1, n_rows).round(2),
        }
    )
    score = (
        2.0 * (frame["sex"] == "female")
        + (frame["class"] == 2)
        + (frame["port"] == "C")
        - 0.03 * frame["age"].fillna(60)
        + 0.01 * frame["fare"]
    )
    return frame, np.digitize(score + rng.normal(0, 0.5, n_rows), [-0.5, 1.0])


def quantiles() -> QuantileTransformer:
    return QuantileTransformer(n_quantiles=100, output_distribution="normal")


def imputed(transformer: TransformerMixin) -> Pipeline:
    return make_pipeline(SimpleImputer(strategy="median"), transformer)


class FillByName(TransformerMixin, BaseEstimator):
    """A transformer of one's own: unknown to the package, but it keeps its column names."""

    def fit(self, X, y=None):
        self.feature_names_in_ = np.array(X.columns, dtype=object)
        return self

    def transform(self, X):
        return X.assign(age=X["age"].fillna(30.0), port=X["port"].fillna("S"))

    def get_feature_names_out(self, input_features=None):
        return self.feature_names_in_


PREPROCESSINGS = {
    "quantile and target encoding": lambda: ColumnTransformer(
        [("n", imputed(quantiles()), NUMBERS), ("c", TargetEncoder(cv=3), CATEGORIES)]
    ),
    "missing indicators": lambda: ColumnTransformer(
        [
            ("n", make_pipeline(SimpleImputer(add_indicator=True), quantiles()), NUMBERS),
            ("c", OneHotEncoder(handle_unknown="ignore"), CATEGORIES),
        ]
    ),
    "one hot without one": lambda: ColumnTransformer(
        [
            ("c", OneHotEncoder(drop="first", min_frequency=30), CATEGORIES),
            ("n", imputed(MinMaxScaler()), NUMBERS),
        ]
    ),
    "ordinal codes": lambda: ColumnTransformer(
        [
            (
                "c",
                OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
                CATEGORIES,
            ),
            ("n", imputed(StandardScaler()), ["fare", "age"]),
        ]
    ),
    "leave one out as in the paper": lambda: Pipeline(
        [
            ("fill", FillByName()),
            ("encode", LeaveOneOutEncoder(cols=CATEGORIES)),
            ("quantile", quantiles()),
        ]
    ),
    "selectors and a remainder": lambda: ColumnTransformer(
        [("text", TargetEncoder(cv=3), make_column_selector(dtype_include=object))],
        remainder=imputed(RobustScaler()),
    ),
    "positions, slices and masks": lambda: ColumnTransformer(
        [
            ("a", imputed(PowerTransformer()), [1]),
            ("b", TargetEncoder(cv=3), slice("port", "class")),
            ("c", "passthrough", [False, False, False, False, True]),
        ]
    ),
    "logarithms and falling numbers": lambda: ColumnTransformer(
        [
            ("log", FunctionTransformer(np.log1p), ["fare"]),
            ("falling", make_pipeline(SimpleImputer(), FunctionTransformer(np.negative)), ["age"]),
            ("c", OneHotEncoder(), ["sex"]),
        ]
    ),
    "bins": lambda: ColumnTransformer(
        [
            (
                "n",
                imputed(KBinsDiscretizer(5, encode="ordinal", quantile_method="linear")),
                NUMBERS,
            ),
            ("c", "drop", CATEGORIES),
        ]
    ),
    "united features": lambda: ColumnTransformer(
        [
            (
                "n",
                FeatureUnion([("s", imputed(StandardScaler())), ("q", imputed(quantiles()))]),
                NUMBERS,
            ),
            ("c", TargetEncoder(cv=3), ["sex"]),
        ],
        remainder="drop",
    ),
}


def matrix(preprocessing, frame):
    X = preprocessing.transform(frame)
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def grown(preprocessing, seed: int = 0) -> tuple[Tree, pd.DataFrame]:
    frame, y = people(seed)
    X = preprocessing.fit(frame, y) and matrix(preprocessing, frame)
    cart = DecisionTreeClassifier(max_depth=6, random_state=seed).fit(X, y)
    return Tree.from_sklearn(cart), frame


def assert_same_routes(tree: Tree, rules, preprocessing, frame: pd.DataFrame) -> None:
    leaves = tree.apply(matrix(preprocessing, frame))
    for rule in rules:
        np.testing.assert_array_equal(rule.holds(frame), leaves == rule.leaf, err_msg=str(rule))


@pytest.mark.parametrize("with_rows", [True, False], ids=["rows", "no rows"])
@pytest.mark.parametrize("name", PREPROCESSINGS)
def test_training_rows_and_new_rows_take_the_same_way(name, with_rows):
    preprocessing = PREPROCESSINGS[name]()
    tree, frame = grown(preprocessing)
    units = original_units(preprocessing, frame if with_rows else None)
    rules = tree.rules(units=units)
    assert_same_routes(tree, rules, preprocessing, frame)
    assert_same_routes(tree, rules, preprocessing, people(99)[0])


def test_rows_next_to_a_border_take_the_same_way():
    preprocessing = PREPROCESSINGS["quantile and target encoding"]()
    tree, frame = grown(preprocessing)
    rules = tree.rules(units=original_units(preprocessing, frame))
    for column in NUMBERS:
        borders = {
            end
            for rule in rules
            for condition in rule.conditions
            if condition.column == column
            for end in (condition.low, condition.high)
            if np.isfinite(end)
        }
        assert borders
        near = [np.nextafter(b, b + side) for b in borders for side in (-1, 0, 1)]
        rows = frame.sample(len(near), random_state=0).assign(**{column: near})
        assert_same_routes(tree, rules, preprocessing, rows)


@pytest.mark.parametrize(
    "name",
    ["quantile and target encoding", "missing indicators", "leave one out as in the paper"],
)
def test_unseen_categories_and_new_gaps_take_the_same_way(name):
    preprocessing = PREPROCESSINGS[name]()
    tree, frame = grown(preprocessing)
    rules = tree.rules(units=original_units(preprocessing, frame))
    strange = frame.assign(port="Belfast", sex=["male", "other"] * 200, age=np.nan)
    strange["class"] = 7
    assert_same_routes(tree, rules, preprocessing, strange)


def test_categorical_boolean_and_nullable_columns():
    frame, y = people(1)
    frame = frame.assign(
        port=frame["port"].astype("category"),
        sex=frame["sex"] == "male",
        age=frame["age"].astype("Int64"),
    )
    preprocessing = ColumnTransformer(
        [("n", imputed(quantiles()), NUMBERS), ("c", TargetEncoder(cv=3), CATEGORIES)]
    ).fit(frame, y)
    cart = DecisionTreeClassifier(max_depth=5, random_state=0).fit(matrix(preprocessing, frame), y)
    tree = Tree.from_sklearn(cart)
    rules = tree.rules(units=original_units(preprocessing, frame))
    assert_same_routes(tree, rules, preprocessing, frame)
    assert any("sex = True" in str(rule) for rule in rules)


def test_arrays_without_names():
    frame, y = people(2)
    X = frame[NUMBERS].to_numpy()
    preprocessing = imputed(quantiles()).fit(X)
    cart = DecisionTreeClassifier(max_depth=4, random_state=0).fit(preprocessing.transform(X), y)
    tree = Tree.from_sklearn(cart)
    for raw in (X, None):
        rules = tree.rules(units=original_units(preprocessing, raw))
        table = {"x0": X[:, 0], "x1": X[:, 1]}
        leaves = tree.apply(preprocessing.transform(X))
        for rule in rules:
            np.testing.assert_array_equal(rule.holds(table), leaves == rule.leaf)


def test_a_pipeline_with_its_classifier_may_be_given_whole():
    frame, y = people(3)
    model = make_pipeline(
        PREPROCESSINGS["missing indicators"](), DecisionTreeClassifier(max_depth=3)
    ).fit(frame, y)
    text = Tree.from_sklearn(model[-1]).export_text(units=original_units(model, frame))
    assert "sex = " in text


def test_columns_that_are_mixed_have_no_units():
    frame, _ = people(4)
    numbers = frame[["fare", "class"]]
    for mixer in (PCA(2), Normalizer()):
        with pytest.raises(ValueError, match=type(mixer).__name__):
            original_units(make_pipeline(StandardScaler(), mixer).fit(numbers))


class ShareOfRow(FillByName):
    """Keeps the names but not the promise to treat columns one by one."""

    def transform(self, X):
        return X.div(X.sum(axis=1), axis=0)


def test_columns_that_are_mixed_secretly_are_found_out():
    frame, y = people(4)
    numbers = frame[["fare", "class"]]
    preprocessing = ShareOfRow().fit(numbers)
    shares = preprocessing.transform(numbers)
    tree = Tree.from_sklearn(DecisionTreeClassifier(max_depth=2).fit(shares.to_numpy(), y))
    with pytest.raises(ValueError, match="alone"):
        tree.rules(units=original_units(preprocessing, numbers))


def test_a_tree_of_other_columns_is_refused():
    tree, frame = grown(PREPROCESSINGS["missing indicators"]())
    scaler = StandardScaler().fit(frame[["fare"]])
    with pytest.raises(ValueError, match="only 1 columns"):
        tree.rules(units=original_units(scaler))


def test_one_hot_bins_are_refused():
    frame, _ = people(5)
    bins = KBinsDiscretizer(3, strategy="uniform").fit(frame[["fare"]])
    with pytest.raises(ValueError, match="ordinal"):
        original_units(bins)


@pytest.mark.parametrize("seed", range(20))
def test_printed_borders_part_the_rows_as_the_exact_ones_do(seed):
    rng = np.random.default_rng(seed)
    cells = np.append(rng.lognormal(0, 2, 200).round(rng.integers(0, 4)), np.nan)
    for border in rng.lognormal(0, 2, 50):
        shown = float(border_text(border, cells, 4))
        np.testing.assert_array_equal(cells <= shown, cells <= border)


def test_borders_are_printed_briefly():
    whole = np.array([1.0, 2.0, 3.0, 12.0, 13.0])
    assert border_text(2.7, whole, 4) == "2"
    assert border_text(12.99, whole, 4) == "12"
    prices = np.array([7.25, 7.75, 8.05, 26.55])
    assert border_text(7.8999, prices, 4) == "7.9"
    assert border_text(17.3, prices, 4) == "17"
    assert border_text(7.5000001, None, 4) == "7.5"
    assert border_text(15.99995, np.array([15.67, 16.0]), 4) == "15.9"
    assert border_text(64.00014, np.array([63.5, 64.0, 65.0]), 4) == "64"


def test_next_to_nothing_is_zero_where_the_rows_allow_it():
    years = np.array([0.0, 0.08, 3.0, 20.0])
    assert border_text(2.8e-6, years, 4) == "0"
    assert border_text(2.8e-6, np.array([1e-6, 20.5]), 4) == "2.8e-06"
