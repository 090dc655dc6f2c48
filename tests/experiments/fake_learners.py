"""A throw-away benchmark: learners that misbehave in every way the runner has to survive.

A plug-in, so nobody sees these learners who does not ask for them by setting
``GRADTREE_PLUGINS=fake_learners``. With ``FAKE_LEARNERS_LOG`` set, every fit
leaves a line in that file, which tells how often a job was really started.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from baselines.contract import Fitted, Learner
from datasets.split import Provenance, Split
from experiments.runner.plugins import ExtraDataset

LOG_VARIABLE = "FAKE_LEARNERS_LOG"
HASH_VARIABLE = "FAKE_DATASETS_HASH"
"""Set it where the datasets shall be others under the same name."""


class Constant:
    """Predicts one class, or whatever it is told to answer."""

    def __init__(self, n_classes: int, answer: Any = 0) -> None:
        self.classes_ = np.arange(n_classes)
        self._answer = answer

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self._answer)

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


class WrongShape(Constant):
    def predict(self, X: Any) -> Any:
        return np.zeros((len(X) + 1, 2), dtype=int)


class NanProbabilities(Constant):
    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), len(self.classes_)), np.nan)


class Stump:
    """Thresholds a random feature: a real if poor learner whose outcome depends on the seed."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def fit(self, X: Any, y: Any) -> Stump:
        self.classes_ = np.unique(y)
        self._column = int(np.random.default_rng(self._seed).integers(X.shape[1]))
        above = X[:, self._column] > 0
        self._labels = [_majority(y[above == side]) for side in (False, True)]
        return self

    def predict(self, X: Any) -> Any:
        return np.where(X[:, self._column] > 0, self._labels[1], self._labels[0])

    def predict_proba(self, X: Any) -> Any:
        return (self.predict(X)[:, None] == self.classes_).astype(float)


def _majority(y: Any) -> int:
    return int(np.bincount(y).argmax()) if len(y) else 0


def good(split: Any, params: Any, seed: int) -> Fitted:
    time.sleep(params.get("seconds", 0))
    estimator = Stump(seed + params.get("shift", 0)).fit(split.X_train_valid, split.y_train_valid)
    return Fitted(estimator, split.X_train_valid, split.y_train_valid, None, 3)


def trivial(split: Any, params: Any, seed: int) -> Fitted:
    return _fitted(split, Constant(split.n_classes))


def sleeps(split: Any, params: Any, seed: int) -> Fitted:
    """Hangs in native code with the interpreter locked: no Python signal handler would run."""
    ctypes.PyDLL(None).sleep(3600)
    raise AssertionError("unreachable")


def allocates(split: Any, params: Any, seed: int) -> Fitted:
    kept = []
    while True:
        kept.append(np.ones(2**22))


