"""DL8.5: the optimal tree of depth 4 over binarised features.

The authors binarise after encoding and scaling, and make the bins from all
rows, those of the test part included; protocol ``paper`` does the same, any
other protocol makes them from the fitting rows. There is nothing to tune, so
the tuned experiment uses the same parameters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baselines.contract import Fitted, Learner, Params, SplitLike, Task, over_classes


def defaults(task: Task) -> dict[str, Any]:
    return {"max_depth": 4, "min_sup": 1, "time_limit": None}


def fit(split: SplitLike, params: Params, seed: int) -> Fitted:
    from baselines.estimators.dl85 import DL85Classifier

    X, y = split.X_train_valid, split.y_train_valid
    leaks = split.provenance.protocol == "paper"
    X_bins = np.concatenate([X, split.X_test]) if leaks else None
    estimator = DL85Classifier(**params, random_state=seed).fit(X, y, X_bins=X_bins)
    tree = over_classes(estimator.tree_, estimator.classes_, split.n_classes)
    return Fitted(estimator, X, y, tree, estimator.size_)


LEARNER = Learner(
    slug="dl85",
    name="DL8.5",
    version="1",
    defaults=defaults,
    fit=fit,
    # Without distutils (Python 3.12 and later, no setuptools) pydl8.5 cannot be imported.
    needs=("pydl85", "distutils"),
)
