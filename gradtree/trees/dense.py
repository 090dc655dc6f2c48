"""The dense, trainable form of a tree: one row of thresholds and logits per possible node."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradtree.typing import Places

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class DenseTree:
    """A complete binary tree of depth ``d`` as the paper parameterises it.

    Nodes are numbered like a heap: the root is 0, the children of ``i`` are ``2i + 1`` (left) and
    ``2i + 2`` (right). Node ``i`` tests the feature with its largest logit and sends a sample to
    the left if that feature is *below* the threshold of the same column.
    """

    thresholds: Floats  # (2**d - 1, n_features)
    logits: Floats  # (2**d - 1, n_features)
    # Logits, from left to right: of class 1 against class 0, (2**d,), or (2**d, n_classes).
    leaves: Floats

    @property
    def depth(self) -> int:
        return len(self.leaves).bit_length() - 1

    @property
    def n_features(self) -> int:
        return int(self.thresholds.shape[1])

    @property
    def n_classes(self) -> int:
        return 2 if self.leaves.ndim == 1 else int(self.leaves.shape[1])

    @property
    def split_features(self) -> NDArray[np.intp]:
        """Feature tested by each node, the first one on ties. Shape (2**d - 1,)."""
        return np.asarray(self.logits.argmax(axis=1))

    @property
    def split_thresholds(self) -> Floats:
        """Threshold of the tested feature of each node. Shape (2**d - 1,)."""
        return np.take_along_axis(self.thresholds, self.split_features[:, None], axis=1)[:, 0]

    def leaf_of(self, X: Floats, rows: Places | None = None) -> Places:
        """Index, from the left, of the leaf that each row of ``X``, or each listed, reaches."""
        places = np.arange(len(X)) if rows is None else rows
        feature, threshold = self.split_features, self.split_thresholds
        node = np.zeros(len(places), dtype=np.intp)
        for _ in range(self.depth):
            left = X[places, feature[node]].astype(threshold.dtype) < threshold[node]
            node = 2 * node + np.where(left, 1, 2)
        return node - (len(self.leaves) - 1)
