"""Which run and epoch to keep, where macro F1 decides.

Every run offers two trees, of the epochs with the lowest loss and with the best F1 on the
validation rows. Few validation rows tell many trees apart badly, so a tree is judged twice and the
sum decides:

``H``  macro F1 on the validation rows, with leaves refitted on the training rows alone;
``O``  macro F1 on all rows, each predicted by the other rows of its leaf (leave-one-out).

The splits have seen the training rows that ``O`` counts, but a leaf that holds only a row or two is
of no use to it. Test rows have no part in this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradtree.trees.dense import DenseTree

if TYPE_CHECKING:
    from gradtree.engines.contract import Samples

_CHUNK = 65_536


def held_out_and_left_out(
    dense: DenseTree, train: Samples, valid: Samples, smoothing: float
) -> float:
    """``H + O`` of a tree; ``O`` alone without validation rows."""
    from gradtree.engines.scores import macro_f1

    n_classes = dense.n_classes
    parts = [_Part(dense, samples) for samples in (train, valid) if len(samples.rows)]
    tables = [part.table(len(dense.leaves), n_classes) for part in parts]
    prior = smoothing * _shares(sum(table.sum(axis=0) for table in tables))
    score = 0.0
    if len(parts) == 2:
        label = (tables[0] + prior).argmax(axis=1)
        score += macro_f1(parts[1].y, label[parts[1].leaf], parts[1].worth)
    everyone = sum(tables) + prior
    predicted = np.concatenate([part.left_out(everyone) for part in parts])
    y, worth = (np.concatenate([getattr(part, name) for part in parts]) for name in ("y", "worth"))
    return score + macro_f1(y, predicted, worth)


def _shares(weight: Any) -> NDArray[np.float64]:
    return np.asarray(weight / weight.sum())


class _Part:
    """Training or validation rows, and the leaves that they reach."""

    def __init__(self, dense: DenseTree, samples: Samples) -> None:
        rows = samples.rows
        self.leaf = dense.leaf_of(samples.X[rows])
        self.y = samples.y[rows]
        self.weight = np.asarray(samples.weight, dtype=np.float64)[rows]
        self.worth = np.asarray(samples.score_weight, dtype=np.float64)[rows]

    def table(self, n_leaves: int, n_classes: int) -> NDArray[np.float64]:
        """Weight of every class at every leaf."""
        cells = np.bincount(self.leaf * n_classes + self.y, self.weight, n_leaves * n_classes)
        return np.asarray(cells.reshape(n_leaves, n_classes))

    def left_out(self, table: NDArray[np.float64]) -> NDArray[np.intp]:
        """The class of every row according to the others of its leaf."""
        found = np.empty(len(self.y), dtype=np.intp)
        for start in range(0, len(self.y), _CHUNK):
            part = slice(start, start + _CHUNK)
            others = table[self.leaf[part]]
            others[np.arange(len(others)), self.y[part]] -= self.weight[part]
            found[part] = others.argmax(axis=1)
        return found
