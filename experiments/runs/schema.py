"""What a run is: a job (one learner with fixed parameters on one trial of a dataset), its key, and
the row that comes of it. Every column is declared once, in ``columns.toml``: the SQLite table, the
Parquet files, the checks of what is read, the list of metrics and the documentation follow from it.
"""

import contextlib
import hashlib
import json
import math
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

Status = Literal["ok", "timeout", "memory", "crash", "error", "skipped"]
STATUSES: tuple[Status, ...] = get_args(Status)
Run = Mapping[str, Any]
"""One row of the table: a value, or ``None``, for every column."""

HOLDOUT = "holdout"
SLUG = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,98}[a-z0-9])?")


class BadRunError(ValueError):
    """A row that is no run; the message names the column and what is wrong with it."""


@dataclass(frozen=True)
class Column:
    """A column of the table of runs; see ``columns.toml`` for what the fields mean."""

    name: str
    type: type
    kind: Literal["identity", "outcome", "score", "cost", "origin", "text"]
    meaning: str
    low: float = -math.inf
    high: float = math.inf
    better: Literal["", "high", "low"] = ""
    in_tables: str = ""
    needed: bool = False
    longest: int = 200
    pattern: str = ""
    score: Callable[[Any, Any], float | None] | None = None
    """Of a metric that is no column: what it is computed by."""
    of_numbers: bool = False


def _declared() -> Iterator[Column]:
    types = {"text": str, "int": int, "float": float}
    text = Path(__file__).with_name("columns.toml").read_text(encoding="utf-8")
    for name, facts in tomllib.loads(text)["columns"].items():
        yield Column(**{**facts, "name": name, "type": types[facts["type"]]})


COLUMNS: tuple[Column, ...] = tuple(_declared())
BY_NAME: dict[str, Column] = {column.name: column for column in COLUMNS}
NAMES: tuple[str, ...] = tuple(BY_NAME)
LONGEST_JSON = BY_NAME["extra"].longest
SCORES: tuple[str, ...] = tuple(c.name for c in COLUMNS if c.kind == "score")
METRICS: dict[str, Column] = {c.name: c for c in COLUMNS if c.better}
"""Columns that a table can be made of."""
MAIN_SCORES = ("test_f1", "test_r2")
"""Of classes and of numbers; every successful run has one of them."""
LARGEST_WHOLE = 2**63 - 1
"""That SQLite and Parquet keep."""
_SURROGATE = re.compile("[\\ud800-\\udfff]")
LOG_ROUNDING = 1e-12
"""Of log losses, whose last digits differ between processors."""


def check(values: Mapping[str, Any]) -> dict[str, Any]:
    """A complete row from what a job or a file offers; ``BadRunError`` for unknown columns, wrong
    types, values out of range and a key that its own fields do not give.
    """
    if unknown := sorted(set(values) - set(BY_NAME)):
        raise BadRunError(f"unknown column {unknown[0]!r}: written by a newer version?")
    row = {name: checked(column, values.get(name)) for name, column in BY_NAME.items()}
    consistent(row)
    return row


def consistent(row: Run) -> None:
    """``BadRunError`` for columns that contradict each other."""
    scored = [name for name in SCORES if row[name] is not None]
    if row["status"] == "ok":
        needed = MAIN_SCORES if row["evaluation"] == HOLDOUT else ("valid_f1",)
        if all(row[name] is None for name in needed):
            raise BadRunError(f"ok, but without {' or '.join(needed)}")
    elif scored:
        raise BadRunError(f"{row['status']}, but with {scored[0]}")
    if key_of(row) != row["key"]:
        raise BadRunError(f"its key {row['key']} is not that of its columns")


