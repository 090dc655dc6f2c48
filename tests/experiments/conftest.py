from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from runner_helpers import TOKEN

from experiments.runner import plugins


@pytest.fixture(scope="class")
def fakes() -> Iterator[None]:
    """Make the misbehaving learners known to these tests and to the workers they start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(plugins.VARIABLE, "fake_learners")
        patch.setenv(TOKEN, uuid.uuid4().hex)
        yield
