"""Files that come with installed packages; the package itself is not imported for it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from datasets.errors import SourceError
from datasets.files import read_file
from datasets.record import Source


def contents(source: Source) -> list[bytes]:
    """The members that a source names, relative to the package's folder."""
    spec = importlib.util.find_spec(source.where)
    if spec is None or not spec.submodule_search_locations:
        raise SourceError(f"{source.where} is not installed")
    folder = Path(next(iter(spec.submodule_search_locations)))
    return [read_file(folder / member) for member in source.members]
