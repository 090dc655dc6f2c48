"""A transformer that fills missing values as a dataset's record asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin

from datasets.record import Missing

MISSING_CATEGORY = "?"


class FillMissing(TransformerMixin, BaseEstimator):
    """Fill each column with one value learned from the rows it is fitted on.

    Parameters
    ----------
    rule : "none", "category" (missing is a category of its own), "mode" (most frequent
        value, the smallest of equally frequent ones), or "mean" (of numbers; the mode of
        categories).
    columns : those to fill, ``None`` for those with gaps in the rows it is fitted on.

    Attributes
    ----------
    values_ : the fill value of each of these columns. Without any value to learn it from,
        it is 0 for numbers and a category of its own for categories.
    """

    def __init__(self, rule: Missing = "none", columns: Sequence[str] | None = None) -> None:
        self.rule = rule
        self.columns = columns

    def fit(self, X: pd.DataFrame, y: object = None) -> Self:
        self.feature_names_in_ = list(X.columns)
        with_gaps = columns_with_gaps(X) if self.columns is None else self.columns
        self.values_ = {name: self._value(X[name]) for name in with_gaps}
        return self

    def _value(self, column: pd.Series) -> Any:
        categories = isinstance(column.dtype, pd.CategoricalDtype)
        if self.rule != "none" and column.isna().all():
            return MISSING_CATEGORY if categories else 0.0
        if categories and self.rule == "category":
            return MISSING_CATEGORY
        if self.rule == "mode" or (categories and self.rule == "mean"):
            return column.mode().iloc[0]
        if self.rule == "mean":
            return column.mean()
        raise ValueError(f"column {column.name!r} has missing values, but the rule is {self.rule}")

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        X = X.copy(deep=False)
        for name, value in self.values_.items():
            column = X[name]
            if isinstance(column.dtype, pd.CategoricalDtype) and value not in column.cat.categories:
                column = column.cat.add_categories([value])
            X[name] = column.fillna(value)
        return X

    def get_feature_names_out(self, input_features: object = None) -> list[str]:
        return list(self.feature_names_in_)


def columns_with_gaps(X: pd.DataFrame) -> list[str]:
    return [str(name) for name, column in X.items() if column.isna().any()]
