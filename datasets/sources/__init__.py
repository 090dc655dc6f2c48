"""The places a dataset can be had from, all ending in the same canonical table."""

import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path

from datasets.cache import Cache
from datasets.errors import SourceError
from datasets.files import read_file
from datasets.readers import read_table, to_table
from datasets.record import Record, Source
from datasets.sources import openml_org, packages, uci
from datasets.sources.packages import carrier
from datasets.table import Table


def table_from(source: Source, record: Record, cache: Cache) -> Table:
    """Fetch and read one source; the caller verifies the table."""
    if source.kind == "openml":
        return to_table(record, openml_org.cells(source), source.layout)
    fetch: dict[str, Callable[[Source], list[bytes]]] = {
        "installed": installed_files,
        "package": partial(packages.contents, cache=cache),
        "uci": uci.contents,
    }
    return read_table(record, fetch[source.kind](source), source.layout)


def installed_files(source: Source) -> list[bytes]:
    """Files that come with an installed package, which is not imported for it."""
    spec = importlib.util.find_spec(source.where)
    if spec is None or not spec.submodule_search_locations:
        raise SourceError(f"{source.where} is not installed")
    folder = Path(next(iter(spec.submodule_search_locations)))
    return [read_file(folder / member) for member in source.members]


def describe(source: Source) -> str:
    """A source in a few words."""
    if source.kind != "package":
        known = {"openml": "OpenML", "uci": "UCI"}
        return f"{known.get(source.kind, source.kind)} {source.where}"
    try:
        return f"package {carrier(source.where).requirement}"
    except SourceError:  # its own message follows where it is used
        return f"package {source.where}"
