"""Depth and price of a leaf for solvers, by the folds that every learner shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from baselines.algorithms.guessed_columns import ranked_columns
from baselines.algorithms.inner_folds import Rows, best_of, inner_folds, macro_f1, tuned
from baselines.algorithms.price_pruning import error_risk, predictions, priced
from baselines.algorithms.solver_tree import SolverTreeClassifier

PRICES = (0.02, 0.005, 0.001)
"""Shares of the rows that a leaf must get right, from small trees to large."""
TYPICAL_PRICE = 0.002


def depth_for(max_leaves: int) -> int:
    """The depth at which no tree has more leaves than that."""
    return int(np.log2(max_leaves))


def sizes(max_depth: int) -> list[dict[str, Any]]:
    """Depths at one price, then prices at full depth: from the smallest trees to the largest."""
    shallow = [{"max_depth": d, "complexity": TYPICAL_PRICE} for d in range(1, max_depth)]
    return shallow + [{"max_depth": max_depth, "complexity": price} for price in PRICES]


def tuned_solver(
    split: Rows, params: Mapping[str, Any], seed: int, solver: str
) -> tuple[SolverTreeClassifier, dict[str, Any]]:
    """Choose depth and price by the shared folds, then solve for all rows.

    Returns
    -------
    estimator, and what its run record shall say of the tuning
    """
    X, y = split.X_train_valid, split.y_train_valid
    classes = np.arange(split.n_classes)
    model = SolverTreeClassifier(
        solver, work=params["work"], time_limit=params["time_limit"], random_state=seed
    )
    folds = inner_folds(split, seed)
    ranked = {id(fold): ranked_columns(fold.X, fold.y, seed) for fold in folds}

    def fit(candidate: dict[str, Any], fold: Any) -> SolverTreeClassifier:
        return _copy(model, candidate).fit(fold.X, fold.y, classes, ranked[id(fold)])

    depth = depth_for(params["max_leaves"])
    if solver == "dl85":
        chosen, compared = _cut_back(depth, fit, folds, split.n_classes)
    else:
        chosen, compared = tuned(sizes(depth), fit, folds, split.n_classes, params["tuning_limit"])
    estimator = _copy(model, chosen).fit(X, y, classes)
    extra = {"chosen": chosen, "compared": compared, "proved": estimator.proved_}
    return estimator, extra


def _cut_back(
    max_depth: int, fit: Any, folds: list[Any], n_classes: int
) -> tuple[dict[str, Any], int]:
    """One search per depth and fold answers for every price."""
    candidates: list[dict[str, Any]] = []
    scores = []
    for depth in range(1, max_depth + 1):
        candidates += [{"max_depth": depth, "complexity": price} for price in (*PRICES, 0.0)]
        rows = []
        for fold in folds:
            tree = fit({"max_depth": depth, "complexity": 0.0}, fold).tree_
            path = priced(tree, error_risk(tree))
            found = predictions(path, fold.X_held, (*PRICES, 0.0), tree.value)
            rows.append([macro_f1(fold.y_held, labels, n_classes) for labels in found])
        scores.append(np.array(rows))
    return best_of(candidates, np.hstack(scores)), len(candidates)


def _copy(model: SolverTreeClassifier, candidate: dict[str, Any]) -> SolverTreeClassifier:
    from sklearn.base import clone

    return clone(model).set_params(**candidate)
