"""What a careful practitioner would do instead: nothing learned outside the training part.

Rows without a label are dropped, the parts are stratified (in a regression: drawn at
random), and medians, category means and quantiles are learned from training rows. The
means that training rows get are cross-fitted: a row's numbers come from folds it is not
in, so that none sees its own label.
"""

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import TargetEncoder

from datasets.protocols.declared import CLEAN, data_seed
from datasets.protocols.steps import (
    FOLDS,
    finished,
    has_rare_class,
    normal_quantiles,
    oversample,
    random_parts,
    stratified_parts,
)
from datasets.split import Parts, Rebalancing, Split, Task
from datasets.table import Dataset

_TARGET_TYPES: dict[Task, str] = {
    "binary": "binary",
    "multi": "multiclass",
    "regression": "continuous",
}


def split(dataset: Dataset, trial: int) -> Split:
    """Prepare one trial."""
    y, seed = dataset.y, data_seed(trial)
    regression = dataset.record.task == "regression"
    rows = random_parts(len(y), seed) if regression else stratified_parts(y, seed)
    return split_of(dataset, rows, trial)


def split_of(dataset: Dataset, rows: Parts, trial: int) -> Split:
    """Prepare given parts, e.g. a fold of a cross-validation, as those of a trial are."""
    seed = data_seed(trial)
    prepare = preparation(dataset, seed, len(rows.train))
    y_train = dataset.y[rows.train]
    X_train = prepare.fit_transform(dataset.X.iloc[rows.train], y_train)
    rebalanced: Rebalancing = "none"
    if dataset.record.classes and has_rare_class(y_train):
        # As in the paper, but seeded by the trial.
        stream = np.random.RandomState(seed)
        X_train, y_train, rebalanced = oversample(X_train, y_train, stream, seed)
    names = tuple(map(str, prepare.get_feature_names_out()))
    made = {"rebalanced": rebalanced, "encoding": "target"}
    return finished(
        dataset,
        CLEAN,
        trial,
        rows,
        dataset.y,
        prepare,
        made,
        X_train=X_train,
        y_train=y_train,
        feature_names=names,
    )


def preparation(dataset: Dataset, seed: int, n_rows: int) -> ColumnTransformer:
    """The map from raw columns to numbers, unfitted, for so many training rows.

    Missing numbers become the median of the training rows; a missing category is a category
    of its own. With more than two classes, target encoding makes one column per class of each
    categorical column: the share of that class. Everything is then mapped to normal quantiles.
    """
    categorical = list(dataset.categorical)
    numeric = [name for name in dataset.record.features if name not in set(categorical)]
    median = SimpleImputer(strategy="median", keep_empty_features=True)
    numbers = Pipeline([("median", median), ("quantile", normal_quantiles(n_rows))])
    folds = KFold(FOLDS, shuffle=True, random_state=seed)
    encode = TargetEncoder(target_type=_TARGET_TYPES[dataset.record.task], cv=folds)
    categories = Pipeline([("encode", encode), ("quantile", normal_quantiles(n_rows))])
    return ColumnTransformer(
        [("numbers", numbers, numeric), ("categories", categories, categorical)],
        verbose_feature_names_out=False,
    )
