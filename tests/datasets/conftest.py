"""The registry as if on a fresh machine: no mirror, an empty cache, nothing remembered."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from datasets_support import ROWS, fruit_record, fruit_table, sample_record

from datasets import SourceError, cache, loading, registry
from datasets.readers import read_table
from datasets.record import Record
from datasets.sources import packages, uci
from experiments.runner import registry as names


@pytest.fixture(autouse=True)
def fresh_machine(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    if not request.node.get_closest_marker("mirror"):
        monkeypatch.delenv("GRADTREE_DATA", raising=False)
        monkeypatch.delenv("GRADTREE_SOURCES", raising=False)
        monkeypatch.setenv("GRADTREE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(uci, "PAUSES_SECONDS", (0.0, 0.0))
    _forget()
    yield
    _forget()


def _forget() -> None:
    loading._load.cache_clear()
    cache._warn_unwritable.cache_clear()
    uci._silent_hosts.clear()
    packages._failures.clear()
    packages._download.cache_clear()
    names._entries.cache_clear()


@pytest.fixture
def fruit(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Record]:
    """A registry with one made-up dataset; call it to give the record other sources."""

    def register(*sources: dict[str, Any]) -> Record:
        content_hash = fruit_table().content_hash
        entry = fruit_record(content_hash=content_hash, sources=list(sources))
        monkeypatch.setattr(registry, "_records", lambda: {"fruit": entry})
        return entry

    register()
    return register


@pytest.fixture
def sample(monkeypatch: pytest.MonkeyPatch) -> str:
    """The one dataset of a registry, whose source cannot be reached; its content hash."""

    def unreachable(address: str) -> bytes:
        raise SourceError("no network in this test")

    plain = sample_record()
    content_hash = read_table(plain, [ROWS], plain.layout).content_hash
    entry = sample_record(content_hash=content_hash)
    monkeypatch.setattr(registry, "_records", lambda: {"sample": entry})
    monkeypatch.setattr(uci, "fetch", unreachable)
    return content_hash
