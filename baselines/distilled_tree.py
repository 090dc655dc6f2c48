"""Beyond the paper: one tree that learns a random forest's probabilities instead of the labels.

Trains on the original training and validation rows, not on those that rebalancing
has added: class weights do that work. Thresholds come from the validation rows, which
under protocol ``paper`` are untouched by the leaks of its encoding. Its size follows from
its rules, without folds; capped by ``max_leaf_nodes`` (``None``: by those rules alone).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from baselines.contract import Fitted, Learner, Params, SplitLike, Task


def defaults(task: Task) -> dict[str, Any]:
    return {
        "max_leaf_nodes": None,
        "n_trees": 100,
        "n_synthetic": 6000,
        "n_starts": 3,
        "passes": 5,
        "label_share": None,
        "class_weight": "sqrt-balanced",
    }


def fit(split: SplitLike, params: Params, seed: int) -> Fitted:
    from gradtree import DistilledTreeClassifier

    n_rows = split.provenance.rows_before_rebalancing
    X = np.concatenate([split.X_train[:n_rows], split.X_valid])
    y = np.concatenate([split.y_train[:n_rows], split.y_valid])
    estimator = DistilledTreeClassifier(**params, random_state=seed)
    estimator.fit(X, y, X_thresholds=split.X_valid, classes=np.arange(split.n_classes))
    tree = estimator.tree_
    extra = {"teacher_error": round(estimator.teacher_error_, 6)}
    return Fitted(estimator, X, y, tree, tree.node_count, extra=extra)


LEARNER = Learner(
    slug="distilled-tree",
    name="Distilled tree",
    version="1",
    defaults=defaults,
    fit=fit,
    in_paper=False,
)
