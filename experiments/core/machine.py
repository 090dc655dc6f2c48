"""This machine: versions and kind (spelled out once per store), peak memory, speed just now."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.core.job import canonical_json

PACKAGES = (
    "numpy",
    "scipy",
    "pandas",
    "scikit-learn",
    "category_encoders",
    "imbalanced-learn",
    "numba",
    "tensorflow-cpu",
    "tensorflow",
    "pydl8.5",
    "pystreed",
    "optuna",
)


def versions() -> dict[str, str]:
    """Python and those of ``PACKAGES`` that are installed; nothing is imported for it."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """The kind of machine, never its name."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "memory_gb": _memory_gb(),
    }


def cpu_model() -> str:
    if sys.platform.startswith("linux"):
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


@cache
def describe() -> dict[str, Any]:
    """``{"id": …, "versions": {…}, "machine": {…}}`` of this process."""
    content = {"versions": versions(), "machine": machine()}
    return {"id": identify(content), **content}


@cache
def commit() -> str:
    """The commit of this checkout, with a plus where files differ from it; empty without git."""
    try:
        return _git("rev-parse", "--short=10", "HEAD") + (
            "+" if _git("status", "-s", "-uno") else ""
        )
    except (OSError, subprocess.SubprocessError):
        return ""


def _git(*words: str) -> str:
    done = subprocess.run(
        ["git", *words],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    )
    return done.stdout.strip()


def identify(content: dict[str, Any]) -> str:
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()[:10]


def _memory_gb() -> float:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)


_RESET_PEAK = "5"


def reset_peak() -> None:
    """Start a new high-water mark, where the system can (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text(_RESET_PEAK)


def peak_mb() -> float:
    """Largest resident size since ``reset_peak``; elsewhere, of the whole life of the process."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) / 1024, 1)
    except OSError:
        pass
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, 1)


REPETITIONS = 3


def calibrate(clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds that a fixed mix of interpreter, sorting and small matrix work takes just now.

    The best of a few repetitions: what the machine can do, not what disturbed it.
    """
    with threadpool_limits(1):
        return min(_work(clock) for _ in range(REPETITIONS))


def _work(clock: Callable[[], float]) -> float:
    data = np.random.default_rng(0).random((200, 200))
    start = clock()
    total = 0.0
    for i in range(20_000):
        total += i % 7
    for _ in range(5):
        np.sort(data, axis=None)
        data @ data
    return clock() - start
