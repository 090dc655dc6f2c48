"""Load a dataset from the first source that has it, verified, or say what to do."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import numpy as np

from datasets.cache import Cache, check_bytes, default_cache
from datasets.dataset import Dataset
from datasets.errors import DatasetUnavailable, Refused, SourceError
from datasets.readers import read_table
from datasets.record import Record
from datasets.registry import record
from datasets.table import Table


def load_dataset(slug: str, mirror: Path | str | None = None) -> Dataset:
    """Load a dataset by slug or name."""
    entry = record(slug)
    return _load(entry.slug, mirror_folder(mirror), default_cache().folder)


def mirror_folder(given: Path | str | None) -> Path | None:
    """The mirror given, else the one named by ``GRADTREE_DATA``, if any."""
    named = given or os.environ.get("GRADTREE_DATA")
    return Path(named).expanduser() if named else None


@lru_cache(maxsize=4)
def _load(slug: str, mirror: Path | None, cache_folder: Path) -> Dataset:
    entry, cache = record(slug), Cache(cache_folder)
    failures: list[str] = []
    if mirror is not None:
        try:
            return Dataset(entry, from_mirror(entry, mirror, cache), f"mirror {mirror}")
        except SourceError as error:
            failures.append(f"mirror: {error}")
    raise DatasetUnavailable("; ".join(failures))


def from_mirror(entry: Record, mirror: Path, cache: Cache) -> Table:
    """Read the original files ``<mirror>/<slug>/<file>``, each verified before use."""
    contents = []
    for name, sha256 in entry.files.items():
        path = mirror / entry.slug / name
        try:
            content = path.read_bytes()
        except OSError as error:
            raise SourceError(f"{path}: {error.strerror}") from error
        check_bytes(content, sha256, path, "replace it by the original file")
        contents.append(content)
    table = read_table(entry, contents, entry.layout)
    verify(entry, table)
    return table


def verify(entry: Record, table: Table) -> None:
    """Refuse a table that is not the one of the record: counts first, they say more."""
    y = np.where(table.y < 0, np.bincount(table.y[table.y >= 0]).argmax(), table.y)
    counts = tuple(int(count) for count in np.bincount(y, minlength=entry.n_classes))
    if (len(y), len(table.columns)) != (entry.n_rows, entry.n_features):
        raise Refused(
            f"{len(y)} rows of {len(table.columns)} features "
            f"instead of {entry.n_rows} of {entry.n_features}"
        )
    if counts != entry.class_counts:
        raise Refused(f"rows per class {counts} instead of {entry.class_counts}")
    if table.content_hash != entry.content_hash:
        raise Refused("some values differ from the original table")
