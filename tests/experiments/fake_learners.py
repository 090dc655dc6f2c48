"""A plug-in with learners that misbehave in every way the runner has to survive.

Nobody sees these learners who does not ask for them with ``registry.use([fake_learners])``. With
``FAKE_LEARNERS_LOG`` set, every fit leaves a line in that file.
"""

import ctypes
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from baselines.contract import Fitted, Learner

LOG_VARIABLE = "FAKE_LEARNERS_LOG"
OTHER_VARIABLE = "FAKE_DATASETS_OTHER"
"""A number; set it where the datasets shall be others under the same name."""


class Constant:
    """Predicts one class, and with equal probabilities, or whatever it is told to answer."""

    def __init__(self, n_classes: int, answer: Any = 0, **other: Any) -> None:
        self.classes_ = other.get("classes", np.arange(n_classes))
        self._answer, self._proba = answer, other.get("proba", 1 / n_classes)

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self._answer)

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), len(self.classes_)), self._proba)


class WrongShape(Constant):
    def predict(self, X: Any) -> Any:
        return np.zeros((len(X) + 1, 2), dtype=int)


class Overwriting(Constant):
    def predict(self, X: Any) -> Any:
        X *= 0
        return super().predict(X)


class Unlocking(Overwriting):
    def predict(self, X: Any) -> Any:
        X.setflags(write=True)
        return super().predict(X)


class LabelsOnly:
    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), dtype=int)


class Stump:
    """Thresholds a random feature: a real if poor learner whose outcome depends on the seed."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def fit(self, X: Any, y: Any) -> "Stump":
        self.classes_ = np.unique(y)
        self._column = int(np.random.default_rng(self._seed).integers(X.shape[1]))
        above = X[:, self._column] > 0
        self._labels = [
            int(np.bincount(y[above == side], minlength=1).argmax()) for side in (False, True)
        ]
        return self

    def predict(self, X: Any) -> Any:
        return np.where(X[:, self._column] > 0, self._labels[1], self._labels[0])

    def predict_proba(self, X: Any) -> Any:
        return (self.predict(X)[:, None] == self.classes_).astype(float)


def _fitted(split: Any, estimator: Any, size: Any = 1, **more: Any) -> Fitted:
    return Fitted(estimator, split.X_train_valid, split.y_train_valid, None, size, **more)


def good(split: Any, params: Any, seed: int) -> Fitted:
    time.sleep(params.get("seconds", 0))
    estimator = Stump(seed + params.get("shift", 0)).fit(split.X_train_valid, split.y_train_valid)
    return _fitted(split, estimator, size=3)


# What ends without a result of its own predicts one class.


def sleeps(*_: Any) -> None:
    """Hangs in native code with the interpreter locked: no Python signal handler would run."""
    ctypes.PyDLL(None).sleep(3600)


def allocates(*_: Any) -> None:
    kept = []
    while True:
        kept.append(np.ones(2**22))


def allocates_natively(*_: Any) -> None:
    """Allocates and touches memory through the C library, which raises nothing."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.malloc.argtypes = [ctypes.c_size_t]
    while True:
        ctypes.memset(libc.malloc(2**22), 1, 2**22)


def segfaults(*_: Any) -> None:
    ctypes.string_at(0)


def raises(*_: Any) -> None:
    print("about to raise")
    raise ValueError("no tree would grow")


def exits(*_: Any) -> None:
    sys.exit(7)


def prints_and_raises(*_: Any) -> None:
    print("\n".join(["x" * 1023] * 4 * 1024))
    print("the last line", flush=True)
    subprocess.run(["echo", "from a child"], check=True)
    raise ValueError("after much talk")


def prints_for_ever(*_: Any) -> None:
    while True:
        os.write(1, b"y" * (1 << 20))


def forks(*_: Any) -> None:
    """Leaves children: a plain one, and one in a session of its own without our environment."""
    subprocess.Popen(["sleep", "3600"])
    subprocess.Popen(["sleep", "3600"], start_new_session=True, env={})


def forks_eight_times(*_: Any) -> None:
    """Children that share all memory with their parent, for a while."""
    block = np.ones(2**24)  # 128 MiB
    children = []
    for _ in range(8):
        pid = os.fork()
        if not pid:
            time.sleep(1.5)
            os._exit(int(block[0]) - 1)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)


def _says(data: bytes) -> None:
    """Write into every socket that this process has."""
    for link in list(Path("/proc/self/fd").iterdir()):
        if link.is_symlink() and str(link.readlink()).startswith("socket:"):
            os.write(int(link.name), data)


def answers_for_another(*_: Any) -> None:
    from experiments.runner.executors.worker import frame

    _says(frame({"run": {"key": "0" * 20, "status": "ok"}, "reusable": True}))


def stops_its_keeper(*_: Any) -> None:
    """And leaves children."""
    forks()
    os.kill(os.getppid(), signal.SIGSTOP)
    time.sleep(3600)


