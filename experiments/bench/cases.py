"""The problem sizes that are timed, made-up data of any size, and how workers answer.

Needs nothing but NumPy, because the authors' package runs it under an interpreter of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Axis = Literal["depth", "features", "samples", "classes"]
AXES: tuple[Axis, ...] = ("depth", "features", "samples", "classes")


@dataclass(frozen=True)
class Case:
    """One problem size.

    Attributes
    ----------
    name : what tables call it.
    depth, features, samples, classes : its size; ``samples`` counts training rows.
    valid_samples : rows on which the loss is evaluated after every epoch.
    epochs : epochs per fit, the same for every engine.
    batch_size : rows per batch, the same for every engine.
    """

    name: str
    depth: int
    features: int
    samples: int
    classes: int
    valid_samples: int
    epochs: int = 4
    batch_size: int = 128

    def size(self, axis: Axis) -> int:
        """How large the case is along an axis."""
        return int(getattr(self, axis))


NAMED = {
    "banknote": Case("Banknote size", 10, 4, 823, 2, 274),
    "spambase": Case("Spambase size", 10, 57, 2761, 2, 920),
}
"""Training and validation rows as in the paper's splits of the two datasets, at depth 10."""

_BASE = Case("base", 6, 20, 2_000, 2, 500)
_SIZES: dict[Axis, tuple[int, ...]] = {
    "depth": (2, 4, 6, 8, 10, 12),
    "features": (4, 10, 30, 100, 300, 1_000),
    "samples": (1_000, 10_000, 100_000, 1_000_000),
    "classes": (2, 4, 8, 16, 26),
}
_QUICK_SIZES: dict[Axis, tuple[int, ...]] = {
    "depth": (2, 4, 6, 8),
    "features": (4, 20, 100),
    "samples": (1_000, 5_000, 20_000),
    "classes": (2, 8, 26),
}


def along(axis: Axis, sizes: Sequence[int]) -> tuple[Case, ...]:
    """The base case with one of its sizes varied."""
    cases = (replace(_BASE, name=f"{axis} {size:,}", **{axis: size}) for size in sizes)
    return tuple(replace(case, valid_samples=case.samples // 4) for case in cases)


def grid(axis: Axis, *, quick: bool = False) -> tuple[Case, ...]:
    """The cases of an axis, smallest first."""
    return along(axis, (_QUICK_SIZES if quick else _SIZES)[axis])


_CLUSTERS_PER_CLASS = 2
_INFORMATIVE = 10


@dataclass(frozen=True, eq=False)
class Data:
    """Training and validation rows; every class occurs among the training rows."""

    X: NDArray[np.float32]
    y: NDArray[np.int64]
    X_valid: NDArray[np.float32]
    y_valid: NDArray[np.int64]


def make_data(case: Case, seed: int = 0) -> Data:
    """Draw the rows of a case."""
    rng = np.random.default_rng(seed)
    rows = case.samples + case.valid_samples
    informative = min(case.features, _INFORMATIVE)
    y = np.arange(rows) % case.classes
    rng.shuffle(y[case.classes : case.samples])
    clusters = y + case.classes * rng.integers(_CLUSTERS_PER_CLASS, size=rows)
    centres = rng.normal(size=(case.classes * _CLUSTERS_PER_CLASS, informative))
    X = rng.standard_normal((rows, case.features), dtype=np.float32)
    X[:, :informative] += centres[clusters].astype(np.float32)
    train, valid = slice(None, case.samples), slice(case.samples, None)
    return Data(X[train], y[train], X[valid], y[valid])


def save_data(data: Data, path: Path) -> None:
    """Write the rows as ``.npz``, so that every engine gets the same bytes."""
    np.savez(path, X=data.X, y=data.y, X_valid=data.X_valid, y_valid=data.y_valid)


def load_data(path: Path) -> Data:
    """Read what ``save_data`` wrote."""
    with np.load(path) as file:
        return Data(file["X"], file["y"], file["X_valid"], file["y_valid"])


@dataclass(frozen=True)
class Stamp:
    """A moment, by the clock on the wall and by the processor time of this process."""

    wall: float
    cpu: float

    def since(self, earlier: Stamp) -> Stamp:
        """Time between two moments."""
        return Stamp(self.wall - earlier.wall, self.cpu - earlier.cpu)

    def divided(self, parts: int) -> Stamp:
        """One of several equal parts of a time."""
        return Stamp(self.wall / parts, self.cpu / parts)


@dataclass(frozen=True)
class Phases:
    """Processor seconds per epoch on the gradients and on the dense update of the parameters."""

    gradients: float
    update: float


@dataclass(frozen=True)
class Timing:
    """What one fit took: an epoch, without the first one, the whole, and parts of an epoch."""

    epoch: Stamp
    fit: Stamp
    phases: Phases | None = None

    @classmethod
    def from_json(cls, parts: dict[str, dict[str, float] | None]) -> Timing:
        """The timing that ``asdict`` made these parts of."""
        epoch, fit, phases = parts["epoch"] or {}, parts["fit"] or {}, parts["phases"]
        return cls(Stamp(**epoch), Stamp(**fit), Phases(**phases) if phases else None)


Fit = Callable[[Case, Data], Timing]


def now() -> Stamp:
    """This moment."""
    return Stamp(time.perf_counter(), time.process_time())


def middle(times: Sequence[Stamp]) -> Stamp:
    """Median of times, by each clock."""
    return Stamp(median(each.wall for each in times), median(each.cpu for each in times))


def timing_of_epochs(began: Stamp, ends: list[Stamp], finished: Stamp) -> Timing:
    """Timing of a fit from the ends of its epochs; the first one pays for tracing."""
    if len(ends) < 2:
        raise ValueError(
            f"timing an epoch needs fits of at least 2 epochs, this one had {len(ends)}"
        )
    return Timing(ends[-1].since(ends[0]).divided(len(ends) - 1), finished.since(began))


def keep_to_one_core() -> None:
    """Bind this process to one core, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def serve(fit: Fit) -> None:
    """Answer requests from standard input until it ends."""
    keep_to_one_core()
    for line in sys.stdin:
        request = json.loads(line)
        # What libraries print must not get between the answers.
        with contextlib.redirect_stdout(sys.stderr):
            timing = fit(Case(**request["case"]), load_data(Path(request["data"])))
        print(json.dumps(asdict(timing)), flush=True)
