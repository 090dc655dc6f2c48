"""Reading numbers to predict."""

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.utils import check_array

from gradtree.columns.frames import read_column
from gradtree.inputs.arrays import TrainingRows, read_weighted_rows
from gradtree.typing import Array, Floats

# Larger numbers have no squares.
LARGEST = 1e150
# Validation rows and folds have their part of each of so many strata, of at least so many rows.
STRATA, STRATUM_ROWS = 10, 5


@dataclass(frozen=True, eq=False)
class TrainingNumbers(TrainingRows):
    """What to train on; ``y`` are strata of the (first) target, for validation rows and folds."""

    # (n_rows, n_targets)
    targets: Floats = field(default_factory=lambda: np.zeros((0, 1)))

    @property
    def n_classes(self) -> int:
        """The classes of a tree with as many outputs, or more."""
        return 2 if self.targets.shape[1] == 1 else max(self.targets.shape[1], 3)

    @property
    def codes(self) -> Array:
        return self.truth

    @property
    def truth(self) -> Array:
        return self.targets[:, 0] if self.targets.shape[1] == 1 else self.targets

    def told(self, y: Any, name: str) -> Array:
        numbers = read_numbers(y, name)
        check_targets(numbers, self.targets.shape[1], name)
        return numbers

    def folds(self, cv: Any) -> Any:
        # Of a single row, no R² is known.
        return max(2, min(int(cv), len(self.y) // 2)) if isinstance(cv, Integral) else cv


def read_numbers(y: Any, name: str) -> Floats:
    """Numbers to predict, finite, of shape (n_rows, n_targets)."""
    if hasattr(y, "__arrow_c_stream__") and not hasattr(y, "iloc") and not hasattr(y, "columns"):
        y = read_column(name, y).cells
    kind = np.asarray(y).dtype.kind
    if kind in "mM":
        raise ValueError(f"{name} holds dates or durations; pass numbers, such as days since then")
    numbers = check_array(y, dtype=np.float64, ensure_2d=False, input_name=name)
    table = numbers.reshape(len(numbers), -1)
    if np.abs(table).max() > LARGEST:
        raise ValueError(f"{name} has numbers beyond {LARGEST:g}; divide them by some unit first")
    return np.asarray(table)


def read_training_numbers(
    estimator: Any, X: Any, y: Any, sample_weight: Any, classes: Any = None, weights: Any = None
) -> TrainingNumbers:
    """Check rows, numbers and weights; learn names of columns. There are no classes."""
    rows, targets, own = read_weighted_rows(estimator, X, y, sample_weight, read_numbers)
    n_rows = len(targets)
    n_strata = max(1, min(STRATA, n_rows // STRATUM_ROWS))
    strata = (rankdata(targets[:, 0], method="ordinal") - 1) * n_strata // n_rows
    return TrainingNumbers(rows, strata.astype(np.int64), own, np.empty(0), None, own, targets)


def check_targets(targets: Floats, n_targets: int, name: str) -> None:
    """Refuse another number of targets than a tree has."""
    if targets.shape[1] != n_targets:
        raise ValueError(f"{name} has {targets.shape[1]} targets, but the tree has {n_targets}")