def pollutes(*_: Any) -> None:
    """Changes whatever a later job might depend on."""
    import sklearn
    import sklearn.tree

    os.environ["FAKE_POLLUTION"] = "1"
    os.chdir("/")
    np.seterr(all="raise")
    sklearn.set_config(assume_finite=True, enable_metadata_routing=True)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    sklearn.tree.DecisionTreeClassifier.predict = lambda self, X: np.zeros(len(X), dtype=int)


def overwrites(split: Any, *_: Any) -> None:
    split.X_train[:] = 0


def unlocks(split: Any, *_: Any) -> None:
    split.X_train.setflags(write=True)


def cheats(split: Any, *_: Any) -> Fitted:
    return _fitted(split, Constant(split.n_classes, split.y_test[0]))


ODD: dict[str, Callable[[int], dict[str, Any]]] = {
    "nan": lambda n: {"estimator": Constant(n, np.nan)},
    "label": lambda n: {"estimator": Constant(n, 99)},
    "shape": lambda n: {"estimator": WrongShape(n)},
    "nan-probabilities": lambda n: {"estimator": Constant(n, proba=np.nan)},
    "huge-probabilities": lambda n: {"estimator": Constant(n, proba=1.7e308)},
    "negative-classes": lambda n: {"estimator": Constant(n, classes=np.array([0, -1]))},
    "repeated-classes": lambda n: {"estimator": Constant(n, classes=np.array([1, 1]))},
    "fractional-classes": lambda n: {"estimator": Constant(n, classes=np.array([0, 0.5]))},
    "size": lambda n: {"size": float("nan")},
    "extra": lambda n: {"extra": {str(i): i for i in range(300_000)}},
    "object": lambda n: {"extra": {"a": object()}},
    "overwrites": lambda n: {"estimator": Overwriting(n)},
    "unlocks": lambda n: {"estimator": Unlocking(n)},
}


def returns_odd_things(split: Any, params: Any, seed: int) -> Fitted:
    """Predictions, classes and remarks that are none."""
    made = {"estimator": Constant(split.n_classes), **ODD[params["kind"]](split.n_classes)}
    return _fitted(split, **made)


def _learner(act: Callable[..., Fitted | None], slug: str = "", **more: Any) -> Learner:
    slug = slug or f"fake-{act.__name__.replace('_', '-')}"
    name = slug.removeprefix("fake-").capitalize()

    def fit(split: Any, params: Any, seed: int) -> Fitted:
        if path := os.environ.get(LOG_VARIABLE):
            where = split.provenance
            with Path(path).open("a") as log:
                log.write(f"{where.protocol} {where.dataset} {slug} {where.trial} {seed}\n")
        return act(split, params, seed) or _fitted(split, Constant(split.n_classes))

    return Learner(slug, name, "1", lambda task: {}, fit, in_paper=False, **more)


LEARNERS = [
    _learner(good, space={"shift": (0, 1, 2, 3), "seconds": (0.0, 0.001)}),
    _learner(good, "fake-picky", skip=lambda features, classes: "too picky"),
    _learner(good, "fake-lacking", needs=("a_module_nobody_has",)),
    *map(_learner, (sleeps, allocates, allocates_natively, segfaults, raises, exits)),
    *map(_learner, (prints_and_raises, prints_for_ever, forks, forks_eight_times)),
    *map(_learner, (answers_for_another, stops_its_keeper, pollutes, overwrites, unlocks)),
    *map(_learner, (cheats, returns_odd_things)),
    _learner(lambda *_: None, "fake-trivial"),
    _learner(lambda *_: os.abort(), "fake-aborts"),
    _learner(lambda *_: os._exit(7), "fake-exits-hard"),
    _learner(lambda *_: os.kill(os.getpid(), signal.SIGSTOP), "fake-stops-itself"),
    _learner(lambda *_: forks() or sleeps(), "fake-forks-and-sleeps"),
    _learner(lambda *_: forks() or segfaults(), "fake-forks-and-segfaults"),
    _learner(lambda *_: _says(b"\x80\x04garbage" * 10), "fake-says-garbage"),
    _learner(
        lambda *_: _says(b'{"run":' + b"[" * 10**5 + b"]" * 10**5 + b"}\n"), "fake-says-nested"
    ),
    _learner(lambda *_: _says(b'{"run": {') or time.sleep(3600), "fake-says-half"),
    _learner(lambda split, *_: _fitted(split, LabelsOnly()), "fake-labels-only"),
]


def _table(n_rows: int, n_features: int, n_classes: int) -> pd.DataFrame:
    rng = np.random.default_rng([n_rows, n_features, int(os.environ.get(OTHER_VARIABLE, "0"))])
    table = pd.DataFrame(rng.normal(size=(n_rows, n_features))).add_prefix("x")
    return table.assign(y=np.digitize(table.sum(axis=1), [0] if n_classes == 2 else [-1, 1]))


DATASETS = {"Fake two": (_table(60, 4, 2), "y"), "Fake three": (_table(90, 5, 3), "y")}
