"""This machine: versions and kind, what this process may use of it, peak memory."""

import contextlib
import hashlib
import math
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from experiments.runs.job import canonical_json

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
    found = _cpu()
    numbers = [f"{name} {found[key]}" for name, key in CPU_NUMBERS.items() if key in found]
    kind = {
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": found.get("model name") or platform.processor() or platform.machine(),
        "cpu_numbers": ", ".join(numbers),
        "cores": cores(),
        "memory_gb": round(memory_mb() / 1024, 1),
    }
    content = {"versions": versions(), "machine": kind}
    return {"id": hashlib.sha256(canonical_json(content).encode()).hexdigest()[:10], **content}


def _cpu() -> dict[str, str]:
    """What the system tells of the first processor; nothing where it does not."""
    with contextlib.suppress(OSError):
        first = Path("/proc/cpuinfo").read_text(errors="replace").partition("\n\n")[0]
        pairs = (line.partition(":") for line in first.splitlines())
        return {name.strip(): value.strip() for name, _, value in pairs}
    return {}


@cache
def commit() -> str:
    """The commit of this checkout, with a plus where files differ from it; empty without git."""

    def git(*words: str) -> str:
        command, folder = ["git", *words], Path(__file__).parent
        return subprocess.check_output(
            command, cwd=folder, stderr=subprocess.DEVNULL, text=True, timeout=10
        ).strip()

    with contextlib.suppress(OSError, subprocess.SubprocessError):
        changed = git("status", "-s", "-uno")
        return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")
    return ""


@cache
def cores() -> int:
    """Processors this process may use: its affinity, or the quota of its container."""
    mine = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    pairs = [tuple(text.split()) for text in _limits_of_container("cpu", "cpu.max")]
    older = (_limits_of_container("cpu", f"cpu.cfs_{name}_us") for name in ("quota", "period"))
    pairs += zip(*older, strict=False)  # "max 100000" or "150000 100000"; here -1 is no limit
    quotas = [int(quota) / int(period) for quota, period in pairs if quota not in ("max", "-1")]
    return max(1, math.floor(min([float(mine or 1), *quotas])))


@cache
def memory_mb() -> float:
    """Memory this process may use in MiB: that of the machine, or the limit of its container."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for name in ("memory.max", "memory.limit_in_bytes"):
        sizes += [int(text) for text in _limits_of_container("memory", name) if text != "max"]
    return min(sizes) / 2**20


def _limits_of_container(controller: str, name: str) -> Iterator[str]:
    """A limit's value in every control group around this process, of either kind."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers and controller not in controllers.split(","):
                continue
            root = Path("/sys/fs/cgroup") / (controller if controllers else "")
            inner = root / path.strip("/")
            for folder in (inner, *inner.parents):
                if (folder / name).is_file():
                    yield (folder / name).read_text().strip()
                if folder == root:
                    break


def reset_peak() -> None:
    """Start a new high-water mark of resident memory, where the system can (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_mb() -> float:
    """Largest resident size since ``reset_peak``; elsewhere, of the whole life of the process."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return round(int(line.split()[1]) / 1024, 1)
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, 1)
