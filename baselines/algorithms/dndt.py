"""DNDT, the deep neural decision tree: one learned cut per feature, all 2^n leaves."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, validate_data

from baselines.algorithms import DNDT_MOST_FEATURES as MOST_FEATURES
from baselines.algorithms.classifier import TreeClassifier
from gradtree.trees.tree import LEAF, Tree


@dataclass(eq=False, repr=False)
class DNDTClassifier(TreeClassifier):
    """A tree that tests every feature once, trained softly by gradient descent.

    A row belongs to the two sides of each cut to some degree while training, and to one of them
    for predictions. Level i of ``tree_`` tests feature i against ``cuts_[i]``; ``size_`` is
    2n + 2^n, as the paper counts: two bins per feature, and the leaves.
    """

    _dtype = np.float32

    learning_rate: float = 0.1
    temperature: float = 0.1  # the smaller, the harder the cuts are in training
    batch_size: int = 512  # consecutive rows, in the same order in every epoch
    epochs: int = 1000
    patience: int = 25  # epochs without a lower validation loss; the best weights return only then
    validation_fraction: float = 0.2  # of the rows, when fit gets no validation rows
    random_state: Any = None  # 42 makes the draws of the paper's experiments

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        X_valid: ArrayLike | None = None,
        y_valid: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> Self:
        """Train the tree on rows of at most 12 features.

        The loss of validation rows, which all weigh the same, decides when to stop. ``classes`` are
        all labels, in case some occur in none of the rows; of ``weights`` only ratios matter.
        """
        from baselines.algorithms import dndt_training as training

        if (X_valid is None) != (y_valid is None):
            raise ValueError("X_valid and y_valid belong together; pass both or neither")
        rows, labels = self._checked(X, y, classes, *([] if y_valid is None else [y_valid]))
        n_features = rows.shape[1]
        if n_features > MOST_FEATURES:
            raise ValueError(
                f"DNDT keeps 2^n leaves for n features and takes at most {MOST_FEATURES} of them, "
                f"got {n_features}; select features or use another learner"
            )
        seed = self.random_state
        if not isinstance(seed, int | np.integer):
            seed = check_random_state(seed).randint(2**31 - 1)
        weight = None if weights is None else _check_sample_weight(weights, rows)
        if X_valid is None:
            kept, held_out = train_test_split(
                np.arange(len(rows)), test_size=self.validation_fraction, random_state=seed
            )
            rows_valid, labels_valid = rows[held_out], labels[held_out]
            rows, labels = rows[kept], labels[kept]
            weight = None if weight is None else weight[kept]
        else:
            rows_valid = validate_data(self, X_valid, dtype=np.float32, reset=False)
            labels_valid = np.searchsorted(self.classes_, np.asarray(y_valid))
        trained = training.train(
            rows,
            labels,
            rows_valid,
            labels_valid,
            training.initial_weights(int(seed), n_features, len(self.classes_)),
            self,
            weight,
        )
        self.cuts_, scores = trained.weights
        self.tree_ = _complete_tree(self.cuts_, scores)
        self.size_ = 2 * n_features + 2**n_features
        self.n_epochs_ = trained.epochs
        return self


def _complete_tree(cuts: NDArray[np.float32], scores: NDArray[np.float32]) -> Tree:
    """The complete tree in heap order; a row above a cut goes right."""
    n_features = len(cuts)
    n_inner = 2**n_features - 1
    node = np.arange(2 * n_inner + 1)
    inner = node < n_inner
    level = np.floor(np.log2(node + 1)).astype(np.intp)
    value = np.zeros((len(node), scores.shape[1]))
    value[n_inner:] = softmax(scores.astype(np.float64), axis=1)
    for parent in range(n_inner - 1, -1, -1):
        value[parent] = value[2 * parent + 1 : 2 * parent + 3].mean(axis=0)
    return Tree(
        children_left=np.where(inner, 2 * node + 1, LEAF),
        children_right=np.where(inner, 2 * node + 2, LEAF),
        feature=np.where(inner, level, LEAF),
        threshold=np.where(inner, np.append(cuts, np.nan)[level], np.nan),
        value=value,
        n_features=n_features,
    )
