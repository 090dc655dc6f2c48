"""The local cache: canonical tables and downloaded archives, written beside, then renamed."""

import hashlib
import os
import tempfile
import warnings
from dataclasses import dataclass
from functools import cache as memoise
from pathlib import Path

from datasets.errors import DataWarning, RefusedError, SourceError
from datasets.files import read_file
from datasets.record import Record
from datasets.table import Table


@dataclass(frozen=True)
class Cache:
    """A folder of files, none of which is used without checking its hash."""

    folder: Path

    def read(self, name: str, sha256: str) -> bytes | None:
        """The verified bytes of a file, ``None`` if there is none.

        A file of that name with other bytes, or one that cannot be read, is refused.
        """
        path = self.folder / name
        try:
            content = read_file(path)
        except RefusedError:
            raise
        except SourceError:
            return None
        check_bytes(content, sha256, path, "delete it, it will be fetched again")
        return content

    def store(self, name: str, content: bytes) -> None:
        """Write a file so that it is there completely or not at all."""
        try:
            _write(self.folder / name, content)
        except OSError as error:
            _warn_unwritable(self.folder, error.strerror or str(error))

    def read_table(self, record: Record) -> Table | None:
        content = self.read(_table_name(record), record.content_hash)
        return None if content is None else Table.from_bytes(content)

    def store_table(self, record: Record, table: Table) -> None:
        self.store(_table_name(record), table.to_bytes())


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
        raise RefusedError(
            f"{path} is not the expected file ({len(content)} bytes, sha256 {found[:12]}… "
            f"instead of {sha256[:12]}…): {remedy}"
        )


def _table_name(record: Record) -> str:
    return f"tables/{record.slug}-{record.content_hash[:16]}.table"


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@memoise
def _warn_unwritable(folder: Path, reason: str) -> None:
    warnings.warn(
        f"cannot write to the cache {folder} ({reason}); loading goes on without it. "
        "Set GRADTREE_CACHE to a folder you may write to.",
        DataWarning,
        stacklevel=4,
    )
