"""A dataset in the words of Croissant, the metadata format of MLCommons (JSON-LD).

``export`` writes the table of a loaded dataset as ``<slug>.csv`` with its description beside it,
so that any Croissant loader reads the same values.
"""

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
    """The description of a dataset as JSON-LD, with the hash of its ``<slug>.csv``."""
    kinds = f"{record.n_features} features, {len(record.categorical)} of them categorical"
    counts = ", ".join(f"{label.name} {label.rows}" for label in record.classes)
    target = f"Rows per class: {counts}." if counts else f"To predict: the number {record.label}."
    year = re.search(r"\((\d{4})\)", record.citation)
    origins = ", ".join(f"{name} (SHA-256 {sha256})" for name, sha256 in record.files.items())
    file_name = f"{record.slug}.csv"
    types = ["sc:Text" if name in record.categorical else "sc:Float" for name in record.features]
    label_type = ["sc:Text" if counts else "sc:Float", "cr:Label"]
    columns = [*zip(record.features, types, strict=True), (record.label, label_type)]
    described = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": record.name,
        "description": f"{record.n_rows} rows of {kinds}. {target} {record.note}".strip(),
        "url": record.link,
        "license": LICENCES.get(record.licence, record.licence),
        "citeAs": record.citation,
        "version": "1.0.0",
        "datePublished": year[1] if year else "",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": file_name,
                "name": file_name,
                "description": (
                    "The features and the label of every row, in the order and with the names that "
                    f"the suite uses, written by the suite from {origins or 'a table of the user'}."
                ),
                "contentUrl": file_name,
                "encodingFormat": "text/csv",
                "sha256": hashlib.sha256(table).hexdigest(),
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "rows",
                "name": "rows",
                "description": "One record per row of the table.",
                "field": [
                    {
                        "@type": "cr:Field",
                        "@id": f"rows/{place}",  # an id may hold neither blanks nor brackets
                        "name": name,
                        "dataType": kind,
                        "source": {"fileObject": {"@id": file_name}, "extract": {"column": name}},
                    }
                    for place, (name, kind) in enumerate(columns)
                ],
            }
        ],
    }
    return {key: value for key, value in described.items() if value}


def export(dataset: Dataset, folder: Path) -> Path:
    """Write ``<slug>.csv`` and its description; the path of the latter."""
    content = table_bytes(dataset)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{dataset.slug}.csv").write_bytes(content)
    path = folder / f"{dataset.slug}.json"
    text = json.dumps(describe(dataset.record, content), indent=2, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")
    return path


def table_bytes(dataset: Dataset) -> bytes:
    """The table as CSV: a header, the features, and last the label; gaps are empty.

    The label is the name of the class, or the number of a regression.
    """
    y, names = dataset.y, pd.Index(dataset.record.class_names)
    labels = pd.Categorical.from_codes(y, categories=names) if len(names) else y
    table = dataset.X.assign(**{dataset.record.label: labels})
    return table.to_csv(index=False, lineterminator="\n").encode()
