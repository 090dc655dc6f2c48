"""A small tree that learns what a forest knows: the estimator and how it learns."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradtree.distilling.grid import grid_of
from gradtree.distilling.growing import STARTS, GrowConfig, distilled
from gradtree.distilling.teacher import taught
from gradtree.inputs.arrays import coded_rows, has_categories, read_rows, read_training_rows
from gradtree.table_learner import TableLearner
from gradtree.trees.traversal import fill_upwards
from gradtree.trees.tree import Tree
from gradtree.units.inner import table_tree


class DistilledTreeClassifier(TableLearner):
    """One small tree that learns the probabilities of a random forest instead of the labels.

    A forest labels its own rows out of bag, and rows made up between them. CART
    trees grown on these soft labels are improved by alternating optimisation, one
    level of splits at a time, and cut back to few leaves. Of three such trees the one
    nearest to the forest on rows not learned from is kept.

    It is no free lunch: on twelve datasets that played no part in its design it was level with a
    pruned CART with class weights at free size and at 32 leaves, and behind at 8 and 16. Tables
    with text, categories, dates and gaps are read as by :class:`gradtree.GradTreeClassifier`.

    Parameters
    ----------
    max_leaf_nodes : int, optional
        Leaves at most. Without it 128 where the forest errs in fewer than a tenth of the rows,
        else 64, and never more than those of CART of depth 10.
    max_depth : int, optional
        Levels of splits at most; without it 10 or 8, likewise.
    n_trees : int, default=100
        Trees of the forest.
    n_synthetic : int, default=6000
        Rows made up to learn from; together they weigh as much as the real ones.
    n_starts : 1, 2 or 3, default=3
        First trees: grown by the Gini index, by entropy, and by the Gini index with half of the
        columns to choose from at every split.
    passes : int, default=5
        Passes over all splits, at most, between two cuts; with 0 splits stay as CART found them.
    label_share : float, optional
        Weight of the labels themselves among the soft labels of real rows; without it ½ where the
        forest errs in fewer than a tenth of the rows, else 0.
    class_weight : dict, "balanced", "sqrt-balanced", float or None, default="sqrt-balanced"
        As in :class:`gradtree.GradTreeClassifier`.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        As in :class:`gradtree.GradTreeClassifier`.
    random_state : int, RandomState or None, default=None
        Seed of the forest, of the rows made up, and of first trees.
    n_jobs : int, optional
        Processors for the forest; the tree is the same with any number.

    Attributes
    ----------
    tree_ : Tree
        The learned tree over the columns of ``X``.
    columns_ : tuple of Column
    classes_ : ndarray of shape (n_classes,)
    teacher_error_ : float
        Weighted share of the rows that the forest gets wrong out of bag.
    feature_importances_ : ndarray of shape (n_features_in_,)
    n_features_in_, feature_names_in_ : as in scikit-learn.
    """

    scale = None

    def __init__(
        self,
        max_leaf_nodes: int | None = None,
        max_depth: int | None = None,
        n_trees: int = 100,
        n_synthetic: int = 6000,
        n_starts: int = 3,
        passes: int = 5,
        label_share: float | None = None,
        class_weight: Any = "sqrt-balanced",
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.n_trees = n_trees
        self.n_synthetic = n_synthetic
        self.n_starts = n_starts
        self.passes = passes
        self.label_share = label_share
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        X_thresholds: Any = None,
        classes: ArrayLike | None = None,
    ) -> Self:
        """Grow a tree.

        Parameters
        ----------
        X : array-like or table of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            Class labels of any kind.
        sample_weight : array-like of shape (n_rows,), optional
            Rows of weight 0 are left out.
        X_thresholds : array-like or table, optional
            Rows between whose values thresholds lie; those of ``X`` by default. Of use where the
            codes of training rows know of the labels.
        classes : array-like, optional
            All class labels, where ``y`` may lack some.
        """
        self._check()
        data = read_training_rows(self, X, y, sample_weight, classes, reset=True)
        self._learn_columns(data, np.arange(len(data.y)))
        coded = coded_rows(data.rows, self.columns_)
        matrix = self._matrix(coded)
        grid = grid_of(matrix if X_thresholds is None else self._threshold_rows(X_thresholds))
        weight = np.ones(len(data.y)) if data.weight is None else data.weight / data.weight.mean()
        seed = self._seed()
        lesson = taught(
            grid.codes(matrix).astype(np.uint8),
            data.y,
            weight,
            len(data.classes),
            self.n_trees,
            self.n_synthetic,
            self.label_share,
            seed,
            self.n_jobs,
        )
        config = GrowConfig(self.max_depth, self.max_leaf_nodes, self.n_starts, self.passes, seed)
        tree = distilled(lesson, grid, config)
        self.classes_ = data.classes
        self.teacher_error_ = lesson.error
        self.tree_ = self._over_columns(tree, matrix, coded)
        return self

    def _threshold_rows(self, X: Any) -> NDArray[Any]:
        rows = read_rows(self, X, reset=False, by_column=has_categories(self))
        return self._matrix(coded_rows(rows, self.columns_))

    def _over_columns(self, tree: Tree, matrix: NDArray[Any], coded: NDArray[Any]) -> Tree:
        """The tree with its rows counted, over the columns as they came."""
        if self._inner is not None:
            return table_tree(tree, self._inner, self.columns_, coded)
        rows = np.bincount(tree.apply(matrix), minlength=tree.node_count).astype(np.float64)
        value = tree.value.copy()
        fill_upwards(tree.children_left, tree.children_right, rows, value)
        return replace(tree, value=value, n_node_samples=rows.astype(np.int64))

    def _check(self) -> None:
        least = {"n_trees": 1, "n_synthetic": 0, "n_starts": 1, "passes": 0}
        optional = {"max_leaf_nodes": 2, "max_depth": 1}
        for name, smallest in {**least, **optional}.items():
            value = getattr(self, name)
            if value is None and name in optional:
                continue
            if isinstance(value, bool) or not isinstance(value, Integral) or value < smallest:
                raise ValueError(f"{name}={value!r} must be a whole number from {smallest} on")
        if self.n_starts > len(STARTS):
            raise ValueError(f"n_starts={self.n_starts!r} must be at most {len(STARTS)}")
        share = self.label_share
        if share is not None and not (isinstance(share, Real) and 0 <= float(share) <= 1):
            raise ValueError(f"label_share={share!r} must be None or a number from 0 to 1")
