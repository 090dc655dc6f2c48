"""A job: one learner with fixed parameters on one trial of one dataset; its key; its limits."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Literal

from experiments.runs.schema import HOLDOUT, Status

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
        if PERTURBATION not in self.params:  # of most, without reading the JSON
            return ""
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
