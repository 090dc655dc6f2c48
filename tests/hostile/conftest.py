"""What several of these tests use: the misbehaving learners, an invented dataset, a real store."""

from __future__ import annotations

import shutil
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))

from hostile_data import ROWS, UCI, facts, unreachable
from hostile_store import copy_store
from runner_helpers import TOKEN

from datasets import cache, carriers, loading, registry
from datasets.readers import read_table
from datasets.record_file import parse_record
from datasets.sources import uci
from experiments.core import manifest
from experiments.runner import plugins


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the misbehaving learners known to these tests and to the workers they start."""
    monkeypatch.setenv(plugins.VARIABLE, "fake_learners")
    monkeypatch.setenv(TOKEN, uuid.uuid4().hex)


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
    carriers._listed.cache_clear()


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_store(tmp_path_factory.mktemp("pristine") / "store")


@pytest.fixture
def store(pristine: Path, tmp_path: Path) -> Path:
    """A store without a manifest, as a run leaves it."""
    shutil.copytree(pristine, tmp_path / "store")
    (tmp_path / "store" / manifest.HASHES).unlink()
    return tmp_path / "store"
