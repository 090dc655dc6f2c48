"""The canonical table, one sequence of bytes per content, and its Croissant description."""

import hashlib
import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from datasets_support import fruit_table, made_up_dataset
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from datasets import RefusedError, all_records, load_dataset, record
from datasets.croissant import describe, export, table_bytes
from datasets.table import Table


@st.composite
def tables(draw: st.DrawFn) -> Table:
    rows = draw(st.integers(1, 20))
    numbers = npst.arrays(np.float64, rows)
    texts = st.lists(st.none() | st.text(min_size=1, max_size=5), min_size=rows, max_size=rows)
    columns = draw(
        st.lists(
            numbers | texts.map(lambda cells: pd.Categorical(cells, ordered=False)), max_size=4
        )
    )
    classes = npst.arrays(np.int64, rows, elements=st.integers(-1, 7))
    y = draw(classes | npst.arrays(np.float64, rows))
    return Table(tuple(columns), y)


@settings(max_examples=40)
@given(tables())
def test_bytes_and_back(table):
    again = Table.from_bytes(table.to_bytes())
    assert again.to_bytes() == table.to_bytes()
    np.testing.assert_array_equal(again.y, table.y)
    assert again.y.dtype == table.y.dtype
    for one, other in zip(table.columns, again.columns, strict=True):
        assert list(pd.isna(one)) == list(pd.isna(other))
        assert all(a == b for a, b in zip(one, other, strict=True) if not pd.isna(a))


def test_the_content_hash_is_that_of_the_bytes():
    table = fruit_table()
    assert table.content_hash == hashlib.sha256(table.to_bytes()).hexdigest()


def test_equal_values_have_equal_bytes():
    odd_nan = np.frombuffer(np.uint64(0x7FF8000000000123).tobytes(), np.float64)[0]
    one = Table((np.array([0.0, np.nan]),), np.array([0, 1]))
    other = Table((np.array([-0.0, odd_nan]),), np.array([0, 1]))
    assert one.to_bytes() == other.to_bytes()


@pytest.mark.parametrize("change", ["number", "category", "label", "order"])
def test_any_change_changes_the_hash(change):
    table = fruit_table()
    number, colour = table.columns
    y = table.y.copy()
    if change == "number":
        number = np.nextafter(number, np.inf)
    elif change == "category":
        colour = colour.rename_categories({"red": "rot"})
    elif change == "label":
        y[0] = 1 - y[0]
    else:
        number, colour, y = number[::-1], colour[::-1], y[::-1]
    assert Table((number, colour), y).content_hash != table.content_hash


@pytest.mark.parametrize("cut", [0, 1, 10, 60, -1])
def test_a_truncated_table_is_refused(cut):
    with pytest.raises(RefusedError, match="not a canonical table"):
        Table.from_bytes(fruit_table().to_bytes()[:cut])


def test_a_target_of_an_unknown_kind_is_refused():
    content = Table((), np.array([0.5])).to_bytes().replace(b'"number"', b'"text"')
    with pytest.raises(RefusedError, match="not a canonical table: 'text'"):
        Table.from_bytes(content)


def library() -> Any:
    return pytest.importorskip("mlcroissant", reason="pip install mlcroissant")


@pytest.mark.parametrize("slug", all_records())
def test_a_description_says_what_the_record_says(slug):
    entry = record(slug)
    described = json.loads(json.dumps(describe(entry, b"table")))
    assert described["name"] == entry.name
    assert described["citeAs"] == entry.citation
    assert described["url"] == entry.link
    (rows,) = described["recordSet"]
    assert [field["name"] for field in rows["field"]] == [*entry.features, entry.label]
    texts = [field["name"] for field in rows["field"] if field["dataType"] == "sc:Text"]
    assert texts == [name for name in entry.features if name in entry.categorical]
    (file,) = described["distribution"]
    assert all(sha256 in file["description"] for sha256 in entry.files.values())


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("slug", all_records())
def test_the_library_finds_nothing_to_complain_about(slug):
    loaded = library().Dataset(jsonld=describe(record(slug), b"table"))
    assert loaded.metadata.issues.errors == set()
    undated = re.search(r"\(\d{4}\)", record(slug).citation) is None
    assert len(loaded.metadata.issues.warnings) == undated, "but for a date that nobody knows"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_library_reads_the_exported_table(tmp_path):
    dataset = load_dataset("wine", sources=["installed"])
    path = export(dataset, tmp_path / "wine")
    records = list(library().Dataset(jsonld=str(path)).records("rows"))
    columns = [f"rows/{place}" for place in range(dataset.record.n_features + 1)]
    table = pd.DataFrame(records)[columns]
    np.testing.assert_allclose(table.iloc[:, :-1].to_numpy(np.float64), dataset.X, rtol=1e-14)
    classes = [name.decode() for name in table.iloc[:, -1]]
    assert classes == [dataset.record.class_names[index] for index in dataset.y]


def test_the_exported_table_keeps_every_value(tmp_path):
    dataset = made_up_dataset(missing_labels=5)
    export(dataset, tmp_path)
    again = pd.read_csv(tmp_path / "made-up.csv", na_values=[""], float_precision="round_trip")
    np.testing.assert_array_equal(again["noise"], dataset.X["noise"])
    assert again["colour"].isna().equals(dataset.X["colour"].isna())
    assert again["class"].isna().sum() == 5
    described = json.loads((tmp_path / "made-up.json").read_text(encoding="utf-8"))
    assert described == describe(dataset.record, table_bytes(dataset))
