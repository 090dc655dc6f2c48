"""What a protocol hands to a learner: three parts of numbers and where they came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Task = Literal["binary", "multi", "regression"]
Target = NDArray[Any]
"""One value per row: ``int64`` class indices, or ``float64`` numbers in a regression."""
Rebalancing = Literal["none", "smote", "random-oversampling", "class-weights"]
Encoding = Literal["leave-one-out", "plain", "cross-fitted", "target"]


@dataclass(frozen=True, eq=False)
class Parts:
    """Positions of the three parts in the raw table, the training part before rebalancing."""

    train: NDArray[np.int64]
    valid: NDArray[np.int64]
    test: NDArray[np.int64]


@dataclass(frozen=True)
class Provenance:
    """How a split came about, enough to make it again."""

    dataset: str
    content_hash: str
    protocol: str
    protocol_version: str
    trial: int
    seed: int
    source: str
    rebalanced: Rebalancing
    rows_before_rebalancing: int
    encoding: Encoding = "leave-one-out"


@dataclass(frozen=True, eq=False)
class Split:
    """Train, validation and test part of one trial, ready for any learner.

    Features are ``float64`` matrices of shape (rows, n_features); labels are
    ``int64`` class indices 0..n_classes-1, where the classes are those of the
    whole dataset, whether or not each occurs in every part. A regression has no
    classes, and its labels are ``float64`` numbers.
    """

    X_train: NDArray[np.float64]
    y_train: Target
    X_valid: NDArray[np.float64]
    y_valid: Target
    X_test: NDArray[np.float64]
    y_test: Target
    feature_names: tuple[str, ...]
    class_names: tuple[str, ...]
    provenance: Provenance
    preprocessing: Any = field(default=None, repr=False)
    """The fitted transformer from raw columns to ``X_*``, to show thresholds in original units."""
    rows: Parts | None = field(default=None, repr=False)
    class_weights: tuple[float, ...] | None = None
    """One per class, for learners that take weights; ``None``: every row counts the same."""
    bins_from_test: bool = False
    """Whether a learner that bins its columns makes the bins from the test rows too."""
    as_authors: bool = False
    """Whether learners do as the authors' code did where that is odd (protocol ``paper``)."""

    @property
    def n_classes(self) -> int:
        return len(self.class_names)

    @property
    def n_features(self) -> int:
        return len(self.feature_names)

    @property
    def task(self) -> Task:
        if not self.class_names:
            return "regression"
        return "binary" if self.n_classes == 2 else "multi"

    @property
    def X_train_valid(self) -> NDArray[np.float64]:  # noqa: N802
        return np.concatenate([self.X_train, self.X_valid])

    @property
    def y_train_valid(self) -> Target:
        return np.concatenate([self.y_train, self.y_valid])

    @property
    def weights_train(self) -> NDArray[np.float64] | None:
        """The weight of each training row, ``None`` where all count the same."""
        return None if self.class_weights is None else np.array(self.class_weights)[self.y_train]

    @property
    def weights_train_valid(self) -> NDArray[np.float64] | None:
        """Those of the training rows, then 1 for each validation row.

        Oversampling leaves validation rows alone, and so do the weights that replace it.
        """
        weights = self.weights_train
        return None if weights is None else np.append(weights, np.ones(len(self.y_valid)))
