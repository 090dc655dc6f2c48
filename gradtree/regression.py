"""What estimators of numbers have in common."""

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_consistent_length

from gradtree.estimator import TreeEstimator, check_tree
from gradtree.inputs.arrays import read_weights
from gradtree.inputs.targets import (
    TrainingNumbers,
    check_targets,
    read_numbers,
    read_training_numbers,
)
from gradtree.settings.losses import NumberLoss
from gradtree.training.numbers import GrownNumbers, NumberRows
from gradtree.trees.regression_tree import RegressionTree
from gradtree.trees.tree import Tree
from gradtree.typing import Floats, Names, Places
from gradtree.units.encoding import Shares, number_shares


class Regression(RegressorMixin, TreeEstimator):
    """Reads numbers, predicts them, and lets people correct what leaves say."""

    _scoring: ClassVar[str] = "r2"
    _read = read_training_numbers
    # What leaves are fitted by.
    _loss: NumberLoss

    def predict(self, X: Any) -> Floats:
        """The number of each row; of several targets, an array of shape (n_rows, n_targets)."""
        leaves = self.apply(X)
        found = self.tree_.value[leaves]
        return found[:, 0] if found.shape[1] == 1 else found

    def relabel(self, leaf: int, value: ArrayLike) -> Self:
        """Let a leaf of ``tree_`` predict another number, or several for several targets."""
        tree = self._checked(leaf, is_leaf=True).tree_
        numbers = read_numbers(np.reshape(np.asarray(value), (1, -1)), "value")
        check_targets(numbers, tree.value.shape[1], "value")
        told = np.array(tree.value)
        told[leaf] = numbers[0]
        return self._edit(replace(self._kept, tree=replace(tree, value=told)))

    def refit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Let other rows decide what the leaves of ``tree_`` say; its splits stay.

        A leaf that none of these rows reaches says what its parent says.
        """
        leaf = self.apply(X)
        targets = read_numbers(y, "y")
        check_consistent_length(leaf, targets)
        check_targets(targets, self.tree_.value.shape[1], "y")
        weight = read_weights(sample_weight, len(leaf))
        weight = np.ones(len(leaf)) if weight is None else weight
        rows = NumberRows(np.empty((len(leaf), 0)), targets, weight, self._loss)
        return self._edit(rows.with_values(self.tree_, leaf, self._finish.smoothing))

    @classmethod
    def from_tree(cls, tree: Tree, feature_names: Names = None, **params: Any) -> Self:
        """A fitted estimator that predicts by a :class:`RegressionTree` of any origin.

        As :meth:`GradTreeClassifier.from_tree`, without classes.
        """
        check_tree(tree)
        if not isinstance(tree, RegressionTree):
            raise ValueError("this tree predicts classes; use a classifier, not a regressor")
        model = cls(**params)
        model._loss = model._loss_of(np.zeros((1, tree.n_targets)), np.ones(1))
        return model._made_of(tree, feature_names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _loss_of(self, y: Floats, weight: Floats) -> NumberLoss:
        return NumberLoss(shift=np.zeros(y.shape[1]), scale=np.ones(y.shape[1]))

    def _note(self, data: TrainingNumbers) -> None:
        weight = np.ones(len(data.y)) if data.weight is None else data.weight
        self._loss = replace(self._loss_of(data.targets, weight), targets=data.targets[:0])

    def _shares(self, data: TrainingNumbers, rows: Places, weight: Floats) -> Shares:
        return number_shares(data.targets[rows], weight)

    def _take(self, tree: Tree) -> Self:
        assert isinstance(tree, RegressionTree)
        rows, variance = tree.spread()
        whole = np.where(variance[0] > 0, variance[0], 1.0)
        cost = rows / rows[0] * (variance / whole).mean(axis=1)
        return self._edit(GrownNumbers(tree, rows[:, np.newaxis], cost))
