"""What several of these tests use: the misbehaving learners, plug-ins, and none of either."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import plugins
import pytest
from runner_helpers import FAKES, TOKEN

from experiments.runner import plugin, registry


@pytest.fixture(scope="class")
def fakes() -> Iterator[None]:
    """Make the misbehaving learners known to these tests and to the workers they start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(registry.VARIABLE, "")
        patch.setenv(TOKEN, uuid.uuid4().hex)
        registry.use([FAKES])
        yield


@pytest.fixture
def no_plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No plug-in is known, and none is remembered."""
    monkeypatch.setenv(registry.VARIABLE, "")
    plugin.imported.cache_clear()
    registry._entries.cache_clear()
    yield
    plugin.imported.cache_clear()
    registry._entries.cache_clear()


@pytest.fixture
def plugged(tmp_path: Path, no_plugins: None) -> Path:
    """A plug-in with a learner and a table."""
    path = plugins.write(tmp_path, plugins.BOTH)
    registry.use([path])
    return path
