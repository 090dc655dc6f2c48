"""Class labels and their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def all_classes(classes: ArrayLike | None, *labels: ArrayLike) -> NDArray[Any]:
    """Sorted class labels: those given, which must include all that occur, or those that occur."""
    occurring = np.unique(np.concatenate([np.asarray(part) for part in labels]))
    if classes is None:
        return occurring
    known = np.unique(np.asarray(classes))
    unknown = np.setdiff1d(occurring, known)
    if len(unknown):
        raise ValueError(
            f"labels {unknown.tolist()} are not among the classes {known.tolist()}; "
            "pass all class labels as classes, or none"
        )
    return known


def class_numbers(classes: NDArray[Any], labels: ArrayLike) -> NDArray[np.intp]:
    """Place of each label among the sorted ``classes``."""
    return np.searchsorted(classes, np.asarray(labels))