def checked(column: Column, value: Any) -> Any:
    """A value as its column has it, or ``BadRunError``."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        if column.needed:
            raise BadRunError(f"no {column.name}")
        return None
    if column.type is str:
        if not isinstance(value, str):
            raise BadRunError(f"{column.name} is {value!r:.60}, not a text")
        if (long := len(value)) > column.longest:
            raise BadRunError(f"{column.name} has {long:,} characters, over {column.longest:,}")
        if _SURROGATE.search(value):
            raise BadRunError(f"{column.name} has half a character")
        if column.pattern and not re.fullmatch(column.pattern, value):
            raise BadRunError(f"{column.name} is {value!r:.60}, not {column.meaning}")
        if column.name in ("params", "extra"):
            with contextlib.suppress(ValueError, RecursionError):
                if isinstance(json.loads(value), dict):
                    return value
            raise BadRunError(f"{column.name} is no JSON object: {value!r:.60}")
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadRunError(f"{column.name} is {value!r:.60}, not a number")
    most = LARGEST_WHOLE if column.type is int else sys.float_info.max
    if not -most <= value <= most:
        raise BadRunError(f"{column.name} is beyond {most:g}")
    if column.type is int and value != int(value):
        raise BadRunError(f"{column.name} is {value!r}, not a whole number")
    if not column.low <= value <= column.high:
        raise BadRunError(f"{column.name} is {value!r}, not between {column.low} and {column.high}")
    return column.type(value)


def disagreement(ours: Run, theirs: Run) -> str:
    """Where two successful runs of one job differ in a score; empty if they agree. A score that
    only one of them has is no disagreement: older runs lack some.
    """
    told = []
    for name in SCORES:
        a, b = ours[name], theirs[name]
        rounding = LOG_ROUNDING if name == "test_log_loss" else 0.0
        if None not in (a, b) and abs(a - b) > rounding * max(1.0, abs(a), abs(b)):
            told.append(f"{name} {a!r} and {b!r}")
    return ", ".join(told)


def documentation() -> str:
    """The list of columns as a Markdown table."""
    lines = ["| column | type | kind | meaning |", "|---|---|---|---|"]
    lines += [f"| `{c.name}` | {c.type.__name__} | {c.kind} | {c.meaning} |" for c in COLUMNS]
    return "\n".join(lines)


# Jobs.

Measured = Literal["shared", "alone"]
PERTURBATION = "perturbation"
"""Parameter that numbers the repetitions of a job with slightly moved training rows."""
IDENTITY = (
    *("content_hash", "protocol", "protocol_version", "method", "method_version"),
    *("params", "trial", "seed", "measured", "evaluation"),
)
KEY_LENGTH = 20
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical_json(value: Any) -> str:
    """One spelling per value: sorted keys, no blanks, no NaN."""
    return _ENCODER.encode(value)


def key_of(work: Mapping[str, Any]) -> str:
    """Hash of everything that can change the outcome of a job; not of its experiment."""
    identity = [work[name] for name in IDENTITY]
    return hashlib.sha256(canonical_json(identity).encode()).hexdigest()[:KEY_LENGTH]


@dataclass(frozen=True)
class Job:
    """Frozen and JSON-able; equal work has an equal ``key`` whatever experiment asks for it.

    ``params`` is canonical JSON. Measured ``alone`` no other job runs meanwhile, so that seconds
    may be compared. ``evaluation`` is ``holdout`` or the cross-validation of a search (``cv:3``). A
    ``family`` of learners may share a training.
    """

    protocol: str
    experiment: str
    dataset: str
    method: str
    params: str
    trial: int
    seed: int
    measured: Measured = "shared"
    evaluation: str = HOLDOUT
    content_hash: str = field(default="", repr=False)
    protocol_version: str = field(default="", repr=False)
    method_version: str = field(default="", repr=False)
    family: str = field(default="", repr=False, compare=False)

    @property
    def parameters(self) -> dict[str, Any]:
        return dict(json.loads(self.params))

    @property
    def repeat(self) -> str:
        """What tells the repetitions of one trial and seed apart; empty where there is one."""
        number = self.parameters.get(PERTURBATION)
        return "" if number is None else str(number)

    @cached_property
    def key(self) -> str:
        return key_of(vars(self))

    @property
    def group(self) -> tuple[str, ...]:
        """Jobs that differ in trial or seed only: if one exceeds its limits, so will the others."""
        where = (self.protocol, self.dataset, self.method)
        return (*where, self.params, self.measured, self.evaluation)

    @property
    def sharing(self) -> tuple[Any, ...]:
        """Equal for jobs that may have work in common, and so belong to one worker."""
        drawn = None if self.evaluation == HOLDOUT else self.params
        learners = self.family or self.method
        return self.protocol, self.dataset, learners, self.trial, self.seed, drawn

    def run(self, status: Status, **outcome: Any) -> dict[str, Any]:
        """The row of the table of runs that this job's outcome makes."""
        identity = {name: getattr(self, name) for name in (*IDENTITY, "key", "dataset")}
        return {**identity, "status": status, **outcome}

    @staticmethod
    def freeze(params: Mapping[str, Any]) -> str:
        return canonical_json(dict(params))


@dataclass(frozen=True)
class Limits:
    """What one job may use."""

    seconds: float = 3600.0
    """Of wall-clock time from start to answer, loading included."""
    memory_mb: float = 8192.0
    """Resident, of the worker process and its children."""


def now() -> str:
    """Seconds of universal time, with enough digits to order runs."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
