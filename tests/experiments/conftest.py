"""What several of these tests use: the misbehaving learners."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from runner_helpers import FAKES, TOKEN

from experiments.runner import registry


@pytest.fixture(scope="class")
def fakes() -> Iterator[None]:
    """Make the misbehaving learners known to these tests and to the workers they start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(registry.VARIABLE, "")
        patch.setenv(TOKEN, uuid.uuid4().hex)
        registry.use([FAKES])
        yield
