"""Settings of all tests."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

# Tests are the same on every run, and do not fail because a machine is slow or busy.
settings.register_profile("suite", derandomize=True, deadline=None, database=None)
settings.load_profile("suite")

# Hypothesis also draws constants that it finds in those modules of the project that are loaded, and
# which are loaded depends on the tests that ran before in the same process. No setting ends that.
providers.is_local_module_file = lambda path: False

# Figures are drawn without a screen.
os.environ.setdefault("MPLBACKEND", "agg")


@pytest.fixture(autouse=True)
def plugins_end_with_their_test() -> Iterator[None]:
    """Commands that are told of a plug-in name it to their worker processes by a variable."""
    before = os.environ.get("GRADTREE_PLUGINS")
    yield
    os.environ.pop("GRADTREE_PLUGINS", None)
    if before is not None:
        os.environ["GRADTREE_PLUGINS"] = before


@pytest.fixture
def python() -> Callable[..., str]:
    """Run a program in a Python of its own, in the checkout: what it prints if it ends well."""

    def run(program: str, **environment: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=Path(__file__).parents[1],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
        return done.stdout

    return run


MOST_PROCESSES = 4
"""Each of them may load TensorFlow and compile the kernels that it uses first."""


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Spread the default tests over the cores, file by file.

    A part of them, those that measure (``-m slow``) and those of ``-n 0`` run in one process.
    """
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    whole = whole and "not slow" in config.option.markexpr
    inside = hasattr(config, "workerinput")
    if whole and not inside and getattr(config.option, "numprocesses", 0) is None:
        config.option.numprocesses = min(os.cpu_count() or 1, MOST_PROCESSES)
        config.option.dist = "loadfile"
        config.option.loadscopereorder = False
        # Threads beside the other processes would only wait for each other.
        os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the file that compiles every kernel, and end with those that use them most.

    Other processes do the tests in between meanwhile, and compile nothing a second time.
    """
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    if item.path.name == "test_learner_contract.py":
        return 0
    return 2 if item.path.parent.name in ("baselines", "gradtree") else 1
