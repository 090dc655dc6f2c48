"""Made-up data of any size: noisy clusters, several per class, of normally scaled features."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.bench.cases import Case

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
