"""The score by which epochs and runs can be chosen."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def macro_f1(y: NDArray[Any], predicted: NDArray[Any], weight: NDArray[Any] | None = None) -> float:
    """Mean F1 of the classes that occur or are predicted, as scikit-learn's ``f1_score``."""
    truth, guess = np.asarray(y, dtype=np.intp), np.asarray(predicted, dtype=np.intp)
    n_classes = int(max(truth.max(), guess.max())) + 1
    there = np.bincount(truth, weight, n_classes)
    called = np.bincount(guess, weight, n_classes)
    hits = truth == guess
    found = np.bincount(truth[hits], None if weight is None else weight[hits], n_classes)
    occurs = there + called > 0
    return float(np.mean(2 * found[occurs] / (there + called)[occurs]))
