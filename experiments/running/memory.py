"""Peak resident memory of this process, from one job to the next."""

from __future__ import annotations

import contextlib
import resource
import sys
from pathlib import Path

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
