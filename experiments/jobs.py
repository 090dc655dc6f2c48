"""A job: one learner with fixed parameters on one trial of one dataset."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


def canonical_json(value: Any) -> str:
    """One spelling per value: sorted keys, no blanks, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True)
class Job:
    """Frozen and JSON-able; equal work has an equal ``key`` whatever experiment asks for it."""

    protocol: str
    experiment: str
    dataset: str
    method: str
    params_json: str
    trial: int
    seed: int
    measured: Literal["shared", "alone"] = "shared"
    content_hash: str = field(default="", repr=False)
    protocol_version: str = field(default="", repr=False)
    method_version: str = field(default="", repr=False)

    @property
    def params(self) -> dict[str, Any]:
        return dict(json.loads(self.params_json))

    @property
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
        ]
        return hashlib.sha256(canonical_json(identity).encode()).hexdigest()[:20]

    @staticmethod
    def freeze(params: Mapping[str, Any]) -> str:
        return canonical_json(dict(params))
