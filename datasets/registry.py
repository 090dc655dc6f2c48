"""All datasets by slug or name, known without any of their data.

The paper's 36 are those that ``paper.toml`` lists. A record with an error is left out with a
warning and does no harm to the others.
"""

import difflib
import tomllib
import warnings
from functools import cache
from pathlib import Path

from datasets.errors import DataWarning, RecordError, UnknownDatasetError
from datasets.record import Record
from datasets.record_file import read_record

RECORDS = Path(__file__).parent / "records"
PAPER = Path(__file__).parent / "paper.toml"


@cache
def _scanned(folder: Path) -> tuple[dict[str, Record], dict[str, str]]:
    """The good records, the paper's first and in its order, and what is wrong with the others."""
    listed = tomllib.loads(PAPER.read_text(encoding="utf-8"))
    papers = [*listed["binary"], *listed["multi"]]
    good: list[Record] = []
    broken: dict[str, str] = {}
    for path in sorted(folder.glob("*.toml")):
        try:
            good.append(read_record(path, papers))
        except RecordError as error:
            broken[path.stem] = str(error)
            warnings.warn(f"record left out: {error}", DataWarning, stacklevel=4)
    place = {slug: number for number, slug in enumerate(papers)}
    good.sort(key=lambda entry: (place.get(entry.slug, len(papers)), entry.task, entry.slug))
    return {entry.slug: entry for entry in good}, broken


def _records() -> dict[str, Record]:
    return _scanned(RECORDS)[0]


def all_records() -> dict[str, Record]:
    """Every good record by slug: the paper's in the order of its tables, then the others."""
    return dict(_records())


def broken_records() -> dict[str, str]:
    """What is wrong with the records that are left out, by slug."""
    return dict(_scanned(RECORDS)[1])


def paper_datasets() -> tuple[str, ...]:
    """Slugs in the order of the paper's tables: 22 binary, then 14 multi-class datasets."""
    return tuple(slug for slug, entry in _records().items() if entry.in_paper)


def record(slug: str) -> Record:
    """The record of a dataset, given by slug or by the name printed in the paper."""
    return _records()[resolve(slug)]


def resolve(text: str) -> str:
    """The slug that ``text`` stands for: a slug or a printed name, in any case.

    An ``UnknownDatasetError`` suggests the nearest; a ``RecordError`` says what is wrong with it.
    """
    known = _records()
    wanted = "-".join(text.casefold().replace("_", " ").replace("-", " ").split())
    if wanted in known:
        return wanted
    if wanted in broken_records():
        raise RecordError(broken_records()[wanted])
    near = difflib.get_close_matches(wanted, known, 3, cutoff=0.5)
    if near:
        hint = f"did you mean {' or '.join(filter(None, (', '.join(near[:-1]), near[-1])))}?"
    else:
        hint = f"known are {', '.join(known)}"
    raise UnknownDatasetError(f"no dataset {text!r}; {hint}")
