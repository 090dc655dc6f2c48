"""This machine: versions and kind, what this process may use of it, peak memory."""

import contextlib
import hashlib
import platform
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path, PurePath
from typing import Any

import psutil

from experiments.runs.schema import canonical_json

PACKAGES = (
    *("numpy", "scipy", "pandas", "pyarrow", "scikit-learn", "category_encoders"),
    *("imbalanced-learn", "numba", "tensorflow-cpu", "tensorflow", "optuna"),
    *("pydl8.5", "pystreed", "pycontree", "pytrees-rs", "licketysplit"),
)
"""Whatever can change a score, every solver included."""
CPU_NUMBERS = {"family": "cpu family", "model": "model", "stepping": "stepping"}
"""What tells processors of one name apart."""


@cache
def versions() -> dict[str, str]:
    """Python and those of ``PACKAGES`` that are installed; nothing is imported for it."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


@cache
def describe() -> dict[str, Any]:
    """``{"id": …, "versions": {…}, "machine": {…}}`` of this process; never the machine's name."""
    told: dict[str, str] = {}
    with contextlib.suppress(OSError):  # what Linux tells of the first processor
        first = Path("/proc/cpuinfo").read_text(errors="replace").partition("\n\n")[0]
        told = {name.strip(): value.strip() for name, value in re.findall("(.*?):(.*)", first)}
    numbers = [f"{name} {told[key]}" for name, key in CPU_NUMBERS.items() if key in told]
    kind = {
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": told.get("model name") or platform.processor() or platform.machine(),
        "cpu_numbers": ", ".join(numbers),
        "cores": cores(),
        "memory_gb": round(memory_mb() / 1024, 1),
    }
    content = {"versions": versions(), "machine": kind}
    return {"id": hashlib.sha256(canonical_json(content).encode()).hexdigest()[:10], **content}


@cache
def commit() -> str:
    """The commit of this checkout, with a plus where files differ from it; empty without git."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*", "--abbrev=10"]
    how: dict[str, Any] = {"stderr": subprocess.DEVNULL, "text": True, "timeout": 10}
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return str(subprocess.check_output(command, cwd=Path(__file__).parent, **how).strip())
    return ""


@cache
def cores() -> int:
    """Processors this process may use: its affinity, or the quota of its container."""
    import joblib

    return int(joblib.cpu_count())


@cache
def memory_mb() -> float:
    """Memory this process may use in MiB: that of the machine, or the limit of its container."""
    return min([psutil.virtual_memory().total, *limits_of_container()]) / 2**20


def limits_of_container(system: Path = Path("/")) -> Iterator[int]:
    """Bytes that the control groups around this process allow, of either version."""
    with contextlib.suppress(OSError):
        for line in (system / "proc/self/cgroup").read_text().splitlines():
            path = PurePath(line.rpartition(":")[2].strip("/"))
            for group in (path, *path.parents):
                for file in (group / "memory.max", "memory" / group / "memory.limit_in_bytes"):
                    with contextlib.suppress(OSError, ValueError):  # none, or "max"
                        yield int((system / "sys/fs/cgroup" / file).read_text())


def reset_peak() -> None:
    """Start a new high-water mark of resident memory, where the system can (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_mb() -> float:
    """Largest resident size since ``reset_peak``; elsewhere, of the whole life of the process."""
    with contextlib.suppress(OSError):
        if found := re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text()):
            return round(int(found[1]) / 1024, 1)
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, 1)
