"""Beyond the paper: LicketySPLIT, greedy with a look ahead, over guessed thresholds.

Depth and price are chosen by the folds of real rows. Its cost grows with the
square of the columns at any depth, which is what ``work`` bounds here.
Capped by depth, and depth 5 where the size is free. A search that
exceeds ``time_limit`` (seconds) gives its best tree so far; after
``tuning_limit`` seconds of the processor no larger tree is tried. The record
says how many candidates were compared and whether the last search ended.
"""

from __future__ import annotations

from typing import Any

from baselines.contract import Fitted, Learner, Params, SplitLike, Task


def defaults(task: Task) -> dict[str, Any]:
    return {"max_leaves": 32, "work": 1e7, "time_limit": 10.0, "tuning_limit": 6.0}


def fit(split: SplitLike, params: Params, seed: int) -> Fitted:
    from baselines.algorithms.solver_tuning import tuned_solver

    estimator, extra = tuned_solver(split, params, seed, "licketysplit")
    X, y = split.X_train_valid, split.y_train_valid
    return Fitted(estimator, X, y, estimator.tree_, estimator.size_, extra=extra)


LEARNER = Learner(
    slug="licketysplit",
    name="LicketySPLIT",
    version="1",
    defaults=defaults,
    fit=fit,
    in_paper=False,
    needs=("licketysplit",),
    installs="solvers",
)
