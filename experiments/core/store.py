"""The run store: a folder of append-only JSON lines, one record per finished job.

Records lie in ``<protocol>/<dataset>.jsonl`` (those of searches in
``search-<protocol>/``), rolled over before a file grows too large to commit;
``merge --compact`` packs them into one ``.jsonl.gz`` each, a ninth of the size.
Versions and machines are spelled out once, in ``environments.jsonl``; what the
store was asked for is in ``planned.jsonl``, packed likewise. Which record of a key counts
depends on the records alone, so stores of several machines can be merged in
any order. Lines that are no records are set aside and named, never believed.
"""

from __future__ import annotations

import stat
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.core import machine, manifest, planned
from experiments.core.checks import is_line_of_text, is_plain_mapping, shown
from experiments.core.files import PACKED, append_line, append_lines, read_lines
from experiments.core.job import HOLDOUT, Job, canonical_json
from experiments.core.record import SCORES, BadRecordError, RunRecord, checked

if TYPE_CHECKING:
    import pandas as pd

COMMITTED = Path(__file__).resolve().parents[2] / "results" / "records"
LOCAL = Path(".runs")
ROLL_AT_BYTES = 900_000
TOGETHER = 200
ENVIRONMENTS = "environments.jsonl"

_PREFERENCE = {"ok": 2, "skipped": 0}  # every other status: 1


@dataclass(frozen=True)
class Contents:
    """Everything that was read from a store's files of records.

    Attributes
    ----------
    history : every good record, superseded ones too, file by file.
    problems : ``file:line: what is wrong`` for every line that was set aside, of files about
        the records too; and the files that are not as ``hashes.csv`` says.
    torn : lines that a kill cut short; their jobs will run again.
    """

    history: list[RunRecord] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    torn: int = 0


class Store:
    """Append records to a folder and read them back, one per key.

    Parameters
    ----------
    folder : path
        Made at the first append.
    """

    def __init__(self, folder: Path | str = LOCAL) -> None:
        self.folder = Path(folder)
        self._part: dict[str, int] = {}
        self._known_environments: set[str] | None = None

    def append(self, record: RunRecord) -> None:
        """Add one record, durably; the environment of this process goes with it once."""
        if record.environment == machine.describe()["id"]:
            self.append_environment(machine.describe())
        append_line(self._open_file(shelf(record)), record.to_dict())

    def append_all(self, records: Iterable[RunRecord]) -> None:
        """Add records of other stores, waiting for the disk once per some hundred of them."""
        shelves: dict[str, list[RunRecord]] = {}
        for record in records:
            shelves.setdefault(shelf(record), []).append(record)
        for name, some in shelves.items():
            for at in range(0, len(some), TOGETHER):
                together = some[at : at + TOGETHER]
                append_lines(self._open_file(name), [record.to_dict() for record in together])

    def _open_file(self, name: str) -> Path:
        """The file of a shelf that takes more records."""
        part = self._part.get(name, 1)
        while not _takes_more(path := self.file_of(name, part)):
            part += 1
        self._part[name] = part
        return path

    def append_environment(self, description: dict[str, Any]) -> None:
        """Spell out an environment unless it is known already."""
        if self._known_environments is None:
            self._known_environments = set(self.environments())
        if description["id"] not in self._known_environments:
            append_line(self.folder / ENVIRONMENTS, description)
            self._known_environments.add(description["id"])

    def environments(self, problems: list[str] | None = None) -> dict[str, dict[str, Any]]:
        """By identifier.

        Parameters
        ----------
        problems : gets a line for everything that describes no environment.
        """
        path = self.folder / ENVIRONMENTS
        lines = read_lines(path)
        found, bad = {}, list(lines.problems)
        for number, line in lines.values:
            if _is_environment(line):
                found[line["id"]] = line
            else:
                bad.append(f"{path}:{number}: no environment")
        if problems is not None:
            problems += bad
        return found

    def contents(self) -> Contents:
        """Read every file of records, and look at what lies beside them."""
        found = read_records(self.files())
        planned.read_plan(self.folder, found.problems)
        planned.read_datasets(self.folder, found.problems)
        planned.read_learners(self.folder, found.problems)
        self.environments(found.problems)
        differing = manifest.changes(self.folder)
        for name in differing.altered if differing else ():
            found.problems.append(f"{self.folder / name}: not as {manifest.HASHES} says")
        if disagreeing := conflicts(found.history):
            found.problems.append(
                f"{self.folder}: {len(disagreeing):,} jobs have two records that "
                f"contradict each other, e.g. {conflict_text(*disagreeing[0])}"
            )
        return found

    def latest(self) -> dict[str, RunRecord]:
        """The record that counts for each key."""
        return resolve(self.contents().history)

    def records(self) -> list[RunRecord]:
        """The records that count, one per key."""
        return list(self.latest().values())

    def records_of(self, datasets: Collection[str]) -> list[RunRecord]:
        """The records that count of some datasets; no other file is read."""
        starts = tuple(f"{slug}." for slug in datasets)
        paths = [path for path in self.files() if path.name.startswith(starts)]
        history = read_records(paths).history
        return list(resolve(r for r in history if r.dataset in datasets).values())

    def plan(self) -> list[Job]:
        """What the store was asked for."""
        return planned.read_plan(self.folder)

    def frame(self) -> pd.DataFrame:
        """The records that count as a table, one row per key and one column per field."""
        import pandas as pd

        columns = list(RunRecord.__dataclass_fields__)
        rows = [[getattr(record, name) for name in columns] for record in self.records()]
        return pd.DataFrame(rows, columns=columns)

    def forget_parts(self) -> None:
        """Look again which file of each shelf takes the next record."""
        self._part.clear()

    def files(self) -> list[Path]:
        """The files of records, whatever they hold."""
        return sorted([*self.folder.glob("*/*.jsonl"), *self.folder.glob(f"*/*.jsonl{PACKED}")])

    def file_of(self, name: str, part: int) -> Path:
        """The file of a shelf, of which there may be several."""
        return self.folder / (f"{name}.jsonl" if part == 1 else f"{name}.{part}.jsonl")


