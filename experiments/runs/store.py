"""The table of runs while running: one SQLite file that several processes may write.

``runs`` has one row per key: of two outcomes of a job a success counts before a failure before
a skip, then the later one; the first success stays, and one that contradicts it is reported.
``planned`` says which experiment asks for which key; the later plan of a place wins.
``facts`` spells out datasets, learners and environments by name, ``predictions`` keeps what a
job predicted, and ``running`` keeps two processes from doing the same job.
"""

import contextlib
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.runs.schema import COLUMNS, NAMES, SCORES, Run, check, disagreement

LOCAL = Path(".runs")
FILE = "runs.sqlite"
CLAIM_SECONDS = 60.0
"""A process that has not renewed its claims for so long is taken for dead."""
BUSY_SECONDS = 60.0
PREFERENCE = {"ok": 2, "skipped": 0}  # every other status: 1

PLANNED = ("experiment", "protocol", "dataset", "method", "trial", "seed", "repeat", "key")
_TYPES = {str: "TEXT", int: "INTEGER", float: "REAL"}
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS runs (
    {", ".join(f'"{c.name}" {_TYPES[c.type]}' for c in COLUMNS if c.name != "key")},
    key TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS planned (
    experiment TEXT, protocol TEXT, dataset TEXT, method TEXT, trial INTEGER, seed INTEGER,
    repeat TEXT, key TEXT,
    PRIMARY KEY (experiment, protocol, dataset, method, trial, seed, repeat)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (
    kind TEXT, name TEXT, value TEXT, PRIMARY KEY (kind, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS predictions (key TEXT PRIMARY KEY, packed BLOB);
CREATE TABLE IF NOT EXISTS running (key TEXT PRIMARY KEY, owner TEXT, beat REAL);
"""
_QUOTED = ", ".join(f'"{name}"' for name in NAMES)
_INSERT = f"INSERT INTO runs ({_QUOTED}) VALUES ({', '.join('?' * len(NAMES))})"


@dataclass
class Added:
    """What became of runs that were offered to a store."""

    new: int = 0
    known: int = 0
    conflicts: list[str] = field(default_factory=list)
    """Successful runs that contradict the store's own; the store's stay."""


class Store:
    """The table of runs in a folder, which is made when it is opened first."""

    def __init__(self, folder: Path | str = LOCAL) -> None:
        self.folder = Path(folder)
        self._connection: sqlite3.Connection | None = None

    @property
    def exists(self) -> bool:
        return (self.folder / FILE).is_file()

    def connect(self) -> sqlite3.Connection:
        if self._connection is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self.folder / FILE, timeout=BUSY_SECONDS, isolation_level=None
            )
            self._connection.row_factory = sqlite3.Row
            pragmas = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
            self._connection.executescript(pragmas + _SCHEMA)
            known = [row["name"] for row in self._connection.execute("PRAGMA table_info(runs)")]
            for column in (each for each in COLUMNS if each.name not in known):  # an older store
                with contextlib.suppress(sqlite3.OperationalError):  # another process was faster
                    added = f'"{column.name}" {_TYPES[column.type]}'
                    self._connection.execute(f"ALTER TABLE runs ADD COLUMN {added}")
        return self._connection

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or nothing is kept."""
        connection = self.connect()
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def add(self, runs: Iterable[Run], predictions: Mapping[str, bytes] | None = None) -> Added:
        """Add checked runs and what they predicted in one transaction; nothing if one is no run."""
        added = Added()
        rows = [check(run) for run in runs]
        with self.writing() as connection:
            for row in rows:
                packed = (predictions or {}).get(row["key"])
                if self._place(connection, row, added) and packed is not None:
                    connection.execute(  # what is kept of a success stays
                        "INSERT OR IGNORE INTO predictions VALUES (?, ?)", (row["key"], packed)
                    )
        return added

    def _place(self, connection: sqlite3.Connection, row: dict[str, Any], added: Added) -> bool:
        """Keep a row or not; whether its predictions may be kept."""
        key = row["key"]
        known = connection.execute("SELECT * FROM runs WHERE key = ?", (key,)).fetchone()
        if known is None:
            connection.execute(_INSERT, [row[name] for name in NAMES])
            added.new += 1
            return True
        if known["status"] == row["status"] == "ok":
            if differing := disagreement(dict(known), row):
                where = f"{row['protocol']} {row['dataset']} {row['method']} trial {row['trial']}"
                added.conflicts.append(f"{where} (job {key}): {differing}")
                return False
            # Its seconds and origin stay; scores that it lacks are added.
            lacking = ", ".join(f"{name} = coalesce({name}, ?)" for name in SCORES)
            scores = [row[name] for name in SCORES]
            connection.execute(f"UPDATE runs SET {lacking} WHERE key = ?", (*scores, key))
        elif precedence(row) > precedence(known):
            connection.execute("DELETE FROM runs WHERE key = ?", (key,))
            connection.execute(_INSERT, [row[name] for name in NAMES])
        added.known += 1
        return bool(row["status"] == "ok")

    def forget(self, keys: Iterable[str]) -> None:
        """Delete runs and what they predicted; what was planned stays."""
        rows = [(key,) for key in keys]
        with self.writing() as connection:
            connection.executemany("DELETE FROM runs WHERE key = ?", rows)
            connection.executemany("DELETE FROM predictions WHERE key = ?", rows)

    def plan(self, jobs: Iterable[Any]) -> None:
        """Note which experiment asks for which jobs (or rows of a plan); the later plan of a place
        wins.
        """
        rows = [tuple(getattr(job, name) for name in PLANNED) for job in jobs]
        with self.writing() as connection:
            marks = ", ".join("?" * len(PLANNED))
            connection.executemany(f"INSERT OR REPLACE INTO planned VALUES ({marks})", rows)

    def add_facts(self, kind: str, facts: Mapping[str, Mapping[str, Any]]) -> None:
        """Spell out datasets, learners or environments by name; new words replace old ones."""
        rows = [(kind, name, json.dumps(value, sort_keys=True)) for name, value in facts.items()]
        with self.writing() as connection:
            connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", rows)

    def facts(self, kind: str) -> dict[str, dict[str, Any]]:
        if not self.exists:
            return {}
        rows = self.connect().execute("SELECT name, value FROM facts WHERE kind = ?", (kind,))
        return {row["name"]: json.loads(row["value"]) for row in rows}

    def statuses(self) -> dict[str, dict[str, Any]]:
        """Status, reason, limit, extra and seconds of every run, by key; cheap to read."""
        if not self.exists:
            return {}
        columns = "key, status, reason, limit_value, extra, cpu_seconds, method, dataset, trial"
        rows = self.connect().execute(f"SELECT {columns} FROM runs")
        return {row["key"]: dict(row) for row in rows}

    def run(self, key: str) -> dict[str, Any] | None:
        row = self.connect().execute("SELECT * FROM runs WHERE key = ?", (key,)).fetchone()
        return None if row is None else {name: row[name] for name in NAMES}

    def predictions(self, key: str) -> bytes | None:
        rows = self.connect().execute("SELECT packed FROM predictions WHERE key = ?", (key,))
        found = rows.fetchone()
        return None if found is None else bytes(found["packed"])

    def predicted_keys(self) -> set[str]:
        return {row["key"] for row in self.connect().execute("SELECT key FROM predictions")}

    def frame(self, table: str = "runs") -> pd.DataFrame:
        """The runs (or ``planned``) as a frame."""
        names = {"runs": NAMES, "planned": PLANNED}[table]
        quoted = ", ".join(f'"{name}"' for name in names)
        rows = self.connect().execute(f"SELECT {quoted} FROM {table}").fetchall()
        frame = pd.DataFrame([tuple(row) for row in rows], columns=list(names))
        return typed(frame) if table == "runs" else frame

    def claim(self, key: str, owner: str) -> bool:
        """Whether this process may start a job: nobody else has, and no success is stored."""
        taken = (
            "SELECT 1 FROM runs WHERE key = ?1 AND status = 'ok' UNION ALL "
            "SELECT 1 FROM running WHERE key = ?1 AND owner != ?2 AND beat > ?3"
        )
        with self.writing() as connection:
            values = (key, owner, time.time() - CLAIM_SECONDS)
            if connection.execute(taken, values).fetchone():
                return False
            beat = (key, owner, time.time())
            connection.execute("INSERT OR REPLACE INTO running VALUES (?, ?, ?)", beat)
        return True

    def renew_claims(self, owner: str) -> None:
        with self.writing() as connection:
            connection.execute("UPDATE running SET beat = ? WHERE owner = ?", (time.time(), owner))

    def release(self, owner: str, keys: Iterable[str] | None = None) -> None:
        """Give up claims: those of some jobs, or all of a process that ends."""
        rows = [(owner, None)] if keys is None else [(owner, key) for key in keys]
        with self.writing() as connection:
            given_up = "DELETE FROM running WHERE owner = ?1 AND key = coalesce(?2, key)"
            connection.executemany(given_up, rows)


def precedence(run: Run | sqlite3.Row) -> tuple[int, str]:
    """Order among the runs of one key, so that merging in any order agrees."""
    return PREFERENCE.get(run["status"], 1), run["finished"] or ""


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns with the types of the schema: whole numbers may be missing, texts never are."""
    kinds = {str: "string", int: "Int64", float: "float64"}
    frame = frame.astype({c.name: kinds[c.type] for c in COLUMNS if c.name in frame})
    texts = [c.name for c in COLUMNS if c.type is str and c.name in frame]
    return frame.assign(**{name: frame[name].fillna("").astype(object) for name in texts})
