"""The run record: what one finished job left behind, one line of the store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["ok", "timeout", "memory", "crash", "error", "skipped"]
STATUSES: tuple[Status, ...] = ("ok", "timeout", "memory", "crash", "error", "skipped")


@dataclass(frozen=True)
class RunRecord:
    """Outcome of one job. Scores are ``None`` unless ``status`` is ``ok``.

    ``train`` scores are taken on the rows the learner counts as its training
    rows, ``valid`` and ``test`` on the untouched parts of the split.
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
    cpu_seconds: float | None = None
    peak_memory_mb: float | None = None
    environment: str = ""
    """Identifier of the versions and machine, spelled out once per store."""
    measured: Literal["shared", "alone"] = "shared"
    """``alone``: no other job ran meanwhile, so that seconds may be compared."""
    finished: str = ""
    log_tail: str = ""
    traceback: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
