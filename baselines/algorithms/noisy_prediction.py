"""How the authors' ST Gumbel-softmax predicts: their pruned tree, with noise on its choices.

Their program writes the pruned tree back into the variables that were trained
(one-hot rows instead of logits, thresholds for all features) and predicts with
the forward pass of training, which adds standard Gumbel noise to whatever
stands there. A node then tests its own one of n features with probability
e / (e + n - 1) only, and any other with the threshold that training left there.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradtree import GradTreeClassifier
from gradtree.engines.streams import fill_gumbel
from gradtree.trees.pruning import float32_below, pruned_tree
from gradtree.trees.traversal import leaves_reached
from gradtree.trees.tree import LEAF

BLOCK_ROWS = 512
"""Rows that the authors' program predicts at once, with the same noise."""


class NoisyPrediction:
    """A trained GradTree that predicts with Gumbel noise on the choices of its nodes.

    ``X_train`` are the rows it was trained on, without those it held out. The noise is a function
    of ``entropy`` and the number of the block of rows alone. So all predictions for the same rows
    agree, and runs repeat; the first block of test rows meets the same noise as that of
    validation rows.
    """

    def __init__(
        self, estimator: GradTreeClassifier, X_train: NDArray[Any], entropy: tuple[int, ...]
    ) -> None:
        self.tree_ = estimator.tree_
        self.classes_ = estimator.classes_
        self.inner_ = np.flatnonzero(self.tree_.children_left != LEAF)
        self.own_features_ = self.tree_.feature[self.inner_]
        heap_places = pruned_tree(estimator.dense_, X_train)[1]
        self.thresholds_ = estimator.dense_.thresholds[heap_places[self.inner_]]
        self._key = np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0]

    def noise(self, block: int) -> NDArray[np.float64]:
        """The noise of a block of rows, shape (inner nodes, n_features)."""
        noise = np.empty(self.thresholds_.shape)
        fill_gumbel(noise, self._key, np.uint64(block))
        return noise

    def splits(self, block: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Feature and threshold of every inner node for a block of rows."""
        logits = self.noise(block)
        logits[np.arange(len(logits)), self.own_features_] += 1.0
        chosen = logits.argmax(axis=1)
        return chosen.astype(np.int32), self.thresholds_[np.arange(len(chosen)), chosen]

    def apply(self, X: ArrayLike) -> NDArray[np.intp]:
        """Index of the leaf of ``tree_`` that each row reaches."""
        rows, tree = np.asarray(X, dtype=np.float64), self.tree_
        leaf = np.empty(len(rows), dtype=np.intp)
        for block, start in enumerate(range(0, len(rows), BLOCK_ROWS)):
            feature, threshold = tree.feature.copy(), tree.threshold.copy()
            feature[self.inner_], chosen = self.splits(block)
            threshold[self.inner_] = float32_below(chosen)
            part = slice(start, start + BLOCK_ROWS)
            noisy = replace(tree, feature=feature, threshold=threshold)
            leaf[part] = leaves_reached(noisy, rows[part])
        return leaf

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Class probabilities of the leaf that each row reaches."""
        return self.tree_.value[self.apply(X)]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable class of each row, the first one on ties."""
        return np.asarray(self.classes_[self.tree_.value.argmax(axis=1)[self.apply(X)]])
