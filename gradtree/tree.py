"""The canonical decision tree: parallel flat arrays, one entry per node.

Every learner of the suite that grows an axis-aligned tree is reduced to this
one type, so that size, depth, rules, plots and predictions are computed in
one way for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

LEAF = -1


@dataclass(frozen=True, eq=False)
class Tree:
    """A hard, axis-aligned decision tree over ``float32`` features.

    Node 0 is the root. A sample goes to ``children_left`` when
    ``float32(x[feature]) <= threshold`` and to ``children_right`` otherwise,
    which is scikit-learn's convention.

    Attributes
    ----------
    children_left, children_right : ndarray of int32, shape (n_nodes,)
        Child indices; ``-1`` marks a leaf.
    feature : ndarray of int32, shape (n_nodes,)
        Column tested by an inner node; ``-1`` at leaves.
    threshold : ndarray of float64, shape (n_nodes,)
        Split points; ``nan`` at leaves.
    value : ndarray of float64, shape (n_nodes, n_classes)
        Class probabilities. Only those of leaves are used by ``predict_proba``.
    n_node_samples : ndarray of int64, shape (n_nodes,), optional
        Training rows that passed through each node, where known.
    """

    children_left: NDArray[np.int32]
    children_right: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    value: NDArray[np.float64]
    n_features: int
    n_node_samples: NDArray[np.int64] | None = None

    @property
    def node_count(self) -> int:
        """Inner nodes plus leaves: the size the paper reports."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.children_left == LEAF))

    @property
    def n_classes(self) -> int:
        return int(self.value.shape[1])

    def apply(self, X: ArrayLike) -> NDArray[np.intp]:
        """Index of the leaf that each row of ``X`` reaches."""
        rows = np.ascontiguousarray(np.asarray(X, dtype=np.float32))
        node = np.zeros(len(rows), dtype=np.intp)
        everyone = np.arange(len(rows))
        while True:
            inner = everyone[self.children_left[node] != LEAF]
            if not len(inner):
                return node
            at = node[inner]
            left = rows[inner, self.feature[at]] <= self.threshold[at]
            node[inner] = np.where(left, self.children_left[at], self.children_right[at])

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        return self.value[self.apply(X)]

    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """Class index, the first one on ties."""
        return np.asarray(self.predict_proba(X).argmax(axis=1))

    def to_dict(self) -> dict[str, Any]:
        raise NotImplementedError
