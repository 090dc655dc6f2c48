"""How the numeric kernels are compiled.

Numba compiles a kernel when it is first called, and an ``entry_kernel`` keeps the machine code on
disk. Kernels release the GIL, divide like NumPy, and do not count references to arrays: their
callers keep the arrays alive, and counting with atomic instructions whenever a tuple of arrays is
passed on would cost more than most of these functions. So a kernel cannot create an array.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numba.core.ccallback import CFunc
from numpy.typing import NDArray

Real = Any
"""A number in the precision of the parameters."""
Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.int64]
Numbers = NDArray[np.uint32]
"""Of nodes and leaves: unsigned, which spares the compiler the case of negative indices."""

_njit: Any = njit
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}


@cache
def _source_stamp(package: str) -> tuple[tuple[str, float, int], ...]:
    """Name, time and size of every file of a package that is being imported."""
    files = sorted(Path(sys.modules[package].__path__[0]).rglob("*.py"))
    return tuple((file.name, file.stat().st_mtime, file.stat().st_size) for file in files)


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorator of a function that only other kernels call; Python must not, and would crash."""
    return _njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS, **options)


def _watch_all_files(kept: Any, function: Callable[..., Any]) -> None:
    """Have Numba renew what it keeps on disk when any file of the function's package has changed.

    By itself it looks at the file of the function only, but the code of all the kernels which that
    calls is kept with it.
    """
    with suppress(AttributeError):  # private to Numba; without it the cache is only less wary
        kept._cache_file._source_stamp = _source_stamp(function.__module__.partition(".")[0])


def entry_kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorator of a function that Python calls, kept on disk once compiled."""

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = _njit(cache=True, **_OPTIONS, **options)(function)
        _watch_all_files(dispatcher._cache, function)
        return dispatcher

    return decorate


def callback(function: Callable[..., Any], signature: Any, keep: bool) -> Any:
    """A function that kernels call through a pointer, compiled now, or taken from disk."""
    compiled: Any = CFunc(function, (signature.args, signature.return_type), locals={}, options={})
    if keep:
        compiled.enable_caching()
        _watch_all_files(compiled._cache, function)
    compiled.compile()
    return compiled
