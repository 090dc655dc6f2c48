"""The run store: a folder of append-only JSON lines, one record per finished job.

Records lie in ``<protocol>/<dataset>.jsonl`` (those of searches in
``search-<protocol>/``), rolled over before a file grows too large to commit.
Versions and machines are spelled out once, in ``environments.jsonl``. Several
processes may append to one store, and stores of several machines can be
merged, because which record of a key counts depends on the records alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.core import machine, predictions
from experiments.core.files import append_line, read_lines, replace_lines
from experiments.core.job import HOLDOUT, canonical_json
from experiments.core.record import RunRecord

if TYPE_CHECKING:
    import pandas as pd


COMMITTED = Path(__file__).resolve().parents[2] / "results" / "records"
LOCAL = Path(".runs")
ROLL_AT_BYTES = 900_000
ENVIRONMENTS = "environments.jsonl"

_PREFERENCE = {"ok": 2, "skipped": 0}  # every other status: 1


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
        return {line["id"]: line for line in read_lines(self.folder / ENVIRONMENTS).values}

    def history(self) -> list[RunRecord]:
        """Every whole record, superseded ones too, file by file."""
        return self._read()[0]

    def torn(self) -> int:
        """How many lines were cut short by a kill."""
        return self._read()[1]

    def latest(self) -> dict[str, RunRecord]:
        """The record that counts for each key."""
        return resolve(self.history())

    def records(self) -> list[RunRecord]:
        """The records that count, one per key."""
        return list(self.latest().values())

    def frame(self) -> pd.DataFrame:
        """The records that count as a table, one row per key and one column per field."""
        import pandas as pd

        columns = list(RunRecord.__dataclass_fields__)
        rows = [[getattr(record, name) for name in columns] for record in self.records()]
        return pd.DataFrame(rows, columns=columns)

    def compact(self) -> None:
        """Rewrite every file without superseded records, in an order that is always the same.

        For stores at rest only, before they are committed.
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
            path.unlink()
        self._part.clear()

    def _read(self) -> tuple[list[RunRecord], int]:
        records, torn = [], 0
        for path in self._files():
            lines = read_lines(path)
            records += [RunRecord.from_dict(value) for value in lines.values]
            torn += lines.torn
        return records, torn

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


def precedence(record: RunRecord) -> tuple[int, str, str]:
    """Total order among the records of one key, so that merging in any order agrees."""
    return (
        _PREFERENCE.get(record.status, 1),
        record.finished,
        canonical_json(record.to_dict()),
    )


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
class Tally:
    """How many records were new, better than what was there, or known already."""

    new: int = 0
    better: int = 0
    known: int = 0


def merge(source: Store, target: Store, with_predictions: bool = True) -> Tally:
    """Bring the records that count in ``source`` into ``target``; repeating it adds nothing."""
    known = target.latest()
    tally = Tally()
    for description in source.environments().values():
        target.append_environment(description)
    for key, record in source.latest().items():
        if key not in known:
            tally.new += 1
        elif precedence(record) > precedence(known[key]):
            tally.better += 1
        else:
            tally.known += 1
            continue
        path = predictions.path_of(source.folder, record)
        if with_predictions and path.exists():
            predictions.save(target.folder, record, path.read_bytes())
        target.append(record)
    return tally
