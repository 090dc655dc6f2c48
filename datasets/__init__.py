"""The datasets: records, verified loading, and the protocols that prepare them.

>>> from datasets import load_dataset, make_split
>>> split = make_split(load_dataset("wine"), "paper", trial=0)

Records and versions are known at once; pandas and scikit-learn are imported on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

from datasets.errors import (
    DatasetUnavailable,
    DataWarning,
    RecordError,
    RefusedError,
    SourceError,
    UnknownDatasetError,
)
from datasets.protocols import PROTOCOLS, make_split, protocol
from datasets.record import SOURCES, Record
from datasets.registry import all_records, broken_records, paper_datasets, record, resolve
from datasets.split import Split

if TYPE_CHECKING:
    from datasets.dataframe import from_table
    from datasets.loading import load_dataset
    from datasets.table import Dataset

__all__ = [
    "PROTOCOLS",
    "SOURCES",
    "DataWarning",
    "Dataset",
    "DatasetUnavailable",
    "Record",
    "RecordError",
    "RefusedError",
    "SourceError",
    "Split",
    "UnknownDatasetError",
    "all_records",
    "broken_records",
    "from_table",
    "load_dataset",
    "make_split",
    "paper_datasets",
    "protocol",
    "record",
    "resolve",
]


_ON_FIRST_USE = {
    "Dataset": "datasets.table",
    "from_table": "datasets.dataframe",
    "load_dataset": "datasets.loading",
}


def __getattr__(name: str) -> Any:
    if name in _ON_FIRST_USE:
        return getattr(importlib.import_module(_ON_FIRST_USE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
