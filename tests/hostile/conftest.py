"""What several of these tests use: an invented dataset on a machine that has none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_data import ROWS, UCI, facts, unreachable

from datasets import cache, loading, registry
from datasets.readers import read_table
from datasets.record_file import parse_record
from datasets.sources import packages, uci


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The one dataset of a registry, on a fresh machine; its content hash."""
    plain = parse_record("sample", facts())
    content_hash = read_table(plain, [ROWS], plain.layout).content_hash
    entry = parse_record("sample", facts(content_hash=content_hash, sources=[UCI]))
    monkeypatch.setattr(registry, "_records", lambda: {"sample": entry})
    monkeypatch.setattr(uci, "fetch", unreachable)
    monkeypatch.setenv("GRADTREE_CACHE", str(tmp_path / "cache"))
    for name in ("GRADTREE_DATA", "GRADTREE_SOURCES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cache, "_spare_folders", [])
    loading._load.cache_clear()
    yield content_hash
    loading._load.cache_clear()
    registry._scanned.cache_clear()
    packages._listed.cache_clear()
