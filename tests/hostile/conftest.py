"""Lets these tests use the misbehaving learners and the helpers of the runner's tests."""

from __future__ import annotations

import sys
import uuid
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))

from runner_helpers import TOKEN

from experiments.runner import plugins


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the misbehaving learners known to these tests and to the workers they start."""
    monkeypatch.setenv(plugins.VARIABLE, "fake_learners")
    monkeypatch.setenv(TOKEN, uuid.uuid4().hex)
