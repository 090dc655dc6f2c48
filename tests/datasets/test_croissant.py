"""Every record as a Croissant description, judged by the library of those who make the format."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from datasets_support import made_up_dataset

from datasets import all_records, load_dataset, record
from datasets.croissant import describe, export, table_bytes


def library() -> Any:
    return pytest.importorskip("mlcroissant", reason="pip install mlcroissant")


@pytest.mark.parametrize("slug", all_records())
def test_a_description_says_what_the_record_says(slug: str) -> None:
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
def test_the_library_finds_nothing_to_complain_about(slug: str) -> None:
    loaded = library().Dataset(jsonld=describe(record(slug), b"table"))
    assert loaded.metadata.issues.errors == set()
    undated = re.search(r"\(\d{4}\)", record(slug).citation) is None
    assert len(loaded.metadata.issues.warnings) == undated, "but for a date that nobody knows"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_library_reads_the_exported_table(tmp_path: Path) -> None:
    dataset = load_dataset("wine", sources=["installed"])
    path = export(dataset, tmp_path / "wine")
    records = list(library().Dataset(jsonld=str(path)).records("rows"))
    columns = [f"rows/{place}" for place in range(dataset.record.n_features + 1)]
    table = pd.DataFrame(records)[columns]
    np.testing.assert_allclose(table.iloc[:, :-1].to_numpy(np.float64), dataset.X, rtol=1e-14)
    classes = [name.decode() for name in table.iloc[:, -1]]
    assert classes == [dataset.record.class_names[index] for index in dataset.y]


def test_the_exported_table_keeps_every_value(tmp_path: Path) -> None:
    dataset = made_up_dataset(missing_labels=5)
    export(dataset, tmp_path)
    again = pd.read_csv(tmp_path / "made-up.csv", na_values=[""], float_precision="round_trip")
    np.testing.assert_array_equal(again["noise"], dataset.X["noise"])
    assert again["colour"].isna().equals(dataset.X["colour"].isna())
    assert again["class"].isna().sum() == 5
    described = json.loads((tmp_path / "made-up.json").read_text(encoding="utf-8"))
    assert described == describe(dataset.record, table_bytes(dataset))
