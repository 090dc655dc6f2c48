"""How the suite touches the disk: JSON lines that survive a kill, and files written whole.

A line counts when it is whole. A writer that dies in mid-line leaves a torn
tail; readers drop it, and the next writer ends it with a line break, so that
no later line is lost with it.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Lines:
    """The whole lines of a file, and how many torn ones were dropped."""

    values: list[dict[str, Any]]
    torn: int


def append_line(path: Path, value: dict[str, Any]) -> int:
    """Add one line, durably, at a cost that does not depend on the size of the file.

    Returns
    -------
    int
        The size of the file afterwards.
    """
    line = json.dumps(value, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            line = b"\n" + line
        _write_all(descriptor, line)
        os.fsync(descriptor)
        return size + len(line)
    finally:
        os.close(descriptor)


def read_lines(path: Path) -> Lines:
    """Every whole line of a file; a file that is not there has none."""
    if not path.exists():
        return Lines([], 0)
    values, torn = [], 0
    for line in path.read_bytes().split(b"\n"):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError:
            torn += 1
            continue
        values.append(value)
    return Lines(values, torn)


def replace_lines(path: Path, values: list[dict[str, Any]]) -> None:
    """Write a whole file anew: beside it, then renamed over it."""
    text = "".join(json.dumps(v, separators=(",", ":"), allow_nan=False) + "\n" for v in values)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text)
    beside.replace(path)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write beside, then rename; a file that would not change is not touched."""
    for name, text in files.items():
        path = folder / name
        content = text.encode("utf-8")
        if path.exists() and path.read_bytes() == content:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
