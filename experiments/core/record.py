"""The run record: what one finished job left behind, one line of the store.

A record names what made it, so that nothing downstream has to ask a learner
or a dataset: method and version, protocol and version, the hash of the data,
the experiment and the commit of the suite. Records are checked when they are
read, not believed: see :func:`checked`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, Literal

from experiments.core.checks import (
    are_params,
    clean_text,
    is_amount,
    is_line_of_text,
    is_list_of_wholes,
    is_plain_mapping,
    is_share,
    is_slug,
    is_whole,
    shown,
)
from experiments.core.job import HOLDOUT, KEY_LENGTH, Job, Measured, canonical_json, key_of

Status = Literal["ok", "timeout", "memory", "crash", "error", "skipped"]
STATUSES: tuple[Status, ...] = ("ok", "timeout", "memory", "crash", "error", "skipped")

VOLATILE = (
    "wall_seconds",
    "cpu_seconds",
    "peak_memory_mb",
    "finished",
    "environment",
    "experiment",
    "commit",
)
"""Fields in which two runs of the same job may differ."""

SCORES = (
    "train_f1",
    "valid_f1",
    "test_f1",
    "test_accuracy",
    "test_balanced_accuracy",
    "test_roc_auc",
    "test_log_loss",
    "tree_size",
    "depth",
    "leaves",
    "epochs",
)
"""Fields that two runs of the same job must agree in."""

LOG_ROUNDING = 1e-12
SHARED_SECONDS = "shared_seconds"
"""In ``extra``: processor time of what an earlier fit has done for this one, too."""


@dataclass(frozen=True)
class RunRecord:
    """Outcome of one job. Scores are ``None`` unless ``status`` is ``ok``.

    ``train`` scores are taken on the rows the learner counts as its training
    rows, ``valid`` and ``test`` on the untouched parts of the split. In a
    cross-validation ``valid_f1`` is the mean over the held-out folds, the
    only score there is.
    """

    key: str
    protocol: str
    dataset: str
    method: str
    params: dict[str, Any]
    trial: int
    seed: int
    status: Status
    content_hash: str = ""
    """Hash of the dataset's parsed table."""
    protocol_version: str = ""
    method_version: str = ""
    experiment: str = ""
    """The experiment it was run for; others may share it, see the store's plan."""
    commit: str = ""
    """The suite's commit. Records older than this field carry the one that first held them."""
    reason: str = ""
    train_f1: float | None = None
    valid_f1: float | None = None
    test_f1: float | None = None
    test_accuracy: float | None = None
    test_balanced_accuracy: float | None = None
    test_roc_auc: float | None = None
    test_log_loss: float | None = None
    test_brier: float | None = None
    tree_size: int | None = None
    depth: int | None = None
    leaves: int | None = None
    path_length: float | None = None
    """Mean number of conditions that a test row is asked; old records lack it, and Brier."""
    epochs: int | None = None
    wall_seconds: float | None = None
    """Constructing and fitting alone, as the paper's runtime table counts it."""
    cpu_seconds: float | None = None
    peak_memory_mb: float | None = None
    environment: str = ""
    """Identifier of the versions and machine, spelled out once per store."""
    measured: Measured = "shared"
    """``alone``: no other job ran meanwhile, so that seconds may be compared."""
    evaluation: str = HOLDOUT
    finished: str = ""
    log_tail: str = ""
    traceback: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, job: Job, status: Status, **outcome: Any) -> RunRecord:
        """The record of ``job`` with a status and whatever else is known about its end.

        Texts that a learner may have written are made fit to be stored and shown.
        """
        for name, longest in TEXTS.items():
            if name in outcome:
                outcome[name] = clean_text(outcome[name], longest, _KEPT_PART[name])
        return cls(
            key=job.key,
            protocol=job.protocol,
            dataset=job.dataset,
            method=job.method,
            params=job.params,
            trial=job.trial,
            seed=job.seed,
            content_hash=job.content_hash,
            protocol_version=job.protocol_version,
            method_version=job.method_version,
            experiment=job.experiment,
            measured=job.measured,
            evaluation=job.evaluation,
            status=status,
            **outcome,
        )

    @property
    def cpu_seconds_alone(self) -> float | None:
        """Processor time of a fit that shares nothing with others."""
        if self.cpu_seconds is None:
            return None
        shared: float = self.extra.get(SHARED_SECONDS, 0.0)
        return self.cpu_seconds + shared

    def to_dict(self) -> dict[str, Any]:
        """The fields that say something: those at their default are left out."""
        return {
            name: value
            for name, default in _DEFAULTS.items()
            if (value := getattr(self, name)) != default or default is MISSING
        }

    def scores(self) -> tuple[Any, ...]:
        """What a second run of the same job must repeat."""
        return tuple(getattr(self, name) for name in SCORES)

    def agrees_with(self, other: RunRecord) -> bool:
        """Whether every score is the same.

        The log loss up to the rounding of logarithms, which differs between processors.
        """
        mine, theirs = self.test_log_loss, other.test_log_loss
        if mine is not None and theirs is not None:
            if not math.isclose(mine, theirs, rel_tol=LOG_ROUNDING, abs_tol=LOG_ROUNDING):
                return False
            other = replace(other, test_log_loss=mine)
        return self.scores() == other.scores()


@dataclass(frozen=True)
class Outcome:
    """What a job leaves behind."""

    record: RunRecord
    predictions: bytes | None = None
    """On the test part, packed, where there are some."""
    environment: dict[str, Any] | None = None
    """Versions and machine, where they may be unknown to who receives this."""


