"""How the suite touches the disk: JSON lines that survive a kill, files written whole, a lock.

A line counts when it is whole. A writer that dies in mid-line leaves a torn
tail; readers drop it, and the next writer ends it with a line break, so that
no later line is lost with it. A file that is done with is packed (``.gz``).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import gzip
import json
import os
import socket
import stat
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.core.checks import CannotGoOnError

LARGEST_FILE = 1 << 30
"""A file of lines that is larger than this is none of ours, packed or unpacked."""
PACKED = ".gz"


@dataclass(frozen=True)
class Lines:
    """The whole lines of a file by number (from 1), and what was wrong with the others.

    ``torn`` counts lines that a kill cut short: harmless, their jobs run again.
    """

    values: list[tuple[int, Any]]
    problems: list[str]
    torn: int = 0


def append_line(path: Path, value: Mapping[str, Any]) -> int:
    """Add one line, durably, at a cost that does not depend on the size of the file.

    Returns
    -------
    int
        The size of the file afterwards.
    """
    return append_lines(path, [value])


def append_lines(path: Path, values: Iterable[Mapping[str, Any]]) -> int:
    """Add lines, all of them or none, and wait for the disk once."""
    lines = b"".join(map(_line, values))
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            lines = b"\n" + lines
        try:
            _write_all(descriptor, lines)
            os.fsync(descriptor)
        except OSError:
            # A disk that fills up in mid-line must not leave half of it behind.
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, size)
            raise
        return size + len(lines)
    finally:
        os.close(descriptor)


def read_lines(path: Path) -> Lines:
    """Every whole line of a file; a file that is not there has none."""
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            return Lines([], [f"{path}: not a file"])
        if facts.st_size > LARGEST_FILE:
            return Lines([], [f"{path}: larger than {LARGEST_FILE >> 20} MB"])
        content = content_of(path)
    except FileNotFoundError:
        return Lines([], [])
    except (DamagedFileError, OSError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else problem
        return Lines([], [f"{path}: {why}"])
    values: list[tuple[int, Any]] = []
    problems: list[str] = []
    torn = 0
    *whole, tail = content.split(b"\n")
    for number, line in enumerate([*whole, tail], start=1):
        if not line.strip():
            continue
        try:
            values.append((number, _DECODE(line.decode())))
        except (ValueError, RecursionError):
            # A kill in mid-line leaves a beginning; the next writer ends it with a line break.
            if number > len(whole) or (line.startswith(b"{") and not line.rstrip().endswith(b"}")):
                torn += 1
            else:
                problems.append(f"{path}:{number}: not a line of JSON")
    return Lines(values, problems, torn)


class DamagedFileError(ValueError):
    """A packed file that cannot be unpacked; the message says why."""


def content_of(path: Path) -> bytes:
    """The lines of a file in one piece, unpacked."""
    if path.suffix != PACKED:
        return path.read_bytes()
    try:
        with gzip.open(path) as file:
            content = file.read(LARGEST_FILE + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as problem:
        raise DamagedFileError(f"a damaged file ({problem})") from problem
    if len(content) > LARGEST_FILE:
        raise DamagedFileError(f"larger than {LARGEST_FILE >> 20} MB when unpacked")
    return content


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no number that may be stored")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A mapping that says everything once; of two different values neither is to be believed."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a name occurs twice")
    return values


_DECODE = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refuse).decode


def replace_lines(path: Path, values: list[dict[str, Any]]) -> None:
    """Write a whole file anew, packed if its name says so: beside it, then renamed over it."""
    content = b"".join(_line(value) for value in values)
    # No time and no name inside: the same lines are the same file tomorrow.
    packed = path.suffix == PACKED
    write_whole(path, gzip.compress(content, mtime=0) if packed else content)


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def write_whole(path: Path, content: bytes) -> None:
    """Write beside, under a name of its own, then rename: no reader sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(beside).chmod(0o644)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write texts by name; a file that would not change is not touched."""
    for name, text in files.items():
        path = folder / name
        content = text.encode("utf-8")
        if not path.exists() or path.read_bytes() != content:
            write_whole(path, content)


class StoreWriteError(CannotGoOnError):
    """The disk is full or a folder cannot be written to."""


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Say in a sentence that a folder cannot be written to, whatever was being written."""
    try:
        yield
    except OSError as problem:
        why = problem.strerror or type(problem).__name__
        raise StoreWriteError(
            f"cannot write to {folder}: {why}; free some space, check the permissions, or "
            "name another folder with --store"
        ) from problem


PROBE_BYTES = 1 << 16


def probe(folder: Path) -> None:
    """Make sure that a folder can be written to before work begins that would be lost."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".probe.") as file:
            file.write(bytes(PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())


class StoreBusyError(CannotGoOnError):
    """Another process writes to this store; the message names it."""


LOCK = ".lock"
_BUSY = (errno.EACCES, errno.EAGAIN)
_held: set[tuple[int, int]] = set()
"""Lock files of this process, by device and number: the kernel tells processes apart only."""


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Be the only writer of a folder for a while.

    The lock is the kernel's (POSIX, so that network file systems that support
    locks share it) and ends with the process, however that ends. What is
    written into the file only tells others who holds it.

    Raises
    ------
    StoreBusyError
        Naming the process that holds the lock.
    """
    probe(folder)
    with writing(folder):
        path = folder / LOCK
        if path.exists() and _identity(path.stat()) in _held:
            # Opening and closing the file once more would let go of the lock that is held.
            raise StoreBusyError(_busy(folder, "this very process"))
        # It is emptied below: a link would empty a file elsewhere.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    identity = _identity(os.fstat(descriptor))
    try:
        _lock(descriptor, folder)
        _held.add(identity)
        with writing(folder):
            os.ftruncate(descriptor, 0)
            since = time.strftime("%Y-%m-%d %H:%M:%S")
            os.pwrite(descriptor, f"{os.getpid()} {socket.gethostname()} {since}\n".encode(), 0)
        yield
    finally:
        _held.discard(identity)
        os.close(descriptor)


def _identity(facts: os.stat_result) -> tuple[int, int]:
    return facts.st_dev, facts.st_ino


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as problem:
        if problem.errno in _BUSY:
            raise StoreBusyError(_busy(folder, _holder(descriptor))) from None
        print(
            f"{folder} is on a file system without locks ({problem.strerror}): make sure that "
            "nothing else writes to it meanwhile",
            file=sys.stderr,
        )


def _busy(folder: Path, who: str) -> str:
    return (
        f"{folder} is in use by {who}; wait for it to end, or use another folder (--store) "
        "and merge afterwards"
    )


def _holder(descriptor: int) -> str:
    words = os.pread(descriptor, 200, 0).decode(errors="replace").split(maxsplit=2)
    if len(words) < 3 or not all(word.isprintable() for word in words[:2]):
        return "another process"
    return f"process {words[0]} on {words[1]} since {words[2].strip()}"
