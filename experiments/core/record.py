"""The run record: what one finished job left behind, one line of the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal

from experiments.core.job import HOLDOUT, Job, Measured

Status = Literal["ok", "timeout", "memory", "crash", "error", "skipped"]
STATUSES: tuple[Status, ...] = ("ok", "timeout", "memory", "crash", "error", "skipped")

VOLATILE = ("wall_seconds", "cpu_seconds", "peak_memory_mb", "finished", "environment")
"""Fields in which two runs of the same job may differ."""


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
    reason: str = ""
    train_f1: float | None = None
    valid_f1: float | None = None
    test_f1: float | None = None
    test_accuracy: float | None = None
    test_balanced_accuracy: float | None = None
    test_roc_auc: float | None = None
    test_log_loss: float | None = None
    tree_size: int | None = None
    depth: int | None = None
    leaves: int | None = None
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
        """The record of ``job`` with a status and whatever else is known about its end."""
        return cls(
            key=job.key,
            protocol=job.protocol,
            dataset=job.dataset,
            method=job.method,
            params=job.params,
            trial=job.trial,
            seed=job.seed,
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

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunRecord:
        unknown = values.keys() - _DEFAULTS.keys()
        if unknown:
            raise ValueError(
                f"run record with unknown fields {sorted(unknown)}: "
                "it was written by a newer version of the suite; update the checkout"
            )
        return cls(**values)


def _default(of: Any) -> Any:
    return of.default_factory() if of.default_factory is not MISSING else of.default


_DEFAULTS: dict[str, Any] = {f.name: _default(f) for f in fields(RunRecord)}
