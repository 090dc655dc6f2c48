"""How the numeric kernels are compiled.

Numba compiles a kernel when it is first called, and an ``entry_kernel`` keeps the machine code on
disk. Kernels release the GIL, divide like NumPy, and do not count references to arrays: their
callers keep the arrays alive, and counting with atomic instructions whenever a tuple of arrays is
passed on would cost more than most of these functions. So a kernel cannot create an array.

Where no folder can be written to, nothing is kept and every process compiles anew; a warning says
so, once. Damaged files are discarded, and what was in them is compiled again.
"""

import hashlib
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numba import config, njit
from numba.core.ccallback import CFunc
from numpy.typing import NDArray

Real = Any
"""A number in the precision of the parameters."""
Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.int64]
Numbers = NDArray[np.uint32]
"""Of nodes and leaves: unsigned, which spares the compiler the case of negative indices."""

if getattr(config, "DISABLE_JIT", 0):
    raise ImportError("GradTree needs Numba's compiler; unset NUMBA_DISABLE_JIT")

_njit: Any = njit
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
_COMPILED_FOLDERS = ("engines", "settings", "trees")
_announced = False


@cache
def _source_stamp(package: str) -> str:
    """A fingerprint of the files of a package; of this one, of those that hold kernels."""
    home = Path(sys.modules[package].__path__[0])
    folders = [home / name for name in _COMPILED_FOLDERS] if package == "gradtree" else [home]
    files = [Path(__file__), *(file for at in folders for file in sorted(at.rglob("*.py")))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


@cache
def _warn_uncached() -> None:
    warnings.warn(
        "GradTree cannot keep its compiled code: no cache folder is writable, so every process "
        "compiles it anew (some seconds). Set NUMBA_CACHE_DIR to a folder that is.",
        RuntimeWarning,
        stacklevel=2,
    )


def _kept(enable_caching: Callable[[], None], owner: Any, function: Callable[..., Any]) -> None:
    """Have Numba keep machine code on disk, and renew it when any kernel of a package has changed.

    By itself it looks at the file of the function only, but the code of all the kernels which that
    calls is kept with it.
    """
    try:
        enable_caching()
    except RuntimeError:  # no folder can be written to
        _warn_uncached()
        return
    with suppress(
        AttributeError, KeyError
    ):  # private to Numba; without it the cache is only less wary
        owner._cache.load_overload = _wary(owner._cache)
        package = function.__module__.partition(".")[0]
        owner._cache._cache_file._source_stamp = _source_stamp(package)


def _wary(cache: Any) -> Callable[..., Any]:
    """Reads machine code from disk; files that a power cut damaged are discarded."""
    load = cache.load_overload

    def load_or_discard(signature: Any, target_context: Any) -> Any:
        try:
            return load(signature, target_context)
        except Exception:  # what a pickle raises that was cut off may be anything
            cache.flush()
            return None

    return load_or_discard


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorator of a function that only other kernels call; Python must not, and would crash.

    LLVM works through the code of a kernel once for itself and again for every kernel above it. So
    those that only pass work on are written into their caller, with ``inline="always"``.

    A tuple of arrays that outlives a branch or a loop is copied, field by field, wherever it is
    looked at. So kernels take out what they need of large tuples before the first of these.
    Together that halves what a first fit compiles, and changes no number.
    """
    return _njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, **_OPTIONS, **options)


def entry_kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorator of a function that Python calls, kept on disk once compiled."""
    return kept_njit(**_OPTIONS, **options)


@cache
def from_python(inner: Any) -> Any:
    """A kernel that only other kernels call, for Python to call: compiled once more, and kept.

    Making all of them entries would cost everyone's first fit the code that goes between.
    """
    return entry_kernel()(inner.py_func)


def kept_njit(*signatures: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``numba.njit`` with ``cache=True``, which here needs no writable folder."""

    def decorate(function: Callable[..., Any]) -> Any:
        # The wrapper for C would unpack all arrays once more, and nothing here calls it.
        dispatcher = _njit(no_cfunc_wrapper=True, **options)(function)
        _kept(dispatcher.enable_caching, dispatcher, function)
        for signature in signatures:
            dispatcher.compile(signature)
        if signatures:
            dispatcher.disable_compile()  # other arrays are passed as one of the known types
        return dispatcher

    return decorate


def callback(function: Callable[..., Any], signature: Any, keep: bool) -> Any:
    """A function that kernels call through a pointer, compiled now, or taken from disk."""
    compiled: Any = CFunc(function, (signature.args, signature.return_type), locals={}, options={})
    if keep:
        _kept(compiled.enable_caching, compiled, function)
    compiled.compile()
    return compiled


def announce(dispatcher: Any) -> None:
    """Tell someone who waits at a terminal, once, that the first fit compiles."""
    global _announced
    if _announced or not sys.stderr.isatty() or dispatcher.signatures:
        return
    _announced = True
    with suppress(Exception):  # a damaged index, too
        if dispatcher._cache._cache_file._load_index():
            return
    print(
        "GradTree: compiling its engine, which takes some seconds and happens once on a machine",
        file=sys.stderr,
    )
