"""A dataset in the words of Croissant, the metadata format of MLCommons (JSON-LD).

``export`` writes the table of a loaded dataset as ``<slug>.csv`` with its description beside it,
so that any Croissant loader reads the same values.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd

from datasets.record import Record
from datasets.table import Dataset

CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
LICENCES = {"CC BY 4.0": "https://creativecommons.org/licenses/by/4.0/"}
WORDS = """
citeAs column equivalentProperty extract field fileObject fileProperty fileSet format includes
isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace
samplingRate separator source subField transform
"""
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{word: f"cr:{word}" for word in WORDS.split()},
}
"""The words of version 1.0; validators warn about those that are left out."""


def describe(record: Record, table: bytes) -> dict[str, Any]:
    """The description of a dataset as JSON-LD.

    Parameters
    ----------
    record : of the dataset.
    table : the bytes of ``<slug>.csv``, whose hash is part of the description.
    """
    described = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": record.name,
        "description": _description(record),
        "url": record.link,
        "license": LICENCES.get(record.licence, record.licence),
        "citeAs": record.citation,
        "version": "1.0.0",
        "datePublished": _year(record.citation),
        "distribution": [_table_file(record, table)],
        "recordSet": [_rows(record)],
    }
    return {key: value for key, value in described.items() if value}


def export(dataset: Dataset, folder: Path) -> Path:
    """Write ``<slug>.csv`` and its description; the path of the latter."""
    content = table_bytes(dataset)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _table_id(dataset.record)).write_bytes(content)
    path = folder / f"{dataset.slug}.json"
    text = json.dumps(describe(dataset.record, content), indent=2, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")
    return path


def table_bytes(dataset: Dataset) -> bytes:
    """The table as CSV: a header, the features, and last the name of the class; gaps are empty."""
    classes = pd.Categorical.from_codes(dataset.y, categories=pd.Index(dataset.record.class_names))
    table = dataset.X.assign(**{dataset.record.label: classes})
    return table.to_csv(index=False, lineterminator="\n").encode()


def _description(record: Record) -> str:
    kinds = f"{record.n_features} features, {len(record.categorical)} of them categorical"
    counts = ", ".join(f"{label.name} {label.rows}" for label in record.classes)
    text = f"{record.n_rows} rows of {kinds}. Rows per class: {counts}."
    return f"{text} {record.note}" if record.note else text


def _year(citation: str) -> str:
    found = re.search(r"\((\d{4})\)", citation)
    return found[1] if found else ""


def _table_file(record: Record, table: bytes) -> dict[str, Any]:
    origins = ", ".join(f"{name} (SHA-256 {sha256})" for name, sha256 in record.files.items())
    return {
        "@type": "cr:FileObject",
        "@id": _table_id(record),
        "name": _table_id(record),
        "description": (
            "The features and the class of every row, in the order and with the names that the "
            f"suite uses, written by the suite from {origins or 'a table of the user'}."
        ),
        "contentUrl": _table_id(record),
        "encodingFormat": "text/csv",
        "sha256": hashlib.sha256(table).hexdigest(),
    }


def _rows(record: Record) -> dict[str, Any]:
    categorical = set(record.categorical)
    fields = [
        _field(record, place, name, "sc:Text" if name in categorical else "sc:Float")
        for place, name in enumerate(record.features)
    ]
    label = _field(record, len(fields), record.label, ["sc:Text", "cr:Label"])
    return {
        "@type": "cr:RecordSet",
        "@id": "rows",
        "name": "rows",
        "description": "One record per row of the table.",
        "field": [*fields, label],
    }


def _field(record: Record, place: int, name: str, types: str | list[str]) -> dict[str, Any]:
    """One column; its id is its place, since an id may hold neither blanks nor brackets."""
    return {
        "@type": "cr:Field",
        "@id": f"rows/{place}",
        "name": name,
        "dataType": types,
        "source": {"fileObject": {"@id": _table_id(record)}, "extract": {"column": name}},
    }


def _table_id(record: Record) -> str:
    return f"{record.slug}.csv"
