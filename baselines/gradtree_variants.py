"""Beyond the paper: GradTree with the estimator's own defaults, and each choice set back alone.

They train on the original rows, not on those that oversampling has added: class weights do that
work. Which run and which epoch is kept, and how leaves are refitted, is decided by training and
validation rows; the test rows are for the score alone.
"""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from baselines.contract import Fitted, Learner, Params, SplitLike, Task

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


def defaults(task: Task, changes: Params) -> dict[str, Any]:
    return {**NEW_DEFAULTS, **changes}


def fit(split: SplitLike, params: Params, seed: int) -> Fitted:
    """Train on the original training rows; validation rows choose and then join the leaves."""
    from baselines.algorithms.gradtree_trainings import Trainings

    return grown(split, params, seed, Trainings(split, params, seed))


def grown(split: SplitLike, params: Params, seed: int, trainings: Trainings) -> Fitted:
    """The same, by a training that another fit of the split may have done."""
    from gradtree import PAPER

    n_rows = split.provenance.rows_before_rebalancing
    X, y = split.X_train[:n_rows], split.y_train[:n_rows]
    settings = {**PAPER, **params, "random_state": seed}
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
    estimator.tree_ = finished_tree(estimator, X, y, split)
    if params["refit_leaves"]:
        X, y = np.concatenate([X, split.X_valid]), np.concatenate([y, split.y_valid])
    tree = estimator.tree_
    return Fitted(
        estimator,
        X,
        y,
        tree,
        tree.node_count,
        estimator.n_epochs_,
        shared_seconds=trainings.saved,
    )


def finished_tree(
    estimator: GradTreeClassifier, X: NDArray[np.float64], y: NDArray[np.int64], split: SplitLike
) -> Tree:
    """What the estimator's own ``fit`` would make of its training with its present settings."""
    from gradtree.inputs.arrays import class_weights
    from gradtree.inputs.parameters import finish_config
    from gradtree.training.finishing import all_rows, finished

    weights = class_weights(estimator.class_weight, y, estimator.classes_)
    own, valid = None if weights is None else weights[y], (split.X_valid, split.y_valid)
    rows = all_rows(X, y, own, np.empty(0, dtype=np.intp), valid, weights)
    return finished(estimator.dense_, rows, finish_config(estimator.get_params()))


def variant(slug: str, name: str, changes: Params) -> Learner:
    return Learner(
        slug=slug,
        name=name,
        version="1",
        defaults=partial(defaults, changes=changes),
        fit=fit,
        in_paper=False,
    )


LEARNERS = (
    variant("gradtree-new-defaults", "GradTree (new defaults)", {}),
    *(
        variant(f"gradtree-new-defaults-{end}", f"GradTree (new defaults but {words})", changes)
        for end, (words, changes) in SET_BACK.items()
    ),
)
