"""Beyond the paper: optimal trees over thresholds, by our own DL8.5 and by the solvers of others.

``dl85-tuned``, ``streed``, ``licketysplit``
    Over guessed thresholds, with a price per leaf (``dl85-tuned``: one search per depth, cut back
    at every price; LicketySPLIT is greedy with a look ahead). ``work`` bounds what a search costs.
    STreeD's own ``hyper_tune`` is not used: its folds are of all rows and score accuracy.
``contree``
    Thresholds may lie anywhere. Depth 3, so 8 leaves, in every reading, as deeper searches take
    minutes; and 2 where rows x (features x √thresholds)^2 exceeds ``work``. Depth 1 is not tried:
    pycontree takes longer for it than for depth 2, which at a price may come out as one split.
``optimal-tree``
    DL8.5's depth, not tuned. DL8.5 may only ask whether a feature lies in one of five bins; this
    one asks whether it lies below one of a few quantiles, as people draw trees.

Depth and price of a leaf of the first four are chosen by the folds of real rows, capped by depth,
which is 5 where the size is free. A search that exceeds ``time_limit`` (seconds) gives its best
tree so far; after ``tuning_limit`` seconds of the processor no larger tree is tried. The record
says how many candidates were compared and whether the last search ended.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from baselines.contract import Fitted, Learner, Params, Split, Task

if TYPE_CHECKING:
    from baselines.algorithms.searched import SearchedTreeClassifier

PRICES = (0.02, 0.005, 0.001)
"""Shares of the rows that a leaf must get right, from small trees to large."""
TYPICAL_PRICE = 0.002


def limits(task: Task, **own: float) -> dict[str, Any]:
    return {"max_leaves": 32, "work": 1e9, "time_limit": 10.0, "tuning_limit": 6.0, **own}


def depth_for(max_leaves: int) -> int:
    """The depth at which no tree has more leaves than that."""
    return int(np.log2(max_leaves))


def sizes(max_depth: int) -> list[dict[str, Any]]:
    """Depths at one price, then prices at full depth: from the smallest trees to the largest."""
    shallow = [{"max_depth": d, "complexity": TYPICAL_PRICE} for d in range(1, max_depth)]
    return shallow + [{"max_depth": max_depth, "complexity": price} for price in PRICES]


def result(split: Split, estimator: SearchedTreeClassifier, **extra: Any) -> Fitted:
    X, y, tree = split.X_train_valid, split.y_train_valid, estimator.tree_
    extra["proved"] = estimator.proved_
    return Fitted(estimator, X, y, tree, tree.node_count, extra=extra)


def fit_guessed(split: Split, params: Params, seed: int, solver: str) -> Fitted:
    """Choose depth and price by the shared folds, then solve for all rows."""
    from baselines.algorithms.binarise import ranked_columns
    from baselines.algorithms.inner_folds import inner_folds, tuned
    from baselines.algorithms.searched import SolverTreeClassifier

    classes = np.arange(split.n_classes)
    limits = {"work": params["work"], "time_limit": params["time_limit"], "random_state": seed}
    folds = inner_folds(split, seed)
    ranked = {id(fold): ranked_columns(fold.X, fold.y, seed) for fold in folds}

    def fit(candidate: dict[str, Any], fold: Any) -> SolverTreeClassifier:
        model = SolverTreeClassifier(solver, **candidate, **limits)
        return model.fit(fold.X, fold.y, classes, ranked=ranked[id(fold)])

    depth = depth_for(params["max_leaves"])
    if solver == "dl85":
        chosen, compared = cut_back(depth, fit, folds)
    else:
        chosen, compared, _ = tuned(sizes(depth), fit, folds, params["tuning_limit"])
    estimator = SolverTreeClassifier(solver, **chosen, **limits)
    estimator.fit(split.X_train_valid, split.y_train_valid, classes)
    return result(split, estimator, chosen=chosen, compared=compared)


def cut_back(max_depth: int, fit: Any, folds: list[Any]) -> tuple[dict[str, Any], int]:
    """The best depth and price; one search per depth and fold answers for every price."""
    from baselines.algorithms.inner_folds import best_of
    from baselines.algorithms.price_pruning import error_risk, predictions, priced

    candidates: list[dict[str, Any]] = []
    scores = []
    for depth in range(1, max_depth + 1):
        candidates += [{"max_depth": depth, "complexity": price} for price in (*PRICES, 0.0)]
        rows = []
        for fold in folds:
            tree = fit({"max_depth": depth, "complexity": 0.0}, fold).tree_
            path = priced(tree, error_risk(tree))
            found = predictions(path, fold.X_held, (*PRICES, 0.0), tree.value)
            rows.append([fold.score(labels) for labels in found])
        scores.append(np.array(rows))
    return best_of(candidates, np.hstack(scores)), len(candidates)


def fit_contree(split: Split, params: Params, seed: int) -> Fitted:
    from baselines.algorithms.inner_folds import Fold, inner_folds, tuned
    from baselines.algorithms.searched import ConTreeClassifier

    X, y = split.X_train_valid, split.y_train_valid
    limit, classes = params["time_limit"], np.arange(split.n_classes)

    def fit(chosen: dict[str, Any], fold: Fold) -> ConTreeClassifier:
        return ConTreeClassifier(**chosen, time_limit=limit).fit(fold.X, fold.y, classes)

    deepest = min(depth_for(params["max_leaves"]), affordable(X, params["work"]))
    depths = range(2, deepest + 1)
    candidates = [{"max_depth": d, "complexity": price} for d in depths for price in PRICES]
    folds = inner_folds(split, seed)
    chosen, compared, _ = tuned(candidates, fit, folds, params["tuning_limit"])
    return result(split, fit(chosen, Fold(X, y, X, y)), chosen=chosen, compared=compared)


def affordable(X: Any, work: float) -> int:
    """The deepest search of ConTree within ``work``, 2 at least."""
    thresholds = sum(len(np.unique(column)) - 1 for column in np.asarray(X).T)
    base = max(X.shape[1] * np.sqrt(thresholds), 2.0)
    return max(2, 1 + int(np.log(max(work / len(X), 1.0)) / np.log(base)))


def fit_optimal(split: Split, params: Params, seed: int) -> Fitted:
    from baselines.algorithms.searched import OptimalTreeClassifier

    X, y = split.X_train_valid, split.y_train_valid
    estimator = OptimalTreeClassifier(**params, random_state=seed)
    estimator.fit(X, y, np.arange(split.n_classes))
    return Fitted(estimator, X, y, estimator.tree_, estimator.size_)


def guessed(slug: str, name: str, solver: str, work: float, **own: Any) -> Learner:
    fit = partial(fit_guessed, solver=solver)
    return Learner(slug, name, "1", partial(limits, work=work), fit, **own)


LEARNERS = (
    guessed("dl85-tuned", "DL8.5 (tuned)", "dl85", 1e9),
    guessed("streed", "STreeD", "streed", 1e8, needs=("pystreed",)),
    guessed(
        "licketysplit",
        "LicketySPLIT",
        "licketysplit",
        1e7,  # of columns^2, at any depth
        needs=("licketysplit",),
        installs="solvers",
    ),
    Learner(
        slug="contree",
        name="ConTree",
        version="1",
        defaults=partial(limits, max_leaves=8, work=2e8, tuning_limit=2.0),
        fit=fit_contree,
        needs=("pycontree",),
        installs="solvers",
    ),
    Learner(
        slug="optimal-tree",
        name="Optimal tree",
        version="1",
        defaults=lambda task: {
            "max_depth": 4,
            "n_thresholds": 5,
            "min_samples_leaf": 1,
            "time_limit": 60.0,
        },
        fit=fit_optimal,
        space={"max_depth": (2, 3, 4), "n_thresholds": (3, 5, 10), "min_samples_leaf": (1, 5, 10)},
        needs=("pystreed",),
    ),
)
