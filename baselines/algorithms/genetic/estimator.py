"""The genetic tree as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from baselines.algorithms.genetic.canonical import to_tree
from baselines.algorithms.genetic.evolution import evolve
from baselines.algorithms.genetic.rows import encode, thresholds_of
from baselines.algorithms.genetic.settings import Quirks, Settings
from gradtree.trees.tree import Tree

LARGEST_CUT = np.iinfo(np.int16).max


class GeneticTreeClassifier(ClassifierMixin, BaseEstimator):
    """A decision tree bred by selection, mutation and crossing of subtrees.

    With an integer ``random_state`` it makes every draw of the library
    ``genetic-tree`` 0.1.2 under that seed, and so grows the very same tree.

    Parameters
    ----------
    n_thresholds : candidate thresholds per feature, evenly spaced order statistics.
    n_trees : parents selected per generation.
    max_iter : generations at most.
    cross_prob : probability of each parent to be crossed with a random other one.
    mutation_prob : share of the parents to mutate.
    n_elitism : best trees that survive a generation unchanged.
    early_stopping : whether to stop when the best fitness does not rise.
    n_iter_no_change : generations over which it has to rise.
    depth_penalty : fitness is accuracy minus this times the depth; 0 for accuracy alone.
    max_depth : without effect unless ``quirks`` says otherwise.
    quirks : peculiarities of the original to keep; ``None`` for all of them.
    random_state : seed or ``RandomState``.

    Attributes
    ----------
    tree_ : the fitted :class:`gradtree.Tree`.
    classes_ : class labels.
    n_iter_ : generations bred.
    best_fitness_ : best fitness of the first and of every later generation.
    """

    def __init__(
        self,
        n_thresholds: int = 10,
        n_trees: int = 400,
        max_iter: int = 500,
        cross_prob: float = 0.6,
        mutation_prob: float = 0.4,
        n_elitism: int = 3,
        early_stopping: bool = True,
        n_iter_no_change: int = 100,
        depth_penalty: float = 0.01,
        max_depth: int | None = None,
        quirks: Quirks | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_thresholds = n_thresholds
        self.n_trees = n_trees
        self.max_iter = max_iter
        self.cross_prob = cross_prob
        self.mutation_prob = mutation_prob
        self.n_elitism = n_elitism
        self.early_stopping = early_stopping
        self.n_iter_no_change = n_iter_no_change
        self.depth_penalty = depth_penalty
        self.max_depth = max_depth
        self.quirks = quirks
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> GeneticTreeClassifier:
        """Breed a tree for the rows of ``X``, which are taken as ``float32``.

        Raises
        ------
        ValueError
            With a single feature or class: a mutation has nothing else to choose.
        """
        rows, labels = validate_data(self, X, y, dtype=np.float32, order="C", ensure_min_samples=2)
        check_classification_targets(labels)
        self.classes_, coded = np.unique(labels, return_inverse=True)
        settings = self._settings()
        self._check_shape(rows.shape[1], len(self.classes_))
        thresholds = thresholds_of(rows, self.n_thresholds)
        data = encode(rows, coded, thresholds, len(self.classes_))
        random = check_random_state(self.random_state)
        evolved = evolve(data, len(rows), settings, random)
        self.tree_: Tree = to_tree(evolved.nodes, thresholds, rows, coded, len(self.classes_))
        self.best_fitness_ = evolved.best_fitness
        self.n_iter_ = len(evolved.best_fitness) - 1
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Class shares of the training rows in the leaf reached, shape (n_rows, n_classes)."""
        rows = self._check_rows(X)
        return self.tree_.predict_proba(rows)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        rows = self._check_rows(X)
        return self.classes_[self.tree_.predict(rows)]

    def _check_rows(self, X: ArrayLike) -> NDArray[np.float32]:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float32, order="C", reset=False)

    def _check_shape(self, n_features: int, n_classes: int) -> None:
        if n_features < 2:
            raise ValueError(
                "GeneticTree needs at least 2 features, but n_features = 1: a mutation replaces "
                "a feature by another one. Add a column or use another learner"
            )
        if n_classes < 2:
            raise ValueError(
                "GeneticTree needs at least 2 classes, but y has 1 class: a mutation replaces "
                "a class by another one. Predict that class"
            )

    def _settings(self) -> Settings:
        least = {"n_thresholds": 1, "n_trees": 2, "max_iter": 0, "n_elitism": 0}
        for name, smallest in {**least, "n_iter_no_change": 2}.items():
            if not getattr(self, name) >= smallest:
                raise ValueError(f"{name} = {getattr(self, name)} must be at least {smallest}")
        for name in ("cross_prob", "mutation_prob"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} = {getattr(self, name)} must be between 0 and 1")
        if self.mutation_prob == 0 and self.n_elitism == 0:
            raise ValueError("the trees could die out: raise mutation_prob or n_elitism above 0")
        if self.max_depth is not None and self.max_depth < 1:
            raise ValueError(f"max_depth = {self.max_depth} must be at least 1, or None")
        if self.n_thresholds > LARGEST_CUT:
            raise ValueError(f"n_thresholds = {self.n_thresholds} exceeds {LARGEST_CUT}")
        return Settings(
            n_trees=self.n_trees,
            max_iter=self.max_iter,
            cross_prob=self.cross_prob,
            mutation_prob=self.mutation_prob,
            n_elitism=self.n_elitism,
            patience=self.n_iter_no_change if self.early_stopping else None,
            depth_penalty=self.depth_penalty,
            max_depth=self.max_depth,
            quirks=Quirks() if self.quirks is None else self.quirks,
        )
