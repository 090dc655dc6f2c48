"""Beyond the paper: the package's estimators as a user calls them, on the rows before rebalancing.

Both get training and validation rows together and deal with them as they do for anybody.
``small-tree`` lets pruned CART, CART with balanced classes and GradTree compete in folds of these.
``cart-equal-size`` is CART grown best-first, on the rows that CART gets elsewhere, to as many
leaves as the tree of ``gradtree-estimator`` has for the same split and seed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from baselines.contract import Fitted, Learner, Params, Split, Task, over_classes
from baselines.gradtree_variants import NEW_DEFAULTS

SINCE: dict[str, Any] = {
    "depth": "auto",
    "choose_by": "auto",
    "tolerance": 1.0,
    "validation_fraction": 0.2,
    "scale": "quantile",
    "polish": True,
    "merge_leaves": "alike",
    "criterion": "log_loss",
    "ccp_alpha": "auto",
    "class_weight": "auto",
}
"""What has changed, or was added, since the learner ``gradtree-new-defaults``."""
DEFAULTS = {**NEW_DEFAULTS, **SINCE}
del DEFAULTS["round_to_validation"], DEFAULTS["stream"]  # never other than usual
"""What ``GradTreeClassifier()`` has today, so that a job says what it ran."""


def defaults(task: Task) -> dict[str, Any]:
    return dict(DEFAULTS)


def fit_gradtree(split: Split, params: Params, seed: int) -> Fitted:
    from gradtree import GradTreeClassifier

    return fitted(split, GradTreeClassifier(**params, random_state=seed))


def fit_equal_size(split: Split, params: Params, seed: int) -> Fitted:
    from baselines import cart

    leaves = fit_gradtree(split, params, seed).estimator.tree_.n_leaves
    return cart.fit(split, {"max_leaf_nodes": max(leaves, 2)}, seed)


def fit_small_tree(split: Split, params: Params, seed: int) -> Fitted:
    from baselines.algorithms.gradtree_trainings import Trainings
    from gradtree import CartClassifier, SmallTreeClassifier

    # Trees of all sizes that are tried on a split come from the same trainings.
    trainings = Trainings(split, params, seed)
    own = {name: value for name, value in params.items() if name in DEFAULTS}
    families = {
        "cart": CartClassifier(),
        "cart-balanced": CartClassifier(class_weight="balanced"),
        "gradtree": trainings.sharing()(**own),
    }
    most, folds = params["max_leaf_nodes"], params["cv"]
    model = SmallTreeClassifier(most, families, cv=folds, random_state=seed)
    found = fitted(split, model)
    board = {each.family: [each.score, each.noise] for each in model.leaderboard_}
    extra = {"chosen": model.best_family_, "folds": board}
    return replace(found, extra=extra, shared_seconds=trainings.saved)


def fitted(split: Split, estimator: Any) -> Fitted:
    """An estimator and its tree after its fit to the real rows."""
    from baselines.algorithms.inner_folds import real_rows

    X, y = real_rows(split)
    estimator.fit(X, y)
    tree = over_classes(estimator.tree_, estimator.classes_, split.n_classes)
    return Fitted(estimator, X, y, tree, tree.node_count)


LEARNERS = (
    Learner("gradtree-estimator", "GradTreeClassifier", "3", defaults, fit_gradtree),
    Learner("cart-equal-size", "CART of equal size", "2", defaults, fit_equal_size),
    Learner(
        "small-tree", "SmallTreeClassifier", "3", lambda task: {**DEFAULTS, "cv": 5}, fit_small_tree
    ),
)
