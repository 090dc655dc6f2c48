"""Beyond the paper: ConTree, an optimal tree whose thresholds may lie anywhere.

Depth and price of a split are chosen by the folds of real rows. Capped by
depth: 3, so 8 leaves, in every reading, as deeper searches take minutes; and 2
where rows x (features x √thresholds)^2 exceeds ``work``. Depth 1 is not tried:
pycontree takes longer for it than for depth 2, which at a price may come out as
one split. A search that exceeds ``time_limit`` (seconds) gives its best tree so
far; after ``tuning_limit`` seconds of the processor no larger tree is tried.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baselines.contract import Fitted, Learner, Params, SplitLike, Task


def defaults(task: Task) -> dict[str, Any]:
    return {"max_leaves": 8, "work": 2e8, "time_limit": 10.0, "tuning_limit": 2.0}


def fit(split: SplitLike, params: Params, seed: int) -> Fitted:
    from baselines.algorithms.contree import ConTreeClassifier
    from baselines.algorithms.inner_folds import Fold, inner_folds, tuned
    from baselines.algorithms.solver_tuning import PRICES, depth_for

    X, y = split.X_train_valid, split.y_train_valid
    classes = np.arange(split.n_classes)
    limit = params["time_limit"]

    def fitted(chosen: dict[str, Any], fold: Fold) -> ConTreeClassifier:
        return ConTreeClassifier(**chosen, time_limit=limit).fit(fold.X, fold.y, classes)

    deepest = min(depth_for(params["max_leaves"]), affordable(X, params["work"]))
    depths = range(2, deepest + 1)
    candidates = [{"max_depth": d, "complexity": price} for d in depths for price in PRICES]
    folds = inner_folds(split, seed)
    chosen, compared = tuned(candidates, fitted, folds, split.n_classes, params["tuning_limit"])
    estimator = fitted(chosen, Fold(X, y, X, y))
    extra = {"chosen": chosen, "compared": compared, "proved": estimator.proved_}
    return Fitted(estimator, X, y, estimator.tree_, estimator.size_, extra=extra)


def affordable(X: Any, work: float) -> int:
    """The deepest search within ``work``, 2 at least."""
    thresholds = sum(len(np.unique(column)) - 1 for column in np.asarray(X).T)
    base = max(X.shape[1] * np.sqrt(thresholds), 2.0)
    return max(2, 1 + int(np.log(max(work / len(X), 1.0)) / np.log(base)))


LEARNER = Learner(
    slug="contree",
    name="ConTree",
    version="1",
    defaults=defaults,
    fit=fit,
    in_paper=False,
    needs=("pycontree",),
    installs="solvers",
)
