"""The steps that protocols are made of: parts, filling, encoding, quantiles, rebalancing."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from category_encoders import LeaveOneOutEncoder
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.model_selection import KFold, train_test_split
from sklearn.preprocessing import QuantileTransformer

from datasets.protocols.declared import HELD_OUT_SHARE, Protocol, data_seed
from datasets.record import Missing
from datasets.split import Parts, Provenance, Rebalancing, Split
from datasets.table import Dataset

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
    """Fill ``columns``, each with one value of the rows it is fitted on.

    The rule is "none", "category" (missing is a category of its own), "mode" (most frequent value,
    the smallest of equally frequent ones), or "mean" (of numbers; the mode of categories). Without
    any value to learn from, it is 0 for numbers and a category of its own for categories.
    """

    def __init__(self, rule: Missing = "none", columns: Sequence[str] = ()) -> None:
        self.rule = rule
        self.columns = columns

    def fit(self, X: pd.DataFrame, y: object = None) -> Self:
        self.feature_names_in_ = list(X.columns)
        self.values_ = {name: self._value(X[name]) for name in self.columns}
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


def encode(
    X: pd.DataFrame,
    y: NDArray[np.int64],
    categorical: Sequence[str],
    training: TrainingMeans = "leave-one-out",
    seed: int = 0,
) -> tuple[LeaveOneOutEncoder, NDArray[np.float64]]:
    """Learn the label mean of each category, and give the training rows their numbers.

    The encoder gives other rows the mean over the training rows of their category; categories seen
    once or never get that over all. Training rows get it, too (plain), or from an encoder that is
    fitted to the other folds of five, which ``seed`` draws (cross-fitted), or without their own.

    Quirk: the mean that leaves out a row's own label tells that label inside a category.
    Quirk: with more than two classes the class index is averaged as if it were a number.
    """
    labels = y.astype(np.float64)
    means = LeaveOneOutEncoder(cols=list(categorical), return_df=False).fit(X, labels)
    if training != "cross-fitted":
        numbers = means.transform(X, labels if training == "leave-one-out" else None)
        # Row after row in memory: the order decides in which numpy sums up a column, and so the
        # last digit of its mean.
        return means, np.ascontiguousarray(numbers, dtype=np.float64)
    numbers = np.empty(X.shape)
    for others, fold in KFold(min(FOLDS, len(y)), shuffle=True, random_state=seed).split(y):
        part = clone(means).fit(X.iloc[others], labels[others])
        numbers[fold] = part.transform(X.iloc[fold])
    return means, numbers


def normal_quantiles(n_rows: int) -> QuantileTransformer:
    """A map to normal quantiles, unfitted, for so many rows, all of which count."""
    points = max(1, min(N_QUANTILES, n_rows))
    return QuantileTransformer(n_quantiles=points, output_distribution="normal", subsample=None)


def has_rare_class(y: NDArray[np.int64]) -> bool:
    """Whether the smallest of the c classes present has a share of at most 0.25/(c-1)."""
    counts = _counts(y)
    return bool(counts.min() / len(y) <= 0.25 / max(len(counts) - 1, 1))


def oversample(
    X: NDArray[np.float64], y: NDArray[np.int64], stream: np.random.RandomState, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], Rebalancing]:
    """Bring every class up to the largest one.

    New rows are interpolated by SMOTE, which draws from ``stream``. Where a class has too few rows
    to have SMOTE's neighbours, rows are repeated at random.
    """
    # Most datasets need no rebalancing, and this import takes longer than their preparation.
    from imblearn.over_sampling import SMOTE, RandomOverSampler

    if _counts(y).min() > SMOTE_NEIGHBOURS:
        sampler = SMOTE(k_neighbors=SMOTE_NEIGHBOURS, random_state=stream)
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


def finished(
    dataset: Dataset,
    protocol: Protocol,
    trial: int,
    rows: Parts,
    y: NDArray[Any],
    preprocessing: Any,
    made: Mapping[str, Any],
    **parts: Any,
) -> Split:
    """The split of a prepared training part and a fitted map for the other parts.

    ``made`` is what only the protocol knows of the provenance.
    """
    X = dataset.X
    return Split(
        X_valid=preprocessing.transform(X.iloc[rows.valid]),
        y_valid=y[rows.valid],
        X_test=preprocessing.transform(X.iloc[rows.test]),
        y_test=y[rows.test],
        class_names=dataset.record.class_names,
        provenance=Provenance(
            dataset=dataset.slug,
            content_hash=dataset.content_hash,
            protocol=protocol.name,
            protocol_version=protocol.version,
            trial=trial,
            seed=data_seed(trial),
            source=dataset.source,
            rows_before_rebalancing=len(rows.train),
            **made,
        ),
        preprocessing=preprocessing,
        rows=rows,
        **parts,
    )
