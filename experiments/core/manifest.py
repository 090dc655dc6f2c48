"""``hashes.csv``: what the files of a committed store are, so that an altered score is noticed."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from experiments.core.checks import is_slug, shown
from experiments.core.files import LARGEST_FILE, write_files

HASHES = "hashes.csv"


def hashes(folder: Path) -> dict[str, tuple[str, int]]:
    """SHA-256 and size of every file that tables are made of, by name below the folder."""
    found = {}
    for name, content in _covered(folder):
        found[name] = (hashlib.sha256(content).hexdigest(), len(content))
    return found


def digest_of(path: Path) -> str | None:
    """SHA-256 of a file, ``None`` of what is none, cannot be read or is too large."""
    with contextlib.suppress(OSError):
        if path.is_file() and path.stat().st_size <= LARGEST_FILE:
            return hashlib.sha256(path.read_bytes()).hexdigest()
    return None


def _covered(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Records, what lies beside them, and packed predictions; not those of single jobs."""
    for pattern in ("*.jsonl", "*.jsonl.gz", "*/*.jsonl", "*/*.jsonl.gz", "predictions/*/*.npz"):
        for path in folder.glob(pattern):
            with contextlib.suppress(OSError):
                if path.is_file() and path.stat().st_size <= LARGEST_FILE:
                    yield path.relative_to(folder).as_posix(), path.read_bytes()


def write_hashes(folder: Path) -> None:
    """Say what the files of records are, for a store that is committed."""
    lines = [f"{name},{digest},{size}\n" for name, (digest, size) in sorted(hashes(folder).items())]
    write_files(folder, {HASHES: "".join(["file,sha256,bytes\n", *lines])})


@dataclass(frozen=True)
class Changes:
    """What became of the files that ``hashes.csv`` vouches for.

    Attributes
    ----------
    altered : do not begin as it says, or are gone.
    added_to : have more lines than it says, or are unknown to it. Every writer but
        ``merge --compact`` only adds.
    """

    altered: list[str] = field(default_factory=list)
    added_to: list[str] = field(default_factory=list)


def changes(folder: Path) -> Changes | None:
    """How a store differs from its ``hashes.csv``; ``None`` if it has none."""
    path = folder / HASHES
    if not path.exists() and not path.is_symlink():
        return None
    try:
        readable = path.is_file() and path.stat().st_size <= LARGEST_FILE
        said = _read_hashes(path.read_bytes().decode()) if readable else {}
    except (OSError, ValueError):
        said = {}
    if not said:
        return Changes(altered=[HASHES])
    found, added_to = {}, []
    for name, content in _covered(folder):
        _, size = said.get(name, ("", 0))
        found[name] = hashlib.sha256(content[:size]).hexdigest()
        if len(content) > size:
            added_to.append(name)
    altered = [name for name, (digest, _) in said.items() if found.get(name) != digest]
    return Changes(altered, [name for name in added_to if name not in altered])


def _read_hashes(text: str) -> dict[str, tuple[str, int]]:
    said = {}
    for line in text.splitlines()[1:]:
        name, digest, size = line.split(",")
        if not all(is_slug(part) for part in name.split("/")) or int(size) < 0:
            raise ValueError(f"{shown(name)} is no file of a store")
        said[name] = (digest, int(size))
    return said
