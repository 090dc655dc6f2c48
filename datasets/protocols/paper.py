"""The preparation that produced the paper's numbers, quirks included.

In order: missing values are filled on the whole dataset, rows are split at random,
categories become leave-one-out means of the label, every column is mapped to normal
quantiles, and the training part is rebalanced if a class is rare. Where a step differs
from good practice or from the paper's text, here or in ``steps``, "Quirk" says so.
``Steps`` names those that can be replaced one by one.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import QuantileTransformer

from datasets.protocols.declared import FIRST_SEED, PAPER, Protocol, data_seed
from datasets.protocols.steps import (
    FillMissing,
    balancing_weights,
    encode,
    finished,
    has_rare_class,
    normal_quantiles,
    oversample,
    random_parts,
    stratified_parts,
)
from datasets.split import Rebalancing, Split
from datasets.table import Dataset

QUANTILE_NOISE = 1e-3


def split(dataset: Dataset, trial: int, protocol: Protocol = PAPER) -> Split:
    """Prepare one trial as the authors' code did, but for the step that a variant replaces."""
    if dataset.record.task == "regression":
        raise ValueError(
            f"protocol {protocol.name} is for classes only, whose indices it averages and whose "
            f"rare ones it oversamples; {dataset.slug} is a regression: use protocol clean"
        )
    seed, steps = data_seed(trial), protocol.steps
    if steps.fill_from == "training rows":
        rows = random_parts(len(dataset.y), seed)
        fill, X, y = filled(dataset, rows.train)
    else:
        # Quirk: the fill values come from all rows, test rows included.
        fill, X, y = filled(dataset, np.arange(len(dataset.y)))
        rows = stratified_parts(y, seed) if steps.stratified else random_parts(len(y), seed)
    y_train = y[rows.train]
    means, X_means = encode(X.iloc[rows.train], y_train, dataset.categorical, steps.means, seed)
    # One stream for the noise and then for SMOTE, as numpy's global one was used.
    stream = np.random.RandomState(FIRST_SEED)
    quantile = fit_quantiles(X_means, stream, steps.noise)
    X_train, class_weights = quantile.transform(X_means), None
    rebalanced: Rebalancing = "none"
    if has_rare_class(y_train):
        if steps.rare_classes == "oversample":
            # Quirk: a share of at most 0.25/(c-1) is rare, where the paper says less than, with c
            # the number of classes among these very rows. Quirk: SMOTE continues the stream of the
            # noise. Quirk: where it cannot work, rows of all classes are repeated at random, which
            # the paper does not mention.
            X_train, y_train, rebalanced = oversample(X_train, y_train, stream, FIRST_SEED)
        elif steps.rare_classes == "weigh":
            class_weights = balancing_weights(y_train, dataset.record.n_classes)
            rebalanced = "class-weights"
    return finished(
        dataset,
        protocol,
        trial,
        rows,
        y,
        Pipeline([("fill", fill), ("encode", means), ("quantile", quantile)]),
        {"rebalanced": rebalanced, "encoding": steps.means},
        X_train=X_train,
        y_train=y_train,
        feature_names=dataset.record.features,
        class_weights=class_weights,
        bins_from_test=steps.bins_from_test,
        as_authors=True,
    )


def filled(
    dataset: Dataset, rows: NDArray[np.int64]
) -> tuple[FillMissing, pd.DataFrame, NDArray[np.int64]]:
    """A map that fills gaps with what some rows give, and all rows and labels without gaps.

    A missing value becomes the column's mode or mean, or a category "?". Quirk: a missing label
    (Echocardiogram) is taken for the most frequent class instead of being dropped.
    """
    columns = dataset.X.columns[dataset.X.isna().any()]
    fill = FillMissing(dataset.record.missing, columns).fit(dataset.X.iloc[rows])
    labels = dataset.y[rows]
    most_frequent = np.bincount(labels[labels >= 0], minlength=1).argmax()
    y = np.where(dataset.y < 0, most_frequent, dataset.y)
    return fill, fill.transform(dataset.X), y


def fit_quantiles(
    X: NDArray[np.float64], stream: np.random.RandomState, with_noise: bool = True
) -> QuantileTransformer:
    """Learn the map from values to normal quantiles, from training rows with noise.

    Quirk: the noise of a column is 0.001 divided by its standard deviation instead of
    multiplied, so that nearly constant columns get noise of deviation 1. Quirk: all rows
    are used, as with the scikit-learn of the time; today's default takes 10,000 of them.
    """
    with np.errstate(over="ignore"):  # values near 1e300 get no noise
        deviation = QUANTILE_NOISE / np.maximum(X.std(axis=0, keepdims=True), QUANTILE_NOISE)
    noise = deviation * stream.standard_normal(X.shape)  # drawn in any case: SMOTE goes on from it
    return normal_quantiles(len(X)).fit(X + noise if with_noise else X)
