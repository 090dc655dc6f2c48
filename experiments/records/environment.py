"""Which versions, on which kind of machine: spelled out once per store, referred to by id."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from experiments.planning.jobs import canonical_json

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


def identify(content: dict[str, Any]) -> str:
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()[:10]


def _memory_gb() -> float:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
