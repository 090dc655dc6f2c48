"""Read single members of zip archives into memory; nothing is unpacked to disk or run."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath

from datasets.errors import RefusedError

LARGEST_MEMBER = 64 * 2**20
NESTING = 2


def read_member(archive: bytes, member: str) -> bytes:
    """One member by its path; ``outer.zip!inner.csv`` names a member of a nested archive."""
    outer, _, inner = member.partition("!")
    with _opened(archive) as opened:
        if outer not in opened.namelist():
            raise RefusedError(f"the archive has no member {outer}")
        content = _read(opened, outer)
    return read_member(content, inner) if inner else content


def find_member(archive: bytes, name: str) -> bytes:
    """The first member whose path ends in ``name``, also inside archives in the archive."""
    for content in _candidates(archive, name, NESTING):
        return content
    raise RefusedError(f"the archive has no member {name}")


def _candidates(archive: bytes, name: str, nesting: int) -> Iterator[bytes]:
    with _opened(archive) as opened:
        members = [info.filename for info in opened.infolist() if not info.is_dir()]
        yield from (_read(opened, path) for path in members if PurePosixPath(path).name == name)
        if nesting:
            for path in members:
                if path.lower().endswith(".zip"):
                    yield from _candidates(_read(opened, path), name, nesting - 1)


def _opened(archive: bytes) -> zipfile.ZipFile:
    try:
        opened = zipfile.ZipFile(io.BytesIO(archive))
    except zipfile.BadZipFile as error:
        raise RefusedError(f"not a complete zip archive: {error}") from error
    for path in opened.namelist():
        if _escapes(path):
            raise RefusedError(f"the archive has a member that escapes its folder: {path!r}")
    return opened


def _escapes(path: str) -> bool:
    pure = PurePosixPath(path.replace("\\", "/"))
    return pure.is_absolute() or ".." in pure.parts or ":" in path.partition("/")[0]


def _read(opened: zipfile.ZipFile, path: str) -> bytes:
    if opened.getinfo(path).file_size > LARGEST_MEMBER:
        raise RefusedError(f"member {path} is larger than any dataset")
    try:
        return opened.read(path)
    except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, NotImplementedError) as error:
        raise RefusedError(f"member {path} cannot be read: {error}") from error
