"""DNDT: one cut per feature, a leaf for every combination of sides, trained softly.

The parameters that the paper does not tune are those of the authors' code,
whose patience is 25 where the paper reads as 200, and which makes no restarts.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from baselines.algorithms import DNDT_MOST_FEATURES as MOST_FEATURES
from baselines.contract import Fitted, Learner, Params, Split, Task


def defaults(task: Task) -> dict[str, Any]:
    return {
        "learning_rate": 0.1,
        "temperature": 0.1,
        "batch_size": 512,
        "epochs": 1000,
        "patience": 25,
    }


def translate(row: Mapping[str, str], task: Task) -> dict[str, Any]:
    if row["num_cut"] != "1":
        raise ValueError(f"one cut per feature is implemented, not {row['num_cut']}")
    return {"learning_rate": float(row["learning_rate"]), "temperature": float(row["temperature"])}


def skip(n_features: int, n_classes: int) -> str | None:
    return f"n>{MOST_FEATURES}" if n_features > MOST_FEATURES else None


def fit(split: Split, params: Params, seed: int) -> Fitted:
    """Train on the training part alone; the validation part decides when to stop."""
    from baselines.algorithms.dndt import DNDTClassifier

    estimator = DNDTClassifier(**params, random_state=seed)
    estimator.fit(
        split.X_train,
        split.y_train,
        split.X_valid,
        split.y_valid,
        np.arange(split.n_classes),
        weights=split.weights_train,
    )
    size, epochs = estimator.size_, estimator.n_epochs_
    return Fitted(estimator, split.X_train, split.y_train, estimator.tree_, size, epochs)


LEARNER = Learner(
    slug="dndt",
    in_paper=True,
    name="DNDT",
    group="Gradient-based",
    version="1",
    defaults=defaults,
    fit=fit,
    skip=skip,
    takes_weights=True,
    published="hyperparameters_dndt.csv",
    translate=translate,
    # The paper's grid is unpublished: these are the values that occur among its 16 winners.
    space={
        "learning_rate": (0.001, 0.005, 0.01, 0.05, 0.1),
        "temperature": (0.001, 0.01, 0.1, 1.0),
    },
    needs=("tensorflow",),
)
