"""Beyond the paper: one tree that learns a random forest's probabilities instead of the labels.

Trains on the original training and validation rows, not on those that rebalancing
has added: class weights do that work. Thresholds come from the validation rows, which
under protocol ``paper`` are untouched by the leaks of its encoding. Its size follows from
its rules, without folds; capped by ``max_leaf_nodes`` (``None``: by those rules alone).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from baselines.contract import Fitted, Learner, Params, SplitLike, Task

OWN: dict[str, Any] = {
    "max_leaf_nodes": None,
    "n_trees": 100,
    "n_synthetic": 6000,
    "n_starts": 3,
    "passes": 5,
    "label_share": None,
    "class_weight": "sqrt-balanced",
}
"""The estimator's defaults, by name, so that a job says what it ran."""

SET_BACK: dict[str, tuple[str, dict[str, Any]]] = {
    "labels": ("labels alone", {"label_share": 1.0, "n_synthetic": 0}),
    "forest-alone": ("forest alone", {"label_share": 0.0}),
    "real-rows": ("real rows alone", {"n_synthetic": 0}),
    "no-passes": ("no passes", {"passes": 0}),
    "one-start": ("one start", {"n_starts": 1}),
    "small-forest": ("25 trees", {"n_trees": 25}),
    "unweighted": ("no class weights", {"class_weight": None}),
}
"""One choice set back: the end of a slug, words, and parameters."""


def defaults(task: Task, changes: Params) -> dict[str, Any]:
    return {**OWN, **changes}


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
    variant("distilled-tree", "Distilled tree", {}),
    *(
        variant(f"distilled-tree-{end}", f"Distilled tree, {words}", changes)
        for end, (words, changes) in SET_BACK.items()
    ),
)
