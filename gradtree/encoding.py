"""How an estimator learns its columns: from a table to a matrix, and with a tree back again."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from gradtree.editing import EditableTree
from gradtree.inputs.arrays import Rows, TrainingRows, categorical_mask, coded_rows, learned_columns
from gradtree.training.finishing import Grown
from gradtree.units.inner import inner_matrix, learn_inner, table_tree
from gradtree.units.scales import InnerColumn


class ColumnLearner(EditableTree):
    """Learns the columns of any table; how a tree is grown over their matrix, subclasses say."""

    scale: str | None
    categorical_features: Any
    random_state: Any
    n_features_in_: int
    _inner: tuple[InnerColumn, ...] | None

    def _seed(self) -> int:
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _learn_columns(self, data: TrainingRows, trained: NDArray[np.intp]) -> None:
        """Learn what the columns hold and how they become those of the training matrix."""
        names = getattr(self, "feature_names_in_", None)
        mask = categorical_mask(self.categorical_features, data.rows, names)
        self.columns_ = learned_columns(data.rows, trained, mask, names)
        self._learn_inner(data, coded_rows(data.rows, self.columns_), trained)

    def _learn_inner(
        self, data: TrainingRows, coded: NDArray[Any], trained: NDArray[np.intp]
    ) -> None:
        """Learn how known columns become those of the training matrix."""
        numbers = all(column.kind == "number" for column in self.columns_)
        if self.scale is None and numbers and not np.isnan(coded).any():
            self._inner = None
            return
        weight = np.ones(len(data.y)) if data.weight is None else data.weight
        weight = weight[trained] / weight[trained].mean()
        labels = self._labels(data, trained, weight)
        self._inner = learn_inner(coded, trained, labels, self.columns_, self.scale)

    def _matrix(self, coded: NDArray[Any]) -> NDArray[Any]:
        """What the tree is grown on."""
        return coded if self._inner is None else inner_matrix(coded, self._inner)

    def _read(
        self, X: Any, y: Any, sample_weight: Any, classes: Any, class_weight: Any
    ) -> TrainingRows:
        """Rows to train on, checked."""
        raise NotImplementedError

    def _read_valid(self, X: Any, y: Any, data: Any) -> tuple[Rows, NDArray[Any]]:
        """Validation rows, and what is to be predicted of them."""
        raise NotImplementedError

    def _labels(self, data: Any, rows: NDArray[np.intp], weight: NDArray[np.float64]) -> Any:
        """What the categories of some rows are ordered by."""
        raise NotImplementedError

    def _counted(self, grown: Grown, coded: NDArray[Any], y: NDArray[Any]) -> Grown:
        """A tree over the columns with its rows counted."""
        raise NotImplementedError

    def _over_table(self, grown: Grown, coded: NDArray[Any], y: NDArray[Any]) -> Grown:
        """A tree over the training matrix as one over the columns, its rows counted."""
        if self._inner is not None:
            grown = grown.some(*table_tree(grown.tree, self._inner, self.columns_, coded))
        return self._counted(grown, coded, y)
