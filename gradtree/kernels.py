"""How the numeric kernels are compiled.

Numba compiles a kernel when it is first called, and an ``entry_kernel`` keeps the machine code on
disk. Kernels release the GIL, divide like NumPy, and do not count references to arrays: their
callers keep the arrays alive, and counting with atomic instructions whenever a tuple of arrays is
passed on would cost more than most of these functions. So a kernel cannot create an array.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba import njit

_njit: Any = njit
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}


def _source_stamp() -> tuple[tuple[str, float, int], ...]:
    package = Path(__file__).parent
    files = sorted([*package.glob("*.py"), *package.glob("engines/*.py")])
    return tuple((file.name, file.stat().st_mtime, file.stat().st_size) for file in files)


_STAMP = _source_stamp()


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorator of a function that only other kernels call; Python must not, and would crash."""
    return _njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS, **options)


def entry_kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorator of a function that Python calls, kept on disk once compiled.

    Numba renews its cache when the file of the function has changed. As the code of the kernels it
    calls is part of what is kept, here it is renewed when any file of the package has changed.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = _njit(cache=True, **_OPTIONS, **options)(function)
        with suppress(AttributeError):  # private to Numba; without it the cache is only less wary
            dispatcher._cache._cache_file._source_stamp = _STAMP
        return dispatcher

    return decorate