def allocates_natively(split: Any, params: Any, seed: int) -> Fitted:
    """Allocates and touches memory through the C library, which raises nothing."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.malloc.argtypes = [ctypes.c_size_t]
    while True:
        block = libc.malloc(2**22)
        ctypes.memset(block, 1, 2**22)


def segfaults(split: Any, params: Any, seed: int) -> Fitted:
    ctypes.string_at(0)
    raise AssertionError("unreachable")


def aborts(split: Any, params: Any, seed: int) -> Fitted:
    os.abort()


def raises(split: Any, params: Any, seed: int) -> Fitted:
    print("about to raise")
    raise ValueError("no tree would grow")


def exits(split: Any, params: Any, seed: int) -> Fitted:
    sys.exit(7)


def exits_hard(split: Any, params: Any, seed: int) -> Fitted:
    os._exit(7)


def prints(split: Any, params: Any, seed: int) -> Fitted:
    line = "x" * 1023
    for _ in range(8 * 1024):
        print(line)
    print("the last line", flush=True)
    subprocess.run(["echo", "from a child"], check=True)
    return _fitted(split, Constant(split.n_classes))


def prints_for_ever(split: Any, params: Any, seed: int) -> Fitted:
    block = b"y" * (1 << 20)
    while True:
        os.write(1, block)


def prints_and_raises(split: Any, params: Any, seed: int) -> Fitted:
    prints(split, params, seed)
    raise ValueError("after much talk")


def returns_nan(split: Any, params: Any, seed: int) -> Fitted:
    return _fitted(split, Constant(split.n_classes, answer=np.nan))


def returns_nan_probabilities(split: Any, params: Any, seed: int) -> Fitted:
    return _fitted(split, NanProbabilities(split.n_classes))


def returns_wrong_shape(split: Any, params: Any, seed: int) -> Fitted:
    return _fitted(split, WrongShape(split.n_classes))


def returns_wrong_label(split: Any, params: Any, seed: int) -> Fitted:
    return _fitted(split, Constant(split.n_classes, answer=99))


def returns_odd_size(split: Any, params: Any, seed: int) -> Fitted:
    """A size that no record could hold, which must not end the run."""
    plain = trivial(split, params, seed)
    return Fitted(plain.estimator, plain.X_fit, plain.y_fit, None, float("nan"))  # type: ignore[arg-type]


def forks(split: Any, params: Any, seed: int) -> Fitted:
    """Leaves children behind: a plain one and one that fled into a session of its own."""
    subprocess.Popen(["sleep", "3600"])
    subprocess.Popen(["sleep", "3600"], start_new_session=True)
    return _fitted(split, Constant(split.n_classes))


def forks_and_sleeps(split: Any, params: Any, seed: int) -> Fitted:
    forks(split, params, seed)
    return sleeps(split, params, seed)


def _fitted(split: Any, estimator: Any) -> Fitted:
    return Fitted(estimator, split.X_train_valid, split.y_train_valid, None, 1)


def _logged(slug: str, fit: Callable[..., Fitted]) -> Callable[..., Fitted]:
    def logged(split: Any, params: Any, seed: int) -> Fitted:
        path = os.environ.get(LOG_VARIABLE)
        if path:
            where = split.provenance
            line = f"{where.protocol} {where.dataset} {slug} {where.trial} {seed}\n"
            with Path(path).open("a") as log:
                log.write(line)
        return fit(split, params, seed)

    return logged


def _learner(
    fit: Callable[..., Fitted], skip: Any = None, params: Any = None, **declared: Any
) -> Learner:
    slug = declared.pop("slug", f"fake-{fit.__name__.replace('_', '-')}")
    return Learner(
        slug=slug,
        name=slug.removeprefix("fake-").capitalize(),
        version="1",
        defaults=lambda task: dict(params or {}),
        fit=_logged(slug, fit),
        in_paper=False,
        **declared,
        **({"skip": skip} if skip else {}),
    )


LEARNERS = [
    _learner(good, space={"shift": (0, 1, 2, 3), "seconds": (0.0, 0.001)}),
    _learner(good, slug="fake-steady", params={"seconds": 0.1}),
    _learner(good, slug="fake-picky", skip=lambda n_features, n_classes: "too picky"),
    _learner(good, slug="fake-lacking", needs=("a_module_nobody_has",)),
    *[
        _learner(fit)
        for fit in (
            trivial,
            sleeps,
            allocates,
            allocates_natively,
            segfaults,
            aborts,
            raises,
            exits,
            exits_hard,
            prints,
            prints_for_ever,
            prints_and_raises,
            returns_nan,
            returns_nan_probabilities,
            returns_wrong_shape,
            returns_wrong_label,
            returns_odd_size,
            forks,
            forks_and_sleeps,
        )
    ],
]


def _split(slug: str, n_rows: int, n_features: int, n_classes: int) -> Callable[[str, int], Split]:
    def split(protocol: str, trial: int) -> Split:
        rng = np.random.default_rng([n_rows, n_features, trial])
        X = rng.normal(size=(n_rows, n_features))
        y = (np.digitize(X.sum(axis=1), [0] if n_classes == 2 else [-1, 1])).astype(np.int64)
        y[:n_classes] = y[-n_classes:] = np.arange(n_classes)
        part = n_rows // 5
        return Split(
            X_train=X[2 * part :],
            y_train=y[2 * part :],
            X_valid=X[part : 2 * part],
            y_valid=y[part : 2 * part],
            X_test=X[:part],
            y_test=y[:part],
            feature_names=tuple(f"x{i}" for i in range(n_features)),
            class_names=tuple(f"c{i}" for i in range(n_classes)),
            provenance=Provenance(
                dataset=slug,
                content_hash=f"hash of {slug}",
                protocol=protocol,
                protocol_version="fake",
                trial=trial,
                seed=42 + trial,
                source="made up",
                rebalanced="none",
                rows_before_rebalancing=n_rows - 2 * part,
            ),
        )

    return split


def _dataset(slug: str, n_rows: int, n_features: int, n_classes: int) -> ExtraDataset:
    return ExtraDataset(
        slug=slug,
        name=slug.capitalize(),
        task="binary" if n_classes == 2 else "multi",
        n_features=n_features,
        n_rows=n_rows,
        class_counts=(n_rows // n_classes,) * n_classes,
        content_hash=os.environ.get(HASH_VARIABLE, f"hash of {slug}"),
        split=_split(slug, n_rows, n_features, n_classes),
    )


DATASETS = [_dataset("fake-two", 60, 4, 2), _dataset("fake-three", 90, 5, 3)]
