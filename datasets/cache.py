"""The local cache: canonical tables and downloaded archives, written beside, then renamed."""

from __future__ import annotations

import hashlib
import os
import tempfile
import warnings
from dataclasses import dataclass
from functools import cache as memoise
from pathlib import Path

from datasets.errors import Refused
from datasets.record import Record
from datasets.table import Table


class CacheWarning(UserWarning):
    """The cache could not be used; loading goes on without it."""


@dataclass(frozen=True)
class Cache:
    """A folder of verified files. Nothing is read from it without checking its hash."""

    folder: Path

    def table_path(self, record: Record) -> Path:
        return self.folder / "tables" / f"{record.slug}-{record.content_hash[:16]}.table"

    def read_table(self, record: Record) -> Table | None:
        """The cached table, ``None`` if there is none, :class:`Refused` if it was changed."""
        path = self.table_path(record)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Refused(f"{path} cannot be read: {error.strerror}") from error
        check_bytes(content, record.content_hash, path, "delete it, it will be fetched again")
        return Table.from_bytes(content)

    def store_table(self, record: Record, table: Table) -> None:
        self.store(self.table_path(record), table.to_bytes())

    def store(self, path: Path, content: bytes) -> Path | None:
        """Write a file so that it is there completely or not at all; warn if it cannot be."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                Path(temporary).replace(path)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
        except OSError as error:
            _warn_once(self.folder, error.strerror or str(error))
            return None
        return path


def default_cache() -> Cache:
    """The folder named by ``GRADTREE_CACHE``, else one under the user's cache folder."""
    if named := os.environ.get("GRADTREE_CACHE"):
        return Cache(Path(named).expanduser())
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Cache(Path(base) / "gradtree-suite")


def check_bytes(content: bytes, sha256: str, path: Path | str, remedy: str) -> None:
    """Refuse bytes that are not the expected ones, naming the file."""
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise Refused(
            f"{path} is not the expected file ({len(content)} bytes, sha256 {found[:12]}… "
            f"instead of {sha256[:12]}…): {remedy}"
        )


@memoise
def _warn_once(folder: Path, reason: str) -> None:
    message = f"cannot write to the cache {folder} ({reason}); set GRADTREE_CACHE to a folder "
    warnings.warn(message + "you may write to. Loading goes on without it.", CacheWarning, 4)
