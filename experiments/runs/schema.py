"""Every column of the table of runs, declared once.

The SQLite table, the Parquet files, the checks of what is read, the list of metrics and the
documentation of the columns follow from ``COLUMNS``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["ok", "timeout", "memory", "crash", "error", "skipped"]
STATUSES: tuple[Status, ...] = ("ok", "timeout", "memory", "crash", "error", "skipped")
Kind = Literal["identity", "outcome", "score", "cost", "origin", "text"]
Run = Mapping[str, Any]
"""One row of the table: a value, or ``None``, for every column."""

HOLDOUT = "holdout"
SLUG = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,98}[a-z0-9])?")
KEY = re.compile(r"[0-9a-f]{20}")
LONGEST_JSON = 20_000


class BadRunError(ValueError):
    """A row that is no run; the message names the column and what is wrong with it."""


@dataclass(frozen=True)
class Column:
    """A column of the table of runs.

    Attributes
    ----------
    kind : ``identity`` (what the key is made of), ``outcome``, ``score`` (what a repetition
        of the job must give again), ``cost``, ``origin`` or ``text`` (what a learner wrote).
    low, high : the range of a number; ``longest``: characters of a text.
    better : which direction is better, for scores that tables rank.
    name_in_tables : what tables and captions call a score.
    """

    name: str
    type: type
    kind: Kind
    meaning: str
    low: float = -math.inf
    high: float = math.inf
    better: Literal["", "high", "low"] = ""
    name_in_tables: str = ""
    needed: bool = False
    longest: int = 200
    pattern: re.Pattern[str] | None = None


def _score(
    name: str, words: str, meaning: str, high: float = 1.0, better: Literal["high", "low"] = "high"
) -> Column:
    return Column(name, float, "score", meaning, 0.0, high, better, words)


def _slug(name: str, meaning: str) -> Column:
    return Column(name, str, "identity", meaning, needed=True, pattern=SLUG)


COLUMNS: tuple[Column, ...] = (
    Column(
        "key", str, "identity", "hash of all that can change the outcome", needed=True, pattern=KEY
    ),
    _slug("protocol", "how the data was split and prepared"),
    _slug("dataset", "slug of the dataset"),
    _slug("method", "slug of the learner"),
    Column("params", str, "identity", "parameters as JSON", needed=True, longest=LONGEST_JSON),
    Column("trial", int, "identity", "number of the split, from 0", low=0, needed=True),
    Column("seed", int, "identity", "seed of the learner", low=0, needed=True),
    Column(
        "measured",
        str,
        "identity",
        "alone: no other job ran meanwhile; else shared",
        needed=True,
        pattern=re.compile("shared|alone"),
    ),
    Column(
        "evaluation",
        str,
        "identity",
        "holdout, or cv:N (cv:N/i: one fold) of a search",
        needed=True,
        pattern=re.compile(r"holdout|cv:[0-9]{1,3}(/[0-9]{1,3})?"),
    ),
    Column("content_hash", str, "identity", "hash of the parsed dataset", needed=True),
    Column("protocol_version", str, "identity", "version of the protocol", needed=True),
    Column("method_version", str, "identity", "version of the learner", needed=True),
    Column(
        "status",
        str,
        "outcome",
        "how the job ended: " + ", ".join(STATUSES),
        needed=True,
        pattern=re.compile("|".join(STATUSES)),
    ),
    Column("reason", str, "outcome", "why it did not end well, in one line", longest=400),
    _score("train_f1", "train F1", "macro F1 on the rows the learner was fitted to"),
    _score(
        "valid_f1", "validation F1", "macro F1 on the validation rows; mean over folds in a search"
    ),
    _score("test_f1", "test F1", "macro F1 on the test rows"),
    _score("test_accuracy", "accuracy", "accuracy on the test rows"),
    _score(
        "test_balanced_accuracy",
        "balanced accuracy",
        "mean recall over the classes of the test rows",
    ),
    _score(
        "test_roc_auc", "ROC AUC", "area under the ROC curve, mean of one class against the rest"
    ),
    _score(
        "test_log_loss",
        "log loss",
        "mean negative log-likelihood of the test rows",
        math.inf,
        "low",
    ),
    _score(
        "test_brier",
        "Brier score",
        "mean squared distance of probabilities from the outcome",
        2.0,
        "low",
    ),
    Column(
        "tree_size",
        int,
        "score",
        "inner nodes and leaves, as the paper counts them",
        1,
        better="low",
        name_in_tables="tree size",
    ),
    Column("depth", int, "score", "levels of inner nodes", 0, better="low", name_in_tables="depth"),
    Column("leaves", int, "score", "leaves", 1, better="low", name_in_tables="leaves"),
    Column(
        "path_length",
        float,
        "score",
        "mean number of conditions a test row is asked",
        0,
        better="low",
        name_in_tables="path length",
    ),
    Column("epochs", int, "score", "passes over the training rows", 0, name_in_tables="epochs"),
    Column(
        "wall_seconds",
        float,
        "cost",
        "seconds to construct and fit",
        0,
        better="low",
        name_in_tables="seconds",
    ),
    Column(
        "cpu_seconds",
        float,
        "cost",
        "processor seconds of the same, children included",
        0,
        better="low",
        name_in_tables="CPU seconds",
    ),
    Column(
        "shared_seconds",
        float,
        "cost",
        "processor seconds of work an earlier fit did for this one too",
        0,
    ),
    Column(
        "peak_memory_mb",
        float,
        "cost",
        "largest resident memory of the worker in MiB",
        0,
        better="low",
        name_in_tables="memory (MiB)",
    ),
    Column(
        "limit_value", float, "outcome", "the limit that was exceeded: seconds, or MiB of memory", 0
    ),
    Column("extra", str, "outcome", "what else the learner reports, as JSON", longest=LONGEST_JSON),
    Column(
        "environment", str, "origin", "identifier of versions and machine, spelled out in the facts"
    ),
    Column("commit", str, "origin", "commit of the suite; + where files differed from it"),
    Column(
        "finished",
        str,
        "origin",
        "time of the end, UTC",
        pattern=re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,15}Z)?"),
    ),
    Column("log_tail", str, "text", "end of what the learner printed", longest=4000),
    Column("traceback", str, "text", "end of the traceback", longest=4000),
)
BY_NAME: dict[str, Column] = {column.name: column for column in COLUMNS}
NAMES: tuple[str, ...] = tuple(BY_NAME)
SCORES: tuple[str, ...] = tuple(c.name for c in COLUMNS if c.kind == "score")
METRICS: tuple[str, ...] = tuple(c.name for c in COLUMNS if c.better)
"""Columns that a table can be made of."""
SQL_TYPES = {str: "TEXT", int: "INTEGER", float: "REAL"}
LOG_ROUNDING = 1e-12
"""Of log losses, whose last digits differ between processors."""


def check(values: Mapping[str, Any]) -> dict[str, Any]:
    """A complete row from what a job or a file offers, or ``BadRunError``.

    Columns that are not given are ``None``; unknown ones, wrong types and values out of range
    are refused, and so is a key that its own fields do not give.
    """
    if unknown := sorted(set(values) - set(BY_NAME)):
        raise BadRunError(f"unknown column {unknown[0]!r}: written by a newer version?")
    row = {name: _checked(column, values.get(name)) for name, column in BY_NAME.items()}
    scored = [name for name in SCORES if row[name] is not None]
    if row["status"] == "ok":
        needed = "test_f1" if row["evaluation"] == HOLDOUT else "valid_f1"
        if row[needed] is None:
            raise BadRunError(f"ok, but without {needed}")
    elif scored:
        raise BadRunError(f"{row['status']}, but with {scored[0]}")
    from experiments.runs.job import key_of

    if key_of(row) != row["key"]:
        raise BadRunError(f"its key {row['key']} is not that of its columns")
    return row


def _checked(column: Column, value: Any) -> Any:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        if column.needed:
            raise BadRunError(f"no {column.name}")
        return None
    if column.type is str:
        if not isinstance(value, str):
            raise BadRunError(f"{column.name} is {value!r:.60}, not a text")
        if len(value) > column.longest:
            raise BadRunError(
                f"{column.name} has {len(value):,} characters, over {column.longest:,}"
            )
        if column.pattern is not None and not column.pattern.fullmatch(value):
            raise BadRunError(f"{column.name} is {value!r:.60}, not {column.meaning}")
        if column.name in ("params", "extra") and not _is_json_object(value):
            raise BadRunError(f"{column.name} is no JSON object: {value!r:.60}")
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadRunError(f"{column.name} is {value!r:.60}, not a number")
    if column.type is int and value != int(value):
        raise BadRunError(f"{column.name} is {value!r}, not a whole number")
    if not (math.isfinite(value) and column.low <= value <= column.high):
        raise BadRunError(f"{column.name} is {value!r}, not between {column.low} and {column.high}")
    return column.type(value)


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def disagreement(ours: Run, theirs: Run) -> str:
    """Where two successful runs of one job differ in a score; empty if they agree.

    A score that only one of them has is no disagreement: older runs lack some.
    """
    found = []
    for name in SCORES:
        a, b = ours[name], theirs[name]
        if a is None or b is None or a == b:
            continue
        close = name == "test_log_loss" and math.isclose(
            a, b, rel_tol=LOG_ROUNDING, abs_tol=LOG_ROUNDING
        )
        if not close:
            found.append(f"{name} {a!r} and {b!r}")
    return ", ".join(found)


def documentation() -> str:
    """The list of columns as a Markdown table."""
    lines = ["| column | type | kind | meaning |", "|---|---|---|---|"]
    lines += [f"| `{c.name}` | {c.type.__name__} | {c.kind} | {c.meaning} |" for c in COLUMNS]
    return "\n".join(lines)
