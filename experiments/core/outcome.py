"""What one job may use, and what it leaves behind."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from experiments.core.job import Job
from experiments.core.record import RunRecord


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


@dataclass(frozen=True)
class Outcome:
    """What a job leaves behind.

    Attributes
    ----------
    predictions : on the test part, packed, where there are some.
    environment : versions and machine, where they may be unknown to who receives this.
    """

    record: RunRecord
    predictions: bytes | None = None
    environment: dict[str, Any] | None = None


def now() -> str:
    """Seconds of universal time, with enough digits to order records."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
