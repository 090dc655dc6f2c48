"""The archive of the University of California, Irvine: one zip file per dataset."""

from __future__ import annotations

from datasets.archives import find_member
from datasets.record import Source
from datasets.sources.download import fetch

ADDRESS = "https://archive.ics.uci.edu/static/public/{}.zip"


def contents(source: Source) -> list[bytes]:
    """The files that a source names, wherever they are in the dataset's zip file."""
    archive = fetch(ADDRESS.format(source.where))
    return [find_member(archive, member) for member in source.members]
