"""A folder of original files, ``<mirror>/<slug>/<file>``, that the user names."""

from __future__ import annotations

import os
from pathlib import Path

from datasets.cache import check_bytes
from datasets.errors import RefusedError
from datasets.files import read_file
from datasets.record import Record


def contents(record: Record, mirror: Path) -> list[bytes]:
    """The files of a record, each verified before use.

    A file under the name that the UCI archive gives it, where that is another one, is
    accepted too: its bytes are not known, so the hash of its table decides.
    """
    if not os.path.isdir(mirror):  # noqa: PTH112  (Path.is_dir raises where it may not look)
        raise RefusedError(f"{mirror} is not a folder")
    folder = mirror / record.slug
    if not any(_exists(folder / name) for name in record.files):
        renamed = [folder / name for name in archive_names(record)]
        if all(_exists(path) for path in renamed):
            return [read_file(path) for path in renamed]
    files = []
    for name, sha256 in record.files.items():
        content = read_file(folder / name)
        check_bytes(content, sha256, folder / name, "replace it by the original file")
        files.append(content)
    return files


def archive_names(record: Record) -> tuple[str, ...]:
    """The names of the files at the UCI archive, else those of the record."""
    members = [source.members for source in record.sources if source.kind == "uci"]
    return members[0] if members else tuple(record.files)


def _exists(path: Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110  (Path.exists raises where it may not look)
