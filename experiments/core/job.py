"""A job, one learner with fixed parameters on one trial of one dataset, and what it may use."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Literal, Protocol

Measured = Literal["shared", "alone"]

KEY_LENGTH = 20
PERTURBATION = "perturbation"
"""Parameter that numbers the repetitions of a job with slightly moved training rows."""
HOLDOUT = "holdout"
"""The ordinary evaluation: fit on train (and valid), score on test."""


def canonical_json(value: Any) -> str:
    """One spelling per value: sorted keys, no blanks, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


class Work(Protocol):
    """The part of a job, or of its record, that can change its outcome."""

    @property
    def protocol(self) -> str: ...
    @property
    def dataset(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def trial(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def measured(self) -> str: ...
    @property
    def evaluation(self) -> str: ...
    @property
    def content_hash(self) -> str: ...
    @property
    def protocol_version(self) -> str: ...
    @property
    def method_version(self) -> str: ...


def key_of(work: Work, params_json: str) -> str:
    """Identity of a piece of work: everything that can change its outcome, not the experiment."""
    identity = [
        work.content_hash,
        work.protocol,
        work.protocol_version,
        work.method,
        work.method_version,
        params_json,
        work.trial,
        work.seed,
        work.measured,
        work.evaluation,
    ]
    return hashlib.sha256(canonical_json(identity).encode()).hexdigest()[:KEY_LENGTH]


@dataclass(frozen=True)
class Job:
    """Frozen and JSON-able; equal work has an equal ``key`` whatever experiment asks for it.

    Attributes
    ----------
    measured : ``alone`` asks that no other job runs meanwhile, so that seconds may be compared.
    evaluation : ``holdout``, or the cross-validation of a search (``cv:3``; one fold, ``cv:3/0``).
    """

    protocol: str
    experiment: str
    dataset: str
    method: str
    params_json: str
    trial: int
    seed: int
    measured: Measured = "shared"
    evaluation: str = HOLDOUT
    content_hash: str = field(default="", repr=False)
    protocol_version: str = field(default="", repr=False)
    method_version: str = field(default="", repr=False)

    @property
    def params(self) -> dict[str, Any]:
        return dict(json.loads(self.params_json))

    @cached_property
    def key(self) -> str:
        return key_of(self, self.params_json)

    @property
    def group(self) -> tuple[str, ...]:
        """Jobs that differ in trial or seed only: if one exceeds its limits, so will the others."""
        where = (self.protocol, self.dataset, self.method)
        return (*where, self.params_json, self.measured, self.evaluation)

    @property
    def family(self) -> tuple[Any, ...]:
        """Of fits that differ in parameters only, and may have work in common.

        The candidates of a search have nothing in common.
        """
        drawn = None if self.evaluation == HOLDOUT else self.params_json
        return self.protocol, self.dataset, self.method, self.trial, self.seed, drawn

    def __str__(self) -> str:
        what = f"{self.protocol}/{self.experiment} {self.dataset} {self.method}"
        if self.evaluation == HOLDOUT:
            return f"{what} trial {self.trial}"
        return f"{what} {self.evaluation} of {self.key[:6]}"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def freeze(params: Mapping[str, Any]) -> str:
        return canonical_json(dict(params))


@dataclass(frozen=True)
class Limits:
    """What one job may use.

    Attributes
    ----------
    seconds : wall-clock time from start to answer, loading included.
    memory_mb : resident memory of the worker process.
    threads : threads of every numerical library.
    """

    seconds: float = 3600.0
    memory_mb: float = 8192.0
    threads: int = 1


def memory_share(workers: int) -> float:
    """A fair memory limit in MiB: four fifths of the machine, shared by its workers."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**20
    return 0.8 * total / workers


@dataclass(frozen=True)
class Running:
    """A job in flight and how long it has been."""

    job: Job
    seconds: float
    where: str


def now() -> str:
    """Seconds of universal time, with enough digits to order records."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
