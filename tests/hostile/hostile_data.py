"""An invented dataset of forty rows, the archives it comes in, and what is no file at all."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import socket
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from datasets import Dataset, SourceError, load_dataset, loading
from datasets.sources import uci

ROWS = b"".join(
    b"%d,%s,%s\n" % (i * 7 % 23, b"rgb"[i % 3 :][:1], b"yn"[i % 2 :][:1]) for i in range(40)
)
UCI = {"kind": "uci", "where": "7/sample", "exercised": False}


def facts(**changes: Any) -> dict[str, Any]:
    return {
        "name": "Sample",
        "task": "binary",
        "link": "https://example.org/sample",
        "citation": "Nobody (2000). Sample.",
        "licence": "CC0",
        "n_rows": 40,
        "n_features": 2,
        "content_hash": "0" * 64,
        "columns": ["size", "colour", "kind"],
        "label": "kind",
        "categorical": ["colour"],
        "classes": [{"name": "y", "rows": 20}, {"name": "n", "rows": 20}],
        "files": {"sample.csv": hashlib.sha256(ROWS).hexdigest()},
        **changes,
    }


def unreachable(address: str) -> bytes:
    raise SourceError("no network in this test")


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return buffer.getvalue()


def load_from(archive: bytes, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    """Load the sample from an archive as the UCI server would send it, without a cache."""
    monkeypatch.setattr(uci, "fetch", lambda address: archive)
    loading._load.cache_clear()
    return load_dataset("sample", sources=["uci"])


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as made:
        made.bind(f"{short}/s")  # the path of a socket must be short, and the test's is not
        shutil.move(f"{short}/s", path)


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_folder(path: Path) -> None:
    path.mkdir()


def make_huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10 * 2**30)


def make_loop(path: Path) -> None:
    path.symlink_to(path)


UNUSABLE: dict[str, tuple[Callable[[Path], None], str]] = {
    "pipe": (make_pipe, "is a pipe, not a regular file"),
    "socket": (make_socket, "is a socket, not a regular file"),
    "device": (make_device, "is a device, not a regular file"),
    "folder": (make_folder, "is a folder, not a regular file"),
    "10 GB": (make_huge, "is larger than 256 MB"),
    "link to itself": (make_loop, "cannot be read"),
}
