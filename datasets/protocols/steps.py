"""The steps that protocols are made of: parts, filling, encoding, quantiles, rebalancing."""

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from category_encoders import LeaveOneOutEncoder
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import KFold, train_test_split
from sklearn.preprocessing import QuantileTransformer

from datasets.protocols.declared import HELD_OUT_SHARE
from datasets.record import Missing
from datasets.split import Parts, Rebalancing

SMALLEST_STRATUM = 5
MISSING_CATEGORY = "?"
TrainingMeans = Literal["leave-one-out", "plain", "cross-fitted"]
FOLDS = 5
N_QUANTILES = 1000
SMOTE_NEIGHBOURS = 5


def random_parts(n_rows: int, seed: int) -> Parts:
    """Draw the rows of the test part, then of the validation part, of 20 % each.

    Quirk: not stratified, so a rare class may be absent from a part. Quirk: both shares
    are of the whole (60/20/20), where the paper says 20 % of the training rows (64/16/20).
    """
    held_out = int(HELD_OUT_SHARE * n_rows)
    rest, test = train_test_split(np.arange(n_rows), test_size=held_out, random_state=seed)
    train, valid = train_test_split(rest, test_size=held_out, random_state=seed)
    return Parts(train, valid, test)


def stratified_parts(y: NDArray[np.int64], seed: int) -> Parts:
    """Stratified parts of 60, 20 and 20 % of the rows that have a label."""
    labelled = np.flatnonzero(y >= 0)
    stratum = strata(y[labelled])
    held_out = int(HELD_OUT_SHARE * len(labelled))
    places = np.arange(len(labelled))
    rest, test = train_test_split(places, test_size=held_out, random_state=seed, stratify=stratum)
    train, valid = train_test_split(
        rest, test_size=held_out, random_state=seed, stratify=stratum[rest]
    )
    return Parts(labelled[train], labelled[valid], labelled[test])


def strata(y: NDArray[np.int64]) -> NDArray[np.int64]:
    """The class of each row, classes too rare for every part to get a row pooled together.

    With parts of 20 %, a class needs five rows to have one in each part. The rarest classes
    are pooled, smallest first, until the pool has five rows; a class of the pool may then be
    absent from a part, which cannot be helped.
    """
    classes, counts = np.unique(y, return_counts=True)
    order = np.argsort(counts, kind="stable")
    pooled = 1 + int(np.searchsorted(np.cumsum(counts[order]), SMALLEST_STRATUM))
    pool = classes[order[:pooled]]
    return np.where(np.isin(y, pool), pool[-1], y)


class FillMissing(TransformerMixin, BaseEstimator):
    """Fill ``columns``, or those with gaps, each with one value of the rows it is fitted on.

    The rule is "none", "category" (missing is a category of its own), "mode" (most frequent value,
    the smallest of equally frequent ones), or "mean" (of numbers; the mode of categories). Without
    any value to learn from, it is 0 for numbers and a category of its own for categories.
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


def has_rare_class(y: NDArray[np.int64]) -> bool:
    """Whether the smallest of the c classes present has a share of at most 0.25/(c-1)."""
    counts = _counts(y)
    return bool(counts.min() / len(y) <= 0.25 / max(len(counts) - 1, 1))


def oversample(
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    smote_stream: np.random.RandomState | None,
    seed: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64], Rebalancing]:
    """Bring every class up to the largest one.

    New rows are interpolated by SMOTE, which draws from ``smote_stream``. Without a stream,
    or where a class has too few rows to have SMOTE's neighbours, rows are repeated at random.
    """
    # Most datasets need no rebalancing, and this import takes longer than their preparation.
    from imblearn.over_sampling import SMOTE, RandomOverSampler

    if smote_stream is not None and _counts(y).min() > SMOTE_NEIGHBOURS:
        sampler = SMOTE(k_neighbors=SMOTE_NEIGHBOURS, random_state=smote_stream)
        return *sampler.fit_resample(X, y), "smote"
    return *RandomOverSampler(random_state=seed).fit_resample(X, y), "random-oversampling"


def balancing_weights(y: NDArray[np.int64], n_classes: int) -> tuple[float, ...]:
    """One weight per class that does in expectation what oversampling does.

    Rows of the largest class weigh 1, and every class present weighs as much as it in sum.
    """
    counts = np.bincount(y, minlength=n_classes)
    return tuple(float(counts.max() / count) if count else 1.0 for count in counts)


def _counts(y: NDArray[np.int64]) -> NDArray[np.int64]:
    counts = np.bincount(y)
    return counts[counts > 0]
