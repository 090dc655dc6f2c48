"""The canonical tree with numbers in its leaves."""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from gradtree.trees.traversal import EMPTY_WEIGHT, fill_upwards
from gradtree.trees.tree import LEAF, REGRESSION_FORMAT, Tree
from gradtree.typing import Floats, Places


@dataclass(frozen=True, eq=False)
class RegressionTree(Tree):
    """A hard, axis-aligned tree that predicts numbers.

    As :class:`gradtree.Tree`, but ``value``, of shape (n_nodes, n_targets), holds numbers in the
    units of the targets: what each node would predict as a leaf.
    """

    @classmethod
    def of(cls, tree: Tree, value: Floats) -> Self:
        """The splits of any tree, with numbers at its nodes."""
        parts = {field.name: getattr(tree, field.name) for field in fields(Tree)}
        return cls(**parts | {"value": value, "decision": None, "class_counts": None})

    def _format(self) -> str:
        return REGRESSION_FORMAT

    @property
    def n_targets(self) -> int:
        return int(self.value.shape[1])

    @property
    def labels(self) -> Places:
        raise AttributeError("a regression tree has no classes; see value")

    def impurities(self) -> Floats:
        """The spread of the predictions below every node, by their rows.

        With means in the leaves, it falls by what the squared error does, as in scikit-learn.
        """
        rows, variance = self.spread()
        whole = np.where(variance[0] > 0, variance[0], 1.0)
        return np.asarray(rows * (variance / whole).sum(axis=1))

    def spread(self) -> tuple[Floats, Floats]:
        """Rows of every node, and the variance of the predictions below it, by target.

        All leaves weigh alike where their rows are not known.
        """
        rows = np.ones(self.node_count) if self.n_node_samples is None else self.n_node_samples
        weight = np.maximum(rows, EMPTY_WEIGHT, dtype=np.float64)
        value = self.value - self.value[0]
        moments = np.hstack([value, value**2])
        fill_upwards(self.children_left, self.children_right, weight, moments)
        mean, square = np.hsplit(moments, 2)
        return weight, np.maximum(square - mean**2, 0.0)

    def predict(self, X: Any) -> Floats:  # type: ignore[override]
        """The numbers of the leaf that each row reaches: a vector if there is one target."""
        found = self.value[self.apply(X)]
        return found[:, 0] if self.n_targets == 1 else found

    def predict_proba(self, X: Any) -> Floats:
        raise AttributeError("a regression tree has no classes; see predict")

    def value_defect(self) -> str | None:
        """What is wrong with the values, or ``None``."""
        leaf = self.children_left == LEAF
        finite = np.isfinite(self.value[leaf]).all()
        return None if finite else "the values of a leaf are not finite"
