"""The 36 datasets of the paper: records, verified loading, and the two protocols.

>>> from datasets import load_dataset, make_split
>>> split = make_split(load_dataset("wine"), "paper", trial=0)
"""

from datasets.dataset import Dataset
from datasets.errors import (
    DatasetUnavailable,
    RecordError,
    RefusedError,
    SourceError,
    UnknownDatasetError,
)
from datasets.loading import load_dataset
from datasets.protocols import PROTOCOLS, Protocol, make_split
from datasets.record import Record
from datasets.registry import names, record, resolve
from datasets.split import Provenance, Rows, Split, Task

__all__ = [
    "PROTOCOLS",
    "Dataset",
    "DatasetUnavailable",
    "Protocol",
    "Provenance",
    "Record",
    "RecordError",
    "RefusedError",
    "Rows",
    "SourceError",
    "Split",
    "Task",
    "UnknownDatasetError",
    "load_dataset",
    "make_split",
    "names",
    "record",
    "resolve",
]
