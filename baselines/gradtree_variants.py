"""Beyond the paper: GradTree with the estimator's own defaults, and each choice set back alone.

They train on the original rows, not on those that oversampling has added: class weights do that
work. Which run and which epoch is kept, and how leaves are refitted, is decided by training and
validation rows; the test rows are for the score alone.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from baselines.contract import Fitted, Learner, Params, SplitLike, Task

REVISED: dict[str, Any] = {
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
    return {**REVISED, **changes}


def fit(split: SplitLike, params: Params, seed: int) -> Fitted:
    """Train on the original training rows; validation rows choose and then join the leaves."""
    from gradtree import PAPER, GradTreeClassifier

    n_rows = split.provenance.rows_before_rebalancing
    X, y = split.X_train[:n_rows], split.y_train[:n_rows]
    estimator = GradTreeClassifier(**{**PAPER, **params}, random_state=seed)
    estimator.fit(
        X, y, X_valid=split.X_valid, y_valid=split.y_valid, classes=np.arange(split.n_classes)
    )
    if params["refit_leaves"]:
        X, y = np.concatenate([X, split.X_valid]), np.concatenate([y, split.y_valid])
    tree = estimator.tree_
    return Fitted(estimator, X, y, tree, tree.node_count, estimator.n_epochs_)


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
    variant("gradtree-revised", "GradTree, revised", {}),
    *(
        variant(f"gradtree-revised-{end}", f"GradTree, revised, {words}", changes)
        for end, (words, changes) in SET_BACK.items()
    ),
)
