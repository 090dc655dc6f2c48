"""The 36 datasets of the paper, by slug or name, known without any of their data."""

from __future__ import annotations

import difflib
from functools import cache
from pathlib import Path

from datasets.errors import UnknownDatasetError
from datasets.record import Record, read_record

RECORDS = Path(__file__).parent / "records"


@cache
def _records() -> dict[str, Record]:
    records = [read_record(path) for path in RECORDS.glob("*.toml")]
    records.sort(key=lambda entry: (entry.task, entry.number))
    return {entry.slug: entry for entry in records}


def names() -> tuple[str, ...]:
    """Slugs in the order of the paper's tables: 22 binary, then 14 multi-class datasets."""
    return tuple(_records())


def record(slug: str) -> Record:
    """The record of a dataset, given by slug or by the name printed in the paper."""
    return _records()[resolve(slug)]


def resolve(text: str) -> str:
    """The slug that ``text`` stands for: a slug or a printed name, in any case."""
    wanted = "-".join(text.casefold().replace("_", " ").replace("-", " ").split())
    if wanted in _records():
        return wanted
    near = difflib.get_close_matches(wanted, names(), 3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(names())}"
    raise UnknownDatasetError(f"no dataset {text!r}; {hint}")
