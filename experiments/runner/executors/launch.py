"""The environment in which helper processes of the runner start."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_NUM_INTEROP_THREADS",
)


def python_environment() -> dict[str, str]:
    """This process's environment, with every module it can import importable there too."""
    path = [str(ROOT), *[entry for entry in sys.path if entry]]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(path))}


def worker_environment(threads: int) -> dict[str, str]:
    """For a worker: thread counts pinned, output unbuffered, nothing left to chance."""
    pinned = dict.fromkeys(THREAD_VARIABLES, str(threads))
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "2", "PYTHONUNBUFFERED": "1", "PYTHONHASHSEED": "0"}
    return {**python_environment(), **pinned, **quiet}
