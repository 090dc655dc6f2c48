"""How the learners' kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba import njit

_njit: Any = njit


def _source_stamp() -> tuple[tuple[str, float, int], ...]:
    files = sorted(Path(__file__).parents[1].rglob("*.py"))
    return tuple((file.name, file.stat().st_mtime, file.stat().st_size) for file in files)


_STAMP = _source_stamp()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile with Numba on first use, without the GIL, and keep the machine code on disk.

    By itself Numba renews it when the function's own file changes. But the code
    of the kernels that it calls is kept with it, so any file of the package counts.
    """
    dispatcher = _njit(cache=True, nogil=True)(function)
    with suppress(AttributeError):  # private to Numba; without it the cache is only less wary
        dispatcher._cache._cache_file._source_stamp = _STAMP
    return dispatcher
