"""Beyond the paper: an optimal tree of DL8.5's depth that chooses among thresholds.

DL8.5 may only ask whether a feature lies in one of five bins; this one asks
whether it lies below one of a few quantiles, as people draw trees.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baselines.contract import Fitted, Learner, Params, SplitLike, Task


def defaults(task: Task) -> dict[str, Any]:
    return {"max_depth": 4, "n_thresholds": 5, "min_samples_leaf": 1, "time_limit": 60.0}


def fit(split: SplitLike, params: Params, seed: int) -> Fitted:
    from baselines.algorithms.optimal_tree import OptimalTreeClassifier

    X, y = split.X_train_valid, split.y_train_valid
    estimator = OptimalTreeClassifier(**params, random_state=seed)
    estimator.fit(X, y, classes=np.arange(split.n_classes))
    return Fitted(estimator, X, y, estimator.tree_, estimator.size_)


LEARNER = Learner(
    slug="optimal-tree",
    name="Optimal tree",
    version="1",
    defaults=defaults,
    fit=fit,
    space={"max_depth": (2, 3, 4), "n_thresholds": (3, 5, 10), "min_samples_leaf": (1, 5, 10)},
    in_paper=False,
    needs=("pystreed",),
)
