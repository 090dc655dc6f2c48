"""The two learned maps of the paper's preparation: category_encoders' and scikit-learn's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pandas as pd
from category_encoders import LeaveOneOutEncoder
from numpy.typing import NDArray
from sklearn.model_selection import KFold
from sklearn.preprocessing import QuantileTransformer

TrainingMeans = Literal["leave-one-out", "plain", "cross-fitted"]
FOLDS = 5
N_QUANTILES = 1000


def fit_means(
    X: pd.DataFrame, y: NDArray[np.int64], categorical: Sequence[str]
) -> LeaveOneOutEncoder:
    """An encoder that replaces categories by means of the label.

    Its ``transform`` gives the mean over the training rows of the category; with labels, the mean
    without the row's own. Categories seen once or never get the mean over all training rows.
    """
    encoder = LeaveOneOutEncoder(cols=list(categorical), return_df=False)
    return encoder.fit(X, y.astype(np.float64))


def training_means(
    encoder: LeaveOneOutEncoder,
    X: pd.DataFrame,
    y: NDArray[np.int64],
    training: TrainingMeans,
    seed: int,
) -> NDArray[np.float64]:
    """The numbers of the training rows themselves, for an encoder fitted to them.

    Leave-one-out; plain, as all other rows get them; or cross-fitted, as rows get them from an
    encoder that is fitted to the other folds of five, which ``seed`` draws. Row after row in
    memory: the order decides in which numpy sums up a column, and so the last digit of its mean.
    """
    if training == "leave-one-out":
        numbers = encoder.transform(X, y.astype(np.float64))
        return np.ascontiguousarray(numbers, dtype=np.float64)
    if training == "plain":
        return np.ascontiguousarray(encoder.transform(X), dtype=np.float64)
    numbers = np.empty(X.shape)
    for others, fold in KFold(min(FOLDS, len(y)), shuffle=True, random_state=seed).split(y):
        means = fit_means(X.iloc[others], y[others], encoder.cols)
        numbers[fold] = means.transform(X.iloc[fold])
    return numbers


def normal_quantiles(n_rows: int) -> QuantileTransformer:
    """A map to normal quantiles, unfitted, for so many rows, all of which count."""
    points = max(1, min(N_QUANTILES, n_rows))
    return QuantileTransformer(n_quantiles=points, output_distribution="normal", subsample=None)