_faultless: dict[str, list[RunRecord]] = {}
"""Records of packed files without a fault, by the SHA-256 of a file: a process reads each once."""


def read_records(paths: Iterable[Path]) -> Contents:
    """The records of files, and what is wrong with the rest of their lines."""
    history, problems, torn = [], [], 0
    for path in paths:
        digest = manifest.digest_of(path) if path.suffix == PACKED else None
        if digest in _faultless:
            history += _faultless[digest]
            continue
        found = _read_one(path)
        if digest is not None and not found.problems and not found.torn:
            _faultless[digest] = found.history
        history += found.history
        problems += found.problems
        torn += found.torn
    return Contents(history, problems, torn)


def _read_one(path: Path) -> Contents:
    lines = read_lines(path)
    history, problems = [], list(lines.problems)
    for number, values in lines.values:
        try:
            history.append(checked(values))
        except BadRecordError as problem:
            problems.append(f"{path}:{number}: {problem}")
    return Contents(history, problems, lines.torn)


def _takes_more(path: Path) -> bool:
    """Whether a record may be added to a file, or to one that is yet to be made."""
    try:
        facts = path.stat()
    except FileNotFoundError:
        return True
    return stat.S_ISREG(facts.st_mode) and facts.st_size <= ROLL_AT_BYTES


def _is_environment(line: Any) -> bool:
    return (
        is_plain_mapping(line)
        and is_line_of_text(line.get("id"))
        and all(isinstance(line.get(name, {}), dict) for name in ("versions", "machine"))
    )


def resolve(records: Iterable[RunRecord]) -> dict[str, RunRecord]:
    """One record per key: a success before a failure before a skip, then the latest."""
    best: dict[str, RunRecord] = {}
    for record in records:
        known = best.get(record.key)
        if known is None or precedence(record) > precedence(known):
            best[record.key] = record
    return best


def conflicts(history: Iterable[RunRecord]) -> list[tuple[RunRecord, RunRecord]]:
    """Pairs of records of one job that cannot both be true.

    Two successful ones with different scores, or two that ended at the same moment and differ.
    """
    succeeded: dict[str, RunRecord] = {}
    at_once: dict[tuple[str, str], RunRecord] = {}
    found = []
    for record in history:
        known = at_once.setdefault((record.key, record.finished), record)
        if record.status == "ok" and (known is record or known == record):
            known = succeeded.setdefault(record.key, record)
            if known is record or known.agrees_with(record):
                continue
        if known is not record and known != record:
            found.append((known, record))
    return found


def conflict_text(ours: RunRecord, theirs: RunRecord) -> str:
    """Where two records of one job disagree, for people."""
    names = [name for name in SCORES if getattr(ours, name) != getattr(theirs, name)]
    names = names or [f.name for f in fields(ours) if _differs(ours, theirs, f.name)]
    differing = [f"{n} {shown(getattr(ours, n))} and {shown(getattr(theirs, n))}" for n in names]
    where = f"{ours.protocol} {ours.dataset} {ours.method} trial {ours.trial}"
    return f"{where} (job {ours.key}): {', '.join(differing)}"


def _differs(ours: RunRecord, theirs: RunRecord, name: str) -> bool:
    return bool(getattr(ours, name) != getattr(theirs, name))


def precedence(record: RunRecord) -> tuple[int, str, str]:
    """Total order among the records of one key, so that merging in any order agrees.

    A date in the future says that a clock was wrong; it outranks nothing.
    """
    date = record.finished if record.finished <= _soon() else ""
    return _PREFERENCE.get(record.status, 1), date, canonical_json(record.to_dict())


def _soon() -> str:
    """The end of this day, as the dates of records are written."""
    return datetime.now(UTC).strftime("%Y-%m-%dT99")


def shelf(record: RunRecord) -> str:
    """The file, without suffix, in which a record lies."""
    folder = record.protocol if record.evaluation == HOLDOUT else f"search-{record.protocol}"
    return f"{folder}/{record.dataset}"
