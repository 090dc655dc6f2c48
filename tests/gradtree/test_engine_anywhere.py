"""The learner where no cache can be written, where nothing is compiled, and at a terminal."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from gradtree import compiling

ROOT = Path(__file__).resolve().parents[2]

UNCACHED = """
import warnings
from numba.core import caching
caching.FunctionCache._impl_class._locator_classes = []
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from gradtree import GradTreeClassifier
    {work}
print([str(w.message) for w in caught if w.category is RuntimeWarning])
"""

FIT = """
import numpy as np
from gradtree import GradTreeClassifier, GradTreeRegressor
X = np.random.default_rng(0).normal(size=(60, 2)); y = X[:, 0] > 0
for classes in (y, y + 0 + (X[:, 1] > 0)):
    model = GradTreeClassifier(depth=2, epochs=4, restarts=0, random_state=0).fit(X, classes)
    print(model.score(X, classes), model.tree_.node_count)
def own(prediction, target, gradient):
    gradient[:] = prediction - target
    return (gradient ** 2).sum() / 2
for loss, numbers in (("quantile", X[:, 0]), ("huber", X), (own, X[:, 0])):
    model = GradTreeRegressor(loss=loss, depth=2, epochs=4, restarts=0, random_state=0)
    print(round(model.fit(X, numbers).score(X, numbers), 6), model.tree_.node_count)
"""


def outcome(program: str, **environment: str) -> str:
    import os

    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_import_without_a_writable_cache_warns_once():
    (warning,) = eval(outcome(UNCACHED.format(work="import gradtree.classifier")))
    assert "NUMBA_CACHE_DIR" in warning


@pytest.mark.slow
def test_fit_without_a_writable_cache():
    work = (
        "import numpy as np; X = np.random.default_rng(0).normal(size=(60, 2)); y = X[:, 0] > 0; "
        "model = GradTreeClassifier(epochs=30, restarts=0, random_state=0).fit(X, y); "
        "assert model.score(X, y) > 0.8"
    )
    (warning,) = eval(outcome(UNCACHED.format(work=work)))
    assert "every process" in warning


def test_nothing_is_compiled_if_numba_is_told_so():
    interpreted = outcome(FIT, NUMBA_DISABLE_JIT="1").splitlines()
    compiled = outcome(FIT).splitlines()
    assert len(interpreted) == 5
    # Rounding differs: without Numba some steps are taken in double precision.
    for plain, fast in zip(interpreted, compiled, strict=True):
        assert float(plain.split()[0]) == pytest.approx(float(fast.split()[0]), abs=0.1)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("kept", "compiled", "terminal", "expected"),
    [({}, [], True, 1), ({"key": "file"}, [], True, 0), ({}, ["sig"], True, 0), ({}, [], False, 0)],
)
def test_one_line_tells_a_terminal_what_the_wait_is_for(
    kept, compiled, terminal, expected, monkeypatch
):
    screen = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(compiling, "_announced", False)
    index = SimpleNamespace(_cache_file=SimpleNamespace(_load_index=lambda: kept))
    for _ in range(2):
        compiling.announce(SimpleNamespace(signatures=compiled, _cache=index))
    lines = screen.getvalue().splitlines()
    assert len(lines) == expected
    assert all("once" in line for line in lines)
