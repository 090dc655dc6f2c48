"""Trees that predict quantiles of a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor


class QuantileCart(DecisionTreeRegressor):
    """CART, grown by squared error, whose leaves predict a quantile of their training rows.

    Parameters
    ----------
    quantile : float, default=0.5
    max_depth, min_samples_leaf, random_state : as in scikit-learn's tree.
    """

    def __init__(
        self,
        quantile: float = 0.5,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        random_state: int | None = None,
    ) -> None:
        super().__init__(
            max_depth=max_depth, min_samples_leaf=min_samples_leaf, random_state=random_state
        )
        self.quantile = quantile

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        super().fit(X, y, sample_weight=sample_weight, check_input=check_input)
        told = pd.Series(np.ravel(y)).groupby(self.apply(X)).quantile(self.quantile)
        self.tree_.value[told.index.to_numpy(), 0, 0] = told.to_numpy()
        return self


@dataclass(frozen=True, eq=False)
class QuantileTrees:
    """One fitted tree per quantile, the middle one that of the median, which ``predict`` tells."""

    trees: tuple[Any, ...]

    def predict(self, X: Any) -> NDArray[np.float64]:
        return np.asarray(self.trees[len(self.trees) // 2].predict(X))

    def predict_quantiles(self, X: Any) -> NDArray[np.float64]:
        return np.column_stack([tree.predict(X) for tree in self.trees])
