"""Settings of all tests."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# Tests are the same on every run, and do not fail because a machine is slow or busy.
settings.register_profile("suite", derandomize=True, deadline=None, database=None)
settings.load_profile("suite")

# Figures are drawn without a screen.
os.environ.setdefault("MPLBACKEND", "agg")

MOST_PROCESSES = 4
"""Each of them may load TensorFlow and compile the kernels that it uses first."""


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Spread the whole suite over the cores, file by file; a part of it runs in one process.

    ``-n 0`` runs everything in one process too.
    """
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    inside = hasattr(config, "workerinput")
    if whole and not inside and getattr(config.option, "numprocesses", 0) is None:
        config.option.numprocesses = min(os.cpu_count() or 1, MOST_PROCESSES)
        config.option.dist = "loadfile"
