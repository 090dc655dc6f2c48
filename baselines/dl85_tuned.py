"""Beyond the paper: our own DL8.5 search over guessed thresholds, cut back at a price per leaf.

The depth and the price of a leaf are chosen by the folds of real rows; one search
per depth answers for all prices.
Capped by depth, and depth 5 where the size is free. A search that
exceeds ``time_limit`` (seconds) gives its best tree so far; after
``tuning_limit`` seconds of the processor no larger tree is tried. The record
says how many candidates were compared and whether the last search ended.
"""

from __future__ import annotations

from typing import Any

from baselines.contract import Fitted, Learner, Params, SplitLike, Task


def defaults(task: Task) -> dict[str, Any]:
    return {"max_leaves": 32, "work": 1e9, "time_limit": 10.0, "tuning_limit": 6.0}


def fit(split: SplitLike, params: Params, seed: int) -> Fitted:
    from baselines.algorithms.solver_tuning import tuned_solver

    estimator, extra = tuned_solver(split, params, seed, "dl85")
    X, y = split.X_train_valid, split.y_train_valid
    return Fitted(estimator, X, y, estimator.tree_, estimator.size_, extra=extra)


LEARNER = Learner(
    slug="dl85-tuned",
    name="DL8.5 (tuned)",
    version="1",
    defaults=defaults,
    fit=fit,
    in_paper=False,
)
