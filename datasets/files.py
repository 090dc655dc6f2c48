"""Reading files that somebody else may have put there, and names that stay in their folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePosixPath

from datasets.errors import RefusedError, SourceError

LARGEST_FILE = 256 * 2**20
"""Of a data file or an archive; the largest of the suite's has 16 MB."""

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def read_file(path: Path, limit: int = LARGEST_FILE) -> bytes:
    """The bytes of a regular file of at most ``limit`` bytes.

    Raises
    ------
    SourceError
        if there is no such file.
    RefusedError
        if it is no regular file (opening a pipe would wait for ever), too large, or cannot
        be read.
    """
    try:
        _check(path.stat(), path, limit)
        # Should the file have become a pipe by now: do not wait for a writer.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, flags), "rb") as file:
            _check(os.fstat(file.fileno()), path, limit)
            content = file.read(limit + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise SourceError(f"no file {path}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise RefusedError(f"{path} cannot be read: {reason}") from error
    if len(content) > limit:
        raise RefusedError(_too_large(path, limit))
    return content


def _check(found: os.stat_result, path: Path, limit: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = next((name for is_kind, name in _KINDS if is_kind(found.st_mode)), "no file")
        raise RefusedError(f"{path} is {kind}, not a regular file")
    if found.st_size > limit:
        raise RefusedError(_too_large(path, limit))


def _too_large(path: Path, limit: int) -> str:
    return f"{path} is larger than {limit // 2**20 or 1} MB, the most that is read"


def stays_inside(name: str) -> bool:
    """Whether a relative path, as records and archives have them, stays in its folder."""
    path = PurePosixPath(name.replace("\\", "/"))
    drive = ":" in name.replace("\\", "/").partition("/")[0]
    return bool(path.parts) and not (
        path.is_absolute() or ".." in path.parts or drive or "\0" in name
    )
