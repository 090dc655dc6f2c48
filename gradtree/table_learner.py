"""What all learners of trees over tables share: reading columns, and the matrix made of them."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from gradtree.inputs.arrays import TrainingRows, categorical_mask, coded_rows, learned_columns
from gradtree.predicting import TreePredictor
from gradtree.units.inner import inner_matrix, learn_inner
from gradtree.units.scales import InnerColumn, Labels


class TableLearner(TreePredictor):
    """Learns what the columns of a table hold; how to learn a tree is up to its subclass."""

    scale: str | None
    categorical_features: Any
    random_state: Any
    n_features_in_: int
    _inner: tuple[InnerColumn, ...] | None

    def _seed(self) -> int:
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _learn_columns(
        self, data: TrainingRows, trained: NDArray[np.intp], stream: bool = False
    ) -> None:
        """Learn what the columns hold and how they become those of the training matrix."""
        names = getattr(self, "feature_names_in_", None)
        mask = categorical_mask(self.categorical_features, data.rows, names)
        self.columns_ = learned_columns(data.rows, trained, mask, names)
        coded = coded_rows(data.rows, self.columns_)
        numbers = all(column.kind == "number" for column in self.columns_)
        if self.scale is None and numbers and not np.isnan(coded).any():
            self._inner = None
            return
        weight = np.ones(len(data.y)) if data.weight is None else data.weight
        weight = weight[trained] / weight[trained].mean()
        labels = Labels(data.y[trained], weight, len(data.classes))
        self._inner = learn_inner(coded, trained, labels, self.columns_, self.scale, stream)

    def _matrix(self, coded: NDArray[Any]) -> NDArray[Any]:
        """What the engine is trained on."""
        return coded if self._inner is None else inner_matrix(coded, self._inner)
