"""Settings of all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# Tests are the same on every run, and do not fail because a machine is slow or busy.
settings.register_profile("suite", derandomize=True, deadline=None, database=None)
settings.load_profile("suite")

# Figures are drawn without a screen.
os.environ.setdefault("MPLBACKEND", "agg")