def _default(of: Any) -> Any:
    return of.default_factory() if of.default_factory is not MISSING else of.default


_DEFAULTS: dict[str, Any] = {f.name: _default(f) for f in fields(RunRecord)}
_REQUIRED = tuple(name for name, default in _DEFAULTS.items() if default is MISSING)


class BadRecordError(ValueError):
    """A line of a store that is no record; the message says what is wrong with it."""


def checked(values: Any) -> RunRecord:
    """The record of one line, or :class:`BadRecordError`.

    Types, ranges, names that become parts of paths, and the key, which must
    be the one that the record's own fields give. Texts that a learner wrote
    are made fit to be shown.
    """
    if not isinstance(values, dict):
        raise BadRecordError(f"a {type(values).__name__} instead of a record")
    if missing := [name for name in _REQUIRED if name not in values]:
        raise BadRecordError(f"no {missing[0]}")
    if unknown := sorted(values.keys() - _DEFAULTS.keys()):
        raise BadRecordError(
            f"unknown field {shown(unknown[0])}: written by a newer version of the suite?"
        )
    for name, value in values.items():
        rule, wanted = _RULES[name]
        if not rule(value):
            raise BadRecordError(f"{name} is {shown(value)}, not {wanted}")
    for name, longest in TEXTS.items():
        if values.get(name):
            values = {**values, name: clean_text(values[name], longest, _KEPT_PART[name])}
    record = RunRecord(**values)
    _check_scores(record)
    if key_of(record, canonical_json(record.params)) != record.key:
        raise BadRecordError(f"its key {record.key} is not that of its fields")
    return record


def _check_scores(record: RunRecord) -> None:
    """A run that ended well has the score its evaluation is about; any other run has none."""
    if record.status == "ok":
        needed = "test_f1" if record.evaluation == HOLDOUT else "valid_f1"
        if getattr(record, needed) is None:
            raise BadRecordError(f"ok, but without {needed}")
    elif scored := [name for name in SCORES if getattr(record, name) is not None]:
        raise BadRecordError(f"{record.status}, but with {scored[0]}")


_KEY = re.compile(rf"[0-9a-f]{{{KEY_LENGTH}}}")
EVALUATION = re.compile(r"holdout|cv:[0-9]{1,3}(/[0-9]{1,3})?")
"""How a job may be scored."""
_DATE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z)?")
_Rule = tuple[Callable[[Any], bool], str]

_REMARKS: dict[str, Callable[[Any], bool]] = {
    "limit": is_amount,
    "calibration_ms": is_amount,
    SHARED_SECONDS: is_amount,
    "implied_by": lambda value: isinstance(value, str) and _KEY.fullmatch(value) is not None,
    "shape": lambda value: is_list_of_wholes(value) and len(value) == 2,
}
"""Remarks in ``extra`` that the suite reads again."""


def _is_remarks(value: Any) -> bool:
    return is_plain_mapping(value) and all(
        rule(value[name]) for name, rule in _REMARKS.items() if name in value
    )


def _optional(rule: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or rule(value)


def _matches(pattern: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


_SHARE: _Rule = (_optional(is_share), "a number from 0 to 1")
_AMOUNT: _Rule = (_optional(is_amount), "a number from 0 on")
_TEXT: _Rule = (lambda value: isinstance(value, str), "a text")
_LINE: _Rule = (is_line_of_text, "a short text")
_NAME: _Rule = (is_slug, "a name of small letters, digits, dots and hyphens")
_ONE_OR_MORE: _Rule = (_optional(lambda value: is_whole(value, 1)), "a whole number from 1 on")
_FROM_ZERO: _Rule = (_optional(is_whole), "a whole number from 0 on")
_COUNT: _Rule = (is_whole, "a whole number from 0 on")

_RULES: dict[str, _Rule] = {
    "key": (_matches(_KEY), f"{KEY_LENGTH} hexadecimal digits"),
    **dict.fromkeys(("protocol", "dataset", "method"), _NAME),
    "params": (are_params, "a mapping of texts and finite numbers"),
    "extra": (_is_remarks, "a mapping of remarks"),
    **dict.fromkeys(("trial", "seed"), _COUNT),
    "status": (lambda value: value in STATUSES, f"one of {', '.join(STATUSES)}"),
    **dict.fromkeys(
        ("content_hash", "protocol_version", "method_version", "commit", "environment"), _LINE
    ),
    "experiment": (lambda value: value == "" or is_slug(value), _NAME[1]),
    "finished": (_matches(_DATE), "a date"),
    **dict.fromkeys(("reason", "log_tail", "traceback"), _TEXT),
    **dict.fromkeys([name for name in SCORES if "f1" in name or "accuracy" in name], _SHARE),
    "test_roc_auc": _SHARE,
    **dict.fromkeys(("test_log_loss", "test_brier", "path_length"), _AMOUNT),
    **dict.fromkeys(("tree_size", "leaves"), _ONE_OR_MORE),
    **dict.fromkeys(("depth", "epochs"), _FROM_ZERO),
    **dict.fromkeys(("wall_seconds", "cpu_seconds", "peak_memory_mb"), _AMOUNT),
    "measured": (lambda value: value in ("shared", "alone"), "shared or alone"),
    "evaluation": (_matches(EVALUATION), "holdout or cv:N"),
}

TEXTS = {"reason": 400, "log_tail": 4000, "traceback": 4000}
"""Fields that may hold what a learner wrote, and how many characters are kept of them."""
_KEPT_PART: dict[str, Literal["start", "end"]] = {
    "reason": "start",
    "log_tail": "end",
    "traceback": "end",
}
