"""The two learned maps of the paper's preparation, equal to the libraries' but fast.

``CategoryMeans`` gives the numbers of category_encoders' ``LeaveOneOutEncoder`` and
``NormalQuantiles`` those of scikit-learn's ``QuantileTransformer``, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import KFold
from sklearn.preprocessing import QuantileTransformer

TrainingMeans = Literal["leave-one-out", "plain", "cross-fitted"]
FOLDS = 5


class CategoryMeans(TransformerMixin, BaseEstimator):
    """Replace categories by means of the label.

    ``transform`` gives the mean over the training rows of the category; categories seen
    once or never get the mean over all training rows.

    Parameters
    ----------
    cols : the categorical columns; all others pass through as numbers.
    training : what ``fit_transform`` gives the training rows themselves. "leave-one-out":
        the mean without the row's own label; "plain": what ``transform`` gives;
        "cross-fitted": what ``transform`` gives after fitting to the other folds of five.
    seed : draws the folds.

    Attributes
    ----------
    mapping : per column, the value of each category seen in training.
    mean_ : mean label of the training rows.
    """

    def __init__(
        self, cols: Sequence[str] = (), training: TrainingMeans = "leave-one-out", seed: int = 0
    ) -> None:
        self.cols = cols
        self.training = training
        self.seed = seed

    def fit(self, X: pd.DataFrame, y: NDArray[np.int64]) -> Self:
        self._learn(X, y)
        return self

    def transform(self, X: pd.DataFrame) -> NDArray[np.float64]:
        values = [
            self._looked_up(X[name]) if name in self.mapping else _numbers(X[name])
            for name in self.feature_names_in_
        ]
        return np.column_stack(values)

    def fit_transform(self, X: pd.DataFrame, y: NDArray[np.int64]) -> NDArray[np.float64]:
        learned = self._learn(X, y)
        if self.training == "plain":
            return self.transform(X)
        if self.training == "cross-fitted":
            return self._cross_fitted(X, y)
        values = []
        for name in self.feature_names_in_:
            if name not in learned:
                values.append(_numbers(X[name]))
                continue
            codes, sums, counts = learned[name]
            others = counts[codes] - 1
            with np.errstate(invalid="ignore", divide="ignore"):
                values.append(np.where(others > 0, (sums[codes] - y) / others, self.mean_))
        return np.column_stack(values)

    def _cross_fitted(self, X: pd.DataFrame, y: NDArray[np.int64]) -> NDArray[np.float64]:
        numbers = np.empty(X.shape)
        folds = KFold(min(FOLDS, len(y)), shuffle=True, random_state=self.seed)
        for others, fold in folds.split(y):
            means = CategoryMeans(self.cols).fit(X.iloc[others], y[others])
            numbers[fold] = means.transform(X.iloc[fold])
        return numbers

    def get_feature_names_out(self, input_features: object = None) -> list[str]:
        return list(self.feature_names_in_)

    def _learn(self, X: pd.DataFrame, y: NDArray[np.int64]) -> dict[str, tuple[Any, Any, Any]]:
        """Per column: the codes of the rows, and the label sum and row count of each code."""
        self.feature_names_in_ = list(X.columns)
        self.mean_ = float(y.mean())
        self.mapping: dict[str, pd.Series] = {}
        learned = {}
        for name in self.cols:
            category = pd.Categorical(X[name])
            codes, levels = np.asarray(category.codes), category.categories
            counts = np.bincount(codes, minlength=len(levels))
            sums = np.bincount(codes, weights=y, minlength=len(levels))
            means = np.where(counts > 1, sums / np.maximum(counts, 1), self.mean_)
            self.mapping[name] = pd.Series(means[counts > 0], index=levels[counts > 0])
            learned[name] = codes, sums, counts
        return learned

    def _looked_up(self, column: pd.Series) -> NDArray[np.float64]:
        known = self.mapping[str(column.name)]
        category = pd.Categorical(column)
        places = known.index.get_indexer(category.categories)
        of_level = np.append(
            np.where(places >= 0, known.to_numpy()[places], self.mean_), self.mean_
        )
        return of_level[np.asarray(category.codes)]


class NormalQuantiles(QuantileTransformer):
    """A ``QuantileTransformer`` to normal quantiles whose fit sorts instead of selecting.

    NumPy's percentiles of 1000 points select each of them, which takes up to a second for
    the wider tables; sorting gives the same numbers in a fraction of it.
    """

    def __init__(self, n_quantiles: int = 1000) -> None:
        super().__init__(n_quantiles=n_quantiles, output_distribution="normal", subsample=None)

    def fit(self, X: NDArray[np.float64], y: object = None) -> Self:
        self.n_features_in_ = X.shape[1]
        self.n_quantiles_ = max(1, min(self.n_quantiles, len(X)))
        self.references_ = np.linspace(0, 1, self.n_quantiles_, endpoint=True)
        # The roundings below are those of numpy.percentile with linear interpolation.
        position = (len(X) - 1) * (self.references_ * 100 / 100)
        below = np.floor(position).astype(np.intp)
        share = (position - below)[:, None]
        ordered = np.sort(X, axis=0)
        low, high = ordered[below], ordered[np.minimum(below + 1, len(X) - 1)]
        step = high - low
        quantiles = np.where(share >= 0.5, high - step * (1 - share), low + step * share)
        self.quantiles_ = np.maximum.accumulate(quantiles)
        return self


def _numbers(column: pd.Series) -> NDArray[np.float64]:
    return column.to_numpy(dtype=np.float64)
