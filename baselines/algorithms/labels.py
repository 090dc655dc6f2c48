"""Values of the classes that a learner saw, as values of all classes of the dataset."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from gradtree.trees.tree import Tree


def over_classes(tree: Tree, classes: NDArray[Any], n_classes: int) -> Tree:
    """``tree``, whose values follow ``classes``, with one value per class of the dataset."""
    return replace(tree, value=spread(tree.value, classes, n_classes))


def spread(seen: NDArray[np.float64], classes: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
    """Put column i of ``seen`` at column ``classes[i]`` of a matrix of ``n_classes`` columns."""
    every = np.zeros((len(seen), n_classes))
    every[:, classes.astype(np.intp)] = seen
    return every
