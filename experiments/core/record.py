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
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal

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
                keep: Literal["start", "end"] = "start" if name == "reason" else "end"
                outcome[name] = clean_text(outcome[name], longest, keep)
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


def _default(of: Any) -> Any:
    return of.default_factory() if of.default_factory is not MISSING else of.default


_DEFAULTS: dict[str, Any] = {f.name: _default(f) for f in fields(RunRecord)}
_REQUIRED = tuple(name for name, default in _DEFAULTS.items() if default is MISSING)


class BadRecordError(ValueError):
    """A line of a store that is no record; the message says what is wrong with it."""


def checked(values: Any) -> RunRecord:
    """The record of one line, or :class:`BadRecordError`.

    Types, ranges, names that become parts of paths, and the key, which must
    be the one that the record's own fields give.
    """
    if not isinstance(values, dict):
        raise BadRecordError(f"a {type(values).__name__} instead of a record")
    if missing := [name for name in _REQUIRED if name not in values]:
        raise BadRecordError(f"no {missing[0]}")
    if unknown := sorted(values.keys() - _DEFAULTS.keys()):
        raise BadRecordError(
            f"unknown field {unknown[0]!r}: written by a newer version of the suite?"
        )
    for name, value in values.items():
        rule, wanted = _RULES[name]
        if not rule(value):
            raise BadRecordError(f"{name} is {_shown(value)}, not {wanted}")
    record = RunRecord(**values)
    if record.status == "ok" and record.test_f1 is None and record.valid_f1 is None:
        raise BadRecordError("ok, but without a score")
    if key_of(record, canonical_json(record.params)) != record.key:
        raise BadRecordError(f"its key {record.key} is not that of its fields")
    return record


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


_SLUG = re.compile(r"[a-z0-9][a-z0-9._-]{0,80}")
_KEY = re.compile(rf"[0-9a-f]{{{KEY_LENGTH}}}")
_EVALUATION = re.compile(r"holdout|cv:\d{1,3}(/\d{1,3})?")
_Rule = tuple[Callable[[Any], bool], str]


def is_slug(value: Any) -> bool:
    """Whether a name can be part of a path and cannot leave its folder."""
    return isinstance(value, str) and _SLUG.fullmatch(value) is not None and ".." not in value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _optional(rule: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or rule(value)


def _matches(pattern: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


_SHARE: _Rule = (
    _optional(lambda value: _is_number(value) and 0 <= value <= 1),
    "a number from 0 to 1",
)
_AMOUNT: _Rule = (_optional(lambda value: _is_number(value) and value >= 0), "a number from 0 on")
_TEXT: _Rule = (lambda value: isinstance(value, str), "a text")
_MAPPING: _Rule = (lambda value: isinstance(value, dict), "a mapping")
_NAME: _Rule = (is_slug, "a name of small letters, digits, dots and hyphens")
_ONE_OR_MORE: _Rule = (_optional(lambda value: _is_whole(value, 1)), "a whole number from 1 on")
_FROM_ZERO: _Rule = (_optional(lambda value: _is_whole(value, 0)), "a whole number from 0 on")
_COUNT: _Rule = (lambda value: _is_whole(value, 0), "a whole number from 0 on")

_RULES: dict[str, _Rule] = {
    "key": (_matches(_KEY), f"{KEY_LENGTH} hexadecimal digits"),
    **dict.fromkeys(("protocol", "dataset", "method"), _NAME),
    **dict.fromkeys(("params", "extra"), _MAPPING),
    **dict.fromkeys(("trial", "seed"), _COUNT),
    "status": (lambda value: value in STATUSES, f"one of {', '.join(STATUSES)}"),
    **dict.fromkeys(
        ("content_hash", "protocol_version", "method_version", "experiment", "commit"), _TEXT
    ),
    **dict.fromkeys(("reason", "environment", "finished", "log_tail", "traceback"), _TEXT),
    **dict.fromkeys([name for name in SCORES if "f1" in name or "accuracy" in name], _SHARE),
    "test_roc_auc": _SHARE,
    **dict.fromkeys(("test_log_loss", "test_brier", "path_length"), _AMOUNT),
    **dict.fromkeys(("tree_size", "leaves"), _ONE_OR_MORE),
    **dict.fromkeys(("depth", "epochs"), _FROM_ZERO),
    **dict.fromkeys(("wall_seconds", "cpu_seconds", "peak_memory_mb"), _AMOUNT),
    "measured": (lambda value: value in ("shared", "alone"), "shared or alone"),
    "evaluation": (_matches(_EVALUATION), "holdout or cv:N"),
}

TEXTS = {"reason": 400, "log_tail": 4000, "traceback": 4000}
"""Fields that may hold what a learner wrote, and how many characters are kept of them."""


_UNFIT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters but tabs and line ends, and halves of surrogate pairs."""


def clean_text(text: str, longest: int, keep: Literal["start", "end"] = "end") -> str:
    """Text that a store, a terminal and a page can take, shortened to its start or its end."""
    if len(text) > longest:
        text = f"{text[: longest - 1]}…" if keep == "start" else f"…{text[1 - longest :]}"
    return _UNFIT.sub("?", text)
