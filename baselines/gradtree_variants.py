"""Beyond the paper: GradTree with the estimator's own defaults, each choice set back alone, tuned.

They train on the original rows, not on those that oversampling has added: class weights do that
work. Which run and which epoch is kept, and how leaves are refitted, is decided by training and
validation rows; the test rows are for the score alone.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from baselines.contract import Fitted, Learner, Params, Split, Task

if TYPE_CHECKING:
    from baselines.algorithms.gradtree_trainings import Trainings
    from gradtree import GradTreeClassifier
    from gradtree.trees.tree import Tree

NEW_DEFAULTS: dict[str, Any] = {
    "depth": 7,
    "lr_index": 0.25,
    "lr_values": 0.025,
    "lr_leaf": 0.2,
    "loss": "cross-entropy",
    "selector": "softmax",
    "split": "softsign",
    "steepness": 2.0,
    "first_thresholds": "quantiles",
    "round_to_validation": False,
    "batch_size": 512,
    "epochs": 300,
    "patience": 50,
    "max_row_visits": 3_000_000,
    "restarts": 15,
    "choose_by": "f1",
    "refit_leaves": True,
    "leaf_smoothing": 1.0,
    "min_samples_leaf": 1,
    "merge_leaves": True,
    "ccp_alpha": 0.0025,
    "max_leaf_nodes": None,
    "class_weight": "sqrt-balanced",
    "stream": "numpy",
}
"""The estimator's defaults, by name, so that a job says what it ran."""
UNCUT: dict[str, Any] = {"ccp_alpha": 0.0, "max_leaf_nodes": None}
"""What a training does not depend on; fits that differ in nothing else share one."""

SET_BACK: dict[str, tuple[str, dict[str, Any]]] = {
    "learned-leaves": ("learned leaves", {"refit_leaves": False}),
    "by-loss": ("run and epoch by loss", {"choose_by": "loss"}),
    "four-long-runs": (
        "four long runs",
        {"restarts": 3, "epochs": 1200, "patience": 200, "max_row_visits": 12_000_000},
    ),
    "slow-leaves": ("the paper's leaf rate", {"lr_leaf": "auto"}),
    "sigmoid": ("sigmoid splits", {"split": "sigmoid", "steepness": 1.0}),
    "glorot": ("the paper's first thresholds", {"first_thresholds": "glorot"}),
    "free-leaves": ("no price per leaf", {"ccp_alpha": 0.0}),
}
"""What one choice was before: the end of a slug, words, and parameters."""

CHOSEN = ("depth", "ccp_alpha", "max_leaf_nodes")
DEPTHS = (3, 5, 7)  # of 8 leaves, of 32 leaves, and the default
PRICES = (0.04, 0.02, 0.01, 0.005, 0.0025, 0.00125, 0.0006, 0.0003, 0.0)
"""Of a leaf, twice as dear from one to the next, around the default; then none."""


def defaults(task: Task, changes: Params) -> dict[str, Any]:
    return {**NEW_DEFAULTS, **changes}


def fit(split: Split, params: Params, seed: int) -> Fitted:
    """Train on the original training rows; validation rows choose and then join the leaves."""
    from baselines.algorithms.gradtree_trainings import Trainings

    return grown(split, params, seed, Trainings(split, params, seed))


def grown(split: Split, params: Params, seed: int, trainings: Trainings) -> Fitted:
    """The same, by a training that another fit of the split may have done."""
    n_rows = split.provenance.rows_before_rebalancing
    X, y = split.X_train[:n_rows], split.y_train[:n_rows]
    settings = settings_of(params, seed)
    shared = trainings.get(
        {**settings, **UNCUT},
        "the split",
        X,
        y,
        X_valid=split.X_valid,
        y_valid=split.y_valid,
        classes=np.arange(split.n_classes),
    )
    estimator = copy(shared).set_params(**settings)
    cap, price = settings["max_leaf_nodes"], settings["ccp_alpha"]
    estimator.prune(max_leaf_nodes=cap, ccp_alpha=price)
    if params["refit_leaves"]:
        X, y = np.concatenate([X, split.X_valid]), np.concatenate([y, split.y_valid])
    tree = estimator.tree_
    return Fitted(
        estimator, X, y, tree, tree.node_count, estimator.n_epochs_, shared_seconds=trainings.saved
    )


def settings_of(params: Params, seed: int) -> dict[str, Any]:
    """What the estimator is called with; jobs also name a parameter that it no longer has."""
    from gradtree import PAPER

    named = {name: value for name, value in params.items() if name != "round_to_validation"}
    return {**PAPER, **named, "random_state": seed}


def tuned_defaults(task: Task) -> dict[str, Any]:
    fixed = {name: value for name, value in NEW_DEFAULTS.items() if name not in CHOSEN}
    return {**fixed, "max_leaves": 0, "fold_restarts": 1}


def fit_tuned(split: Split, params: Params, seed: int) -> Fitted:
    """Choose depth and price of a leaf by the folds of real rows, without copies.

    Class weights do their work. One training per depth and fold answers for all prices and caps,
    with two runs (``fold_restarts``) where the final one has 16. ``max_leaves`` (0: any number)
    cuts weakest links, in folds too.
    """
    from baselines.algorithms.gradtree_trainings import Trainings
    from baselines.algorithms.inner_folds import best_of, inner_folds, real_rows

    trainings = Trainings(split, params, seed)
    settings = {**settings_of(params, seed), **UNCUT}
    most = settings.pop("max_leaves") or None
    settings["restarts"] = settings.pop("fold_restarts")
    trained = [{**settings, "depth": depth} for depth in DEPTHS]
    n_real, classes = len(real_rows(split)[1]), np.arange(split.n_classes)
    candidates = [{"depth": depth, "ccp_alpha": price} for depth in DEPTHS for price in PRICES]
    scores = []
    for number, fold in enumerate(inner_folds(split, seed)):
        own = n_real - len(fold.y_held)  # copies stand behind the rows of the fold
        X, y = fold.X[:own], fold.y[:own]
        models = [trainings.get(each, number, X, y, classes=classes) for each in trained]
        labels = [t.predict(fold.X_held) for one in models for t in cut_back(one, most)]
        scores.append([fold.score(each) for each in labels])
    chosen = best_of(candidates, np.array(scores))
    final = {name: value for name, value in params.items() if name in NEW_DEFAULTS}
    fitted = grown(split, {**final, **chosen, "max_leaf_nodes": most}, seed, trainings)
    return replace(fitted, extra={"chosen": chosen})


def cut_back(model: GradTreeClassifier, most: int | None) -> list[Tree]:
    """The trees that the model, grown at no price, would be at each price."""
    return [copy(model).prune(ccp_alpha=price, max_leaf_nodes=most).tree_ for price in PRICES]


def variant(slug: str, name: str, changes: Params) -> Learner:
    return Learner(slug, name, "1", partial(defaults, changes=changes), fit)


LEARNERS = (
    variant("gradtree-new-defaults", "GradTree (new defaults)", {}),
    *(
        variant(f"gradtree-new-defaults-{end}", f"GradTree (new defaults but {words})", changes)
        for end, (words, changes) in SET_BACK.items()
    ),
    Learner("gradtree-tuned", "GradTree (new defaults and tuned)", "1", tuned_defaults, fit_tuned),
)
