"""Class labels and their numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from gradtree.trees.tree import Tree


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


def over_classes(tree: Tree, classes: NDArray[Any], n_classes: int) -> Tree:
    """``tree``, whose values follow ``classes``, with one value per class of the dataset."""
    return replace(tree, value=spread(tree.value, classes, n_classes))


def spread(seen: NDArray[np.float64], classes: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
    """Put column i of ``seen`` at column ``classes[i]`` of a matrix of ``n_classes`` columns."""
    every = np.zeros((len(seen), n_classes))
    every[:, classes.astype(np.intp)] = seen
    return every
