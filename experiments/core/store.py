"""The run store: a folder of append-only JSON lines, one record per finished job.

Records lie in ``<protocol>/<dataset>.jsonl`` (those of searches in
``search-<protocol>/``), rolled over before a file grows too large to commit.
Versions and machines are spelled out once, in ``environments.jsonl``; what the
store was asked for is in ``planned.jsonl``. Which record of a key counts
depends on the records alone, so stores of several machines can be merged in
any order. Lines that are no records are set aside and named, never believed.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.core import machine, planned, predictions
from experiments.core.files import append_line, read_lines, replace_lines, write_files
from experiments.core.job import HOLDOUT, Job, canonical_json
from experiments.core.record import BadRecordError, RunRecord, checked

if TYPE_CHECKING:
    import pandas as pd

COMMITTED = Path(__file__).resolve().parents[2] / "results" / "records"
LOCAL = Path(".runs")
ROLL_AT_BYTES = 900_000
ENVIRONMENTS = "environments.jsonl"
HASHES = "hashes.csv"
PREDICTIONS_KEPT = ("tuned", "default")
"""Experiments whose predicted classes are kept in a compact store."""

_PREFERENCE = {"ok": 2, "skipped": 0}  # every other status: 1


@dataclass(frozen=True)
class Contents:
    """Everything that was read from a store's files of records.

    Attributes
    ----------
    history : every good record, superseded ones too, file by file.
    problems : ``file:line: what is wrong`` for every line that was set aside.
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
        name = shelf(record)
        part = self._part.get(name, 1)
        while (path := self._file(name, part)).exists() and path.stat().st_size > ROLL_AT_BYTES:
            part += 1
        self._part[name] = part
        append_line(path, record.to_dict())

    def append_environment(self, description: dict[str, Any]) -> None:
        """Spell out an environment unless it is known already."""
        if self._known_environments is None:
            self._known_environments = set(self.environments())
        if description["id"] not in self._known_environments:
            append_line(self.folder / ENVIRONMENTS, description)
            self._known_environments.add(description["id"])

    def environments(self) -> dict[str, dict[str, Any]]:
        lines = read_lines(self.folder / ENVIRONMENTS).values
        return {
            line["id"]: line
            for _, line in lines
            if isinstance(line, dict) and isinstance(line.get("id"), str)
        }

    def contents(self) -> Contents:
        """Read every file of records."""
        found = Contents(problems=[])
        torn = 0
        for path in self._files():
            lines = read_lines(path)
            torn += lines.torn
            found.problems.extend(lines.problems)
            for number, values in lines.values:
                try:
                    found.history.append(checked(values))
                except BadRecordError as problem:
                    found.problems.append(f"{path}:{number}: {problem}")
        return Contents(found.history, found.problems, torn)

    def latest(self) -> dict[str, RunRecord]:
        """The record that counts for each key."""
        return resolve(self.contents().history)

    def records(self) -> list[RunRecord]:
        """The records that count, one per key."""
        return list(self.latest().values())

    def plan(self) -> list[Job]:
        """What the store was asked for."""
        return planned.read_plan(self.folder)

    def frame(self) -> pd.DataFrame:
        """The records that count as a table, one row per key and one column per field."""
        import pandas as pd

        columns = list(RunRecord.__dataclass_fields__)
        rows = [[getattr(record, name) for name in columns] for record in self.records()]
        return pd.DataFrame(rows, columns=columns)

    def compact(self) -> None:
        """Rewrite every file without superseded lines, in an order that is always the same.

        The predicted classes of ``tuned`` and ``default`` are packed, one file per dataset;
        probabilities and trees are dropped. ``hashes.csv`` says what the files should be. For
        stores at rest only, before they are committed.
        """
        shelves: dict[str, list[RunRecord]] = {}
        for record in sorted(self.records(), key=_shelf_order):
            shelves.setdefault(shelf(record), []).append(record)
        before = set(self._files())
        written: set[Path] = set()
        for name, records in shelves.items():
            for part, chunk in enumerate(_chunks(records), start=1):
                path = self._file(name, part)
                replace_lines(path, [record.to_dict() for record in chunk])
                written.add(path)
        for path in before - written:
            if path.is_file():
                path.unlink()
        plan = self.plan()
        planned.write_plan(self.folder, plan)
        kept = {job.key for job in plan if job.experiment in PREDICTIONS_KEPT}
        every = [record for records in shelves.values() for record in records]
        predictions.pack_all(self.folder, [record for record in every if record.key in kept])
        self._part.clear()
        self.write_hashes()

    def hashes(self) -> dict[str, str]:
        """SHA-256 of every file of records and of the plan, by name below the folder."""
        files = [*self._files(), self.folder / planned.PLANNED]
        return {
            path.relative_to(self.folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in files
            if path.is_file()
        }

    def write_hashes(self) -> None:
        """Say what the files of records should be, for a store that is committed."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([("file", "sha256"), *sorted(self.hashes().items())])
        write_files(self.folder, {HASHES: text.getvalue()})

    def changed_files(self) -> list[str] | None:
        """Files that are not as ``hashes.csv`` says; ``None`` in a store without it."""
        path = self.folder / HASHES
        if not path.is_file():
            return None
        with path.open(newline="", encoding="utf-8", errors="replace") as file:
            said = {row.get("file", ""): row.get("sha256") for row in csv.DictReader(file)}
        found = self.hashes()
        return sorted(
            name for name in said.keys() | found.keys() if said.get(name) != found.get(name)
        )

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*/*.jsonl"))

    def _file(self, name: str, part: int) -> Path:
        return self.folder / (f"{name}.jsonl" if part == 1 else f"{name}.{part}.jsonl")


def resolve(records: Iterable[RunRecord]) -> dict[str, RunRecord]:
    """One record per key: a success before a failure before a skip, then the latest."""
    best: dict[str, RunRecord] = {}
    for record in records:
        known = best.get(record.key)
        if known is None or precedence(record) > precedence(known):
            best[record.key] = record
    return best


def conflicts(history: Iterable[RunRecord]) -> list[tuple[RunRecord, RunRecord]]:
    """Pairs of successful records of one job that disagree in a score."""
    first: dict[str, RunRecord] = {}
    found = []
    for record in history:
        if record.status == "ok":
            known = first.setdefault(record.key, record)
            if known.scores() != record.scores():
                found.append((known, record))
    return found


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


def _shelf_order(record: RunRecord) -> tuple[str, str, str, int, int, str]:
    params = canonical_json(record.params)
    return shelf(record), record.method, params, record.seed, record.trial, record.key


def _chunks(records: list[RunRecord]) -> Iterable[list[RunRecord]]:
    """Records in files of at most ``ROLL_AT_BYTES``."""
    chunk: list[RunRecord] = []
    size = 0
    for record in records:
        length = len(canonical_json(record.to_dict())) + 1
        if chunk and size + length > ROLL_AT_BYTES:
            yield chunk
            chunk, size = [], 0
        chunk.append(record)
        size += length
    if chunk:
        yield chunk


@dataclass
class Merged:
    """What came of bringing one store into another.

    ``conflicts`` are jobs that both finished with different scores; what was
    there before is kept.
    """

    new: int = 0
    newer: int = 0
    known: int = 0
    conflicts: list[tuple[RunRecord, RunRecord]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def merge(source: Store, target: Store, with_predictions: bool = True) -> Merged:
    """Bring the records that count in ``source`` into ``target``; repeating it adds nothing."""
    known, contents = target.latest(), source.contents()
    merged = Merged(problems=contents.problems)
    for description in source.environments().values():
        target.append_environment(description)
    planned.add_plan(target.folder, source.plan())
    planned.add_facts(
        target.folder,
        planned.read_datasets(source.folder).values(),
        planned.read_learners(source.folder).values(),
    )
    for key, record in resolve(contents.history).items():
        ours = known.get(key)
        if ours is None:
            merged.new += 1
        elif ours.status == record.status == "ok" and ours.scores() != record.scores():
            merged.conflicts.append((ours, record))
            continue
        elif precedence(record) > precedence(ours):
            merged.newer += 1
        else:
            merged.known += 1
            continue
        if with_predictions:
            predictions.copy(source.folder, target.folder, record)
        target.append(record)
    return merged
