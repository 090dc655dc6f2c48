"""What several of these tests use: misbehaving learners, plug-ins or none, commands as typed."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import plugins
import pytest
from runner_helpers import FAKES, TOKEN

from experiments.__main__ import main
from experiments.runner import registry


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
    plugins.forget()
    yield
    plugins.forget()


@pytest.fixture
def plugged(tmp_path: Path, no_plugins: None) -> Path:
    """A plug-in with a learner and a table."""
    path = plugins.write(tmp_path, plugins.BOTH)
    registry.use([path])
    return path


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], no_plugins: None
) -> Callable[..., tuple[int, str, str]]:
    """Run a verb: its exit status, what it printed, and its complaints."""

    def call(*words: object) -> tuple[int, str, str]:
        status = main([str(word) for word in words])
        return status, *capsys.readouterr()

    return call
