"""A job: one learner with fixed parameters on one trial of one dataset."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal

Measured = Literal["shared", "alone"]

HOLDOUT = "holdout"
"""The ordinary evaluation: fit on train (and valid), score on test."""


def canonical_json(value: Any) -> str:
    """One spelling per value: sorted keys, no blanks, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


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
        """Identity of the work: everything that can change its outcome, and not the experiment."""
        identity = [
            self.content_hash,
            self.protocol,
            self.protocol_version,
            self.method,
            self.method_version,
            self.params_json,
            self.trial,
            self.seed,
            self.measured,
            self.evaluation,
        ]
        return hashlib.sha256(canonical_json(identity).encode()).hexdigest()[:20]

    @property
    def group(self) -> tuple[str, ...]:
        """Jobs that differ in trial or seed only: if one exceeds its limits, so will the others."""
        where = (self.protocol, self.dataset, self.method)
        return (*where, self.params_json, self.measured, self.evaluation)

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
