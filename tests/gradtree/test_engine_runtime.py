"""Training as a program: repeatable, parallel, interruptible, without a cache, at a terminal."""

import io
import itertools
import signal
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from small_problems import Terminal

from gradtree import compiling
from gradtree.training.train import Progress, TrainConfig, train

ENDLESS = TrainConfig(depth=8, epochs=10**6, patience=10**6, restarts=1, lr_leaf=0.05)


@pytest.fixture(autouse=True, scope="module")
def _compiled() -> None:
    """So that tests do not time this."""
    train(*rows(), None, None, 2, TrainConfig(depth=5, epochs=2, restarts=0))


def rows(n_rows: int = 200, n_features: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    return X, (X[:, 0] + rng.normal(size=n_rows) > 0).astype(np.int64)


def test_other_threads_run_during_a_turn():
    """While one thread trains, this one goes on, which it could not if the lock were held."""
    X, y = rows(3000)
    turns: list[float] = []
    stop = threading.Event()

    def note(progress: Progress) -> None:
        turns.append(time.perf_counter())
        if stop.is_set():
            raise InterruptedError

    def work() -> None:
        with pytest.raises(InterruptedError):
            train(X, y, None, None, 2, ENDLESS, progress=note)

    thread = threading.Thread(target=work)
    thread.start()
    ticks: list[float] = []
    while len(turns) < 6:
        time.sleep(0.005)
        ticks.append(time.perf_counter())
    stop.set()
    thread.join(timeout=30)
    assert not thread.is_alive()
    within = [sum(begin < tick < end for tick in ticks) for begin, end in itertools.pairwise(turns)]
    # A turn lasts about 0.2 s. Between two turns the lock is free for a moment: that is one tick.
    assert max(within) >= 5


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX signals")
@pytest.mark.parametrize(("n_rows", "n_features"), [(100, 4), (60_000, 30)])
def test_an_interrupt_is_heeded_at_once(n_rows, n_features):
    """Also in the first turn on many rows, when the engine does not yet know how fast it is."""
    X, y = rows(n_rows, n_features)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        began = time.process_time()
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(KeyboardInterrupt):
            train(X, y, None, None, 2, ENDLESS)
        taken = time.process_time() - began
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert taken < 1.5


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


def test_import_without_a_writable_cache_warns_once(python):
    (warning,) = eval(python(UNCACHED.format(work="import gradtree.classifier")))
    assert "NUMBA_CACHE_DIR" in warning


@pytest.mark.slow
def test_fit_without_a_writable_cache(python):
    work = (
        "import numpy as np; X = np.random.default_rng(0).normal(size=(60, 2)); y = X[:, 0] > 0; "
        "model = GradTreeClassifier(epochs=30, restarts=0, random_state=0).fit(X, y); "
        "assert model.score(X, y) > 0.8"
    )
    (warning,) = eval(python(UNCACHED.format(work=work)))
    assert "every process" in warning


def test_without_a_compiler_the_error_says_why(python):
    with pytest.raises(AssertionError, match="unset NUMBA_DISABLE_JIT"):
        python("import gradtree.classifier", NUMBA_DISABLE_JIT="1")


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
