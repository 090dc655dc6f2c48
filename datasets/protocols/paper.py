"""The preparation that produced the paper's numbers, quirks included.

In order: missing values are filled on the whole dataset, rows are split at random,
categories become leave-one-out means of the label, every column is mapped to normal
quantiles, and the training part is rebalanced if a class is rare. Each function below
is one step; where a step differs from good practice or from the paper's text, its
docstring says so under "Quirk".
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline

from datasets.dataset import Dataset
from datasets.protocols.base import FIRST_SEED, HELD_OUT_SHARE, PAPER, data_seed
from datasets.protocols.encoding import LeaveOneOutMeans, NormalQuantiles
from datasets.protocols.filling import FillMissing
from datasets.protocols.rebalancing import has_rare_class, oversample
from datasets.split import Provenance, Rebalancing, Rows, Split

N_QUANTILES = 1000
QUANTILE_NOISE = 1e-3


def split(dataset: Dataset, trial: int) -> Split:
    """Prepare one trial exactly as the authors' code did."""
    fill, X, y = _filled(dataset)
    rows = split_rows(len(y), data_seed(trial))
    y_train = y[rows.train]
    means, leaking = encode(X.iloc[rows.train], y_train, dataset.categorical)
    # One stream for the noise and then for SMOTE, as numpy's global one was used.
    stream = np.random.RandomState(FIRST_SEED)
    quantile = fit_quantiles(leaking, stream)
    X_train, y_balanced, rebalanced = rebalance(quantile.transform(leaking), y_train, stream)
    return Split(
        X_train=X_train,
        y_train=y_balanced,
        X_valid=quantile.transform(means.transform(X.iloc[rows.valid])),
        y_valid=y[rows.valid],
        X_test=quantile.transform(means.transform(X.iloc[rows.test])),
        y_test=y[rows.test],
        feature_names=dataset.record.features,
        class_names=dataset.record.class_names,
        provenance=Provenance(
            dataset=dataset.slug,
            content_hash=dataset.content_hash,
            protocol=PAPER.name,
            protocol_version=PAPER.version,
            trial=trial,
            seed=data_seed(trial),
            source=dataset.source,
            rebalanced=rebalanced,
            rows_before_rebalancing=len(rows.train),
            encoding="leave-one-out",
        ),
        preprocessing=Pipeline([("fill", fill), ("encode", means), ("quantile", quantile)]),
        rows=rows,
    )


@lru_cache(maxsize=2)
def _filled(dataset: Dataset) -> tuple[FillMissing, pd.DataFrame, NDArray[np.int64]]:
    """Missing values replaced by the column's mode or mean, or kept as a category "?".

    Quirk: the fill values come from all rows, test rows included. Quirk: a missing label
    (Echocardiogram) is taken for the most frequent class instead of being dropped.
    """
    fill = FillMissing(dataset.record.missing).fit(dataset.X)
    known = dataset.y[dataset.y >= 0]
    y = np.where(dataset.y < 0, np.bincount(known).argmax(), dataset.y)
    return fill, fill.transform(dataset.X), y


def split_rows(n_rows: int, seed: int) -> Rows:
    """Draw the rows of the test part, then of the validation part, of 20 % each.

    Quirk: not stratified, so a rare class may be absent from a part. Quirk: both shares
    are of the whole (60/20/20), where the paper says 20 % of the training rows (64/16/20).
    """
    held_out = int(HELD_OUT_SHARE * n_rows)
    rest, test = train_test_split(np.arange(n_rows), test_size=held_out, random_state=seed)
    train, valid = train_test_split(rest, test_size=held_out, random_state=seed)
    return Rows(train, valid, test)


def encode(
    X_train: pd.DataFrame, y_train: NDArray[np.int64], categorical: tuple[str, ...]
) -> tuple[LeaveOneOutMeans, NDArray[np.float64]]:
    """Learn the label mean of each category, and give the training rows their numbers.

    Quirk: the mean that a training row gets leaves out its own label, so that inside a
    category the number tells the label; validation and test rows get the plain mean.
    Quirk: with more than two classes the class index is averaged as if it were a number.
    """
    means = LeaveOneOutMeans(categorical)
    return means, means.fit_transform(X_train, y_train)


def fit_quantiles(X: NDArray[np.float64], stream: np.random.RandomState) -> NormalQuantiles:
    """Learn the map from values to normal quantiles, from training rows with noise.

    Quirk: the noise of a column is 0.001 divided by its standard deviation instead of
    multiplied, so that nearly constant columns get noise of deviation 1. Quirk: all rows
    are used, as with the scikit-learn of the time; today's default takes 10,000 of them.
    """
    deviation = QUANTILE_NOISE / np.maximum(X.std(axis=0, keepdims=True), QUANTILE_NOISE)
    noisy = X + deviation * stream.standard_normal(X.shape)
    return NormalQuantiles(n_quantiles=min(N_QUANTILES, len(X))).fit(noisy)


def rebalance(
    X: NDArray[np.float64], y: NDArray[np.int64], stream: np.random.RandomState
) -> tuple[NDArray[np.float64], NDArray[np.int64], Rebalancing]:
    """Bring every class up to the largest one if the rarest has a small share.

    Quirk: "small" is at most 0.25/(c-1), where the paper says less than, with c the number
    of classes among these very rows. Quirk: SMOTE continues the stream of the quantile
    noise. Quirk: where a class has too few rows for SMOTE, rows of all classes are repeated
    at random instead, which the paper does not mention.
    """
    if not has_rare_class(y):
        return X, y, "none"
    return oversample(X, y, smote_stream=stream, seed=FIRST_SEED)
