"""A dataset from a table of one's own: gaps, text and odd types, through every protocol."""

import datetime
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from datasets import PROTOCOLS, Dataset, from_table, make_split
from datasets.record_file import SLUG


def patients(rows: int = 120, **changes: Any) -> pd.DataFrame:
    """A table with numbers, text, truth values, gaps, and rows without a class."""
    draw = np.random.default_rng(0)
    ill = draw.random(rows) < 0.3
    columns: dict[Any, Any] = {
        "age": draw.integers(20, 90, rows) + 5.0 * ill,
        "pressure": np.where(draw.random(rows) < 0.2, np.nan, draw.normal(120, 15, rows)),
        "town": np.where(draw.random(rows) < 0.1, None, draw.choice(["Ulm", "Bonn", "Köln"], rows)),
        "smokes": draw.random(rows) < 0.5,
        "ward": pd.Categorical(draw.choice(["a", "b"], rows)),
        "outcome": np.where(ill, "ill", "well"),
    }
    return pd.DataFrame({**columns, **changes})


def dataset(**changes: Any) -> Dataset:
    return from_table("patients", "Patients", patients(**changes), "outcome")


def test_the_facts_of_a_table():
    facts = dataset().record
    assert (facts.slug, facts.name, facts.task) == ("patients", "Patients", "binary")
    assert (facts.n_rows, facts.n_features, facts.n_classes) == (120, 5, 2)
    assert facts.features == ("age", "pressure", "town", "smokes", "ward")
    assert facts.categorical == ("town", "ward")
    assert facts.class_names == ("ill", "well")
    assert sum(facts.class_counts) == 120
    assert facts.missing == "mean"
    assert not facts.in_paper
    assert SLUG.fullmatch(facts.slug)
    assert facts.content_hash == dataset().content_hash


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("three", [False, True], ids=["two classes", "three classes"])
def test_every_protocol_takes_it(name, three):
    table = patients()
    if three:
        table.loc[table.age > 75, "outcome"] = "old"
    table.loc[:9, "outcome"] = None
    split = make_split(from_table("patients", "Patients", table, "outcome"), name, 2)
    for part in (split.X_train, split.X_valid, split.X_test):
        assert np.isfinite(part).all()
        assert part.shape[1] == split.n_features
    assert split.provenance.dataset == "patients"
    assert split.n_classes == 2 + three


ODD: dict[str, Any] = {
    "gaps alone": [None] * 120,
    "NaN alone": [np.nan] * 120,
    "one number": [7] * 120,
    "one text": ["x"] * 120,
    "a category seen once": [None, "rare"] + ["x"] * 118,
    "nullable integers": pd.array([1, None] * 60, dtype="Int64"),
    "nullable truth values": pd.array([True, None] * 60, dtype="boolean"),
    "strings of pandas": pd.array(["a", None] * 60, dtype="string"),
    "decimals": [Decimal(1), Decimal(2)] * 60,
    "numbers and text": [1, "one"] * 60,
    "huge and tiny numbers": [1e300, -1e300, 5e-324] * 40,
    "odd text": ["", "?", "a\nb", "\ud800"] * 30,
}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("name", ["paper", "clean"])
@pytest.mark.parametrize("kind", ODD)
def test_odd_columns_are_understood(kind, name):
    split = make_split(dataset(odd=ODD[kind]), name, 0)
    assert np.isfinite(split.X_train).all()
    assert np.isfinite(split.X_test).all()


def test_the_hash_is_that_of_the_values():
    before = dataset().content_hash
    assert dataset(age=patients().age + 1).content_hash != before
    swapped = patients().outcome.map({"ill": "well", "well": "ill"})
    assert dataset(outcome=swapped).content_hash != before
    assert dataset(ward=patients().ward.astype(str)).content_hash == before, "same values"
    assert dataset(smokes=patients().smokes.astype(int)).content_hash == before, "same values"
    index = patients().set_index(pd.Index(range(1, 121)))
    assert from_table("patients", "Patients", index, "outcome").content_hash == before


def test_names_may_be_numbers():
    table = patients().rename(columns={"town": 3, "outcome": 4})
    assert from_table("patients", "Patients", table, 4).record.categorical == ("3", "ward")


@pytest.mark.parametrize("labels", [[0, 1], [0.0, 1.0], [True, False], ["0", "1"], [1, "a"]])
def test_classes_of_any_type_are_in_the_order_of_their_values(labels):
    made = dataset(outcome=pd.Series(labels * 60, dtype=object).infer_objects())
    assert made.record.n_classes == 2
    assert np.bincount(made.y).tolist() == [60, 60]
    made = dataset(outcome=[10, 9, 2, 9] * 30)
    assert made.record.class_names == ("2", "9", "10")


@pytest.mark.parametrize(
    ("table", "target", "complaint"),
    [
        (patients(), "outcom", "no column 'outcom'; did you mean 'outcome'?"),
        (patients()[["outcome"]], "outcome", "no column besides the target"),
        (patients(outcome=1), "outcome", "has 1 classes; 2 to 100 are possible"),
        (patients(outcome=None), "outcome", "has 0 classes"),
        (patients(outcome=range(120)), "outcome", "has 120 classes"),
        (patients(outcome=np.arange(120) / 7), "outcome", "holds fractions"),
        (patients(outcome=[1, "1"] * 60), "outcome", "different values that read the same"),
        (patients(rows=9), "outcome", "9 rows are too few"),
        (patients(rows=12, outcome=list("abcd") * 3), "outcome", "too few for 4 classes"),
        (patients(age=np.inf), "outcome", "column 'age' holds infinite values"),
        (patients(age=datetime.datetime(2000, 1, 1)), "outcome", "turn them into numbers first"),
        (patients(age=1j), "outcome", "'age' holds complex values"),
        (pd.concat([patients(), patients()], axis=1), "outcome", "several columns are called age"),
        (patients(**{"1": 0}).assign().rename(columns={"age": 1}), "outcome", "are called 1"),
        (pd.concat({"a": patients()}, axis=1), "outcome", "several levels"),
        ([[1, 2]], "outcome", "a pandas DataFrame is expected, not list"),
    ],
)
def test_what_cannot_be_a_dataset_is_refused(table, target, complaint):
    with pytest.raises(ValueError, match=re.escape(complaint)):
        from_table("patients", "Patients", table, target)


def test_the_slug_must_be_one():
    with pytest.raises(ValueError, match="lower-case words joined by hyphens"):
        from_table("../x", "X", patients(), "outcome")
