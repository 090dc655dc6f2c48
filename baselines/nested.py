"""Beyond the paper: GradTree and CART, each tuned inside the training rows of its own trial.

Every trial draws random candidates from a space that a practitioner would write and compares
them by macro F1 in inner folds of its real training and validation rows. Candidates of GradTree
are compared without restarts, as the authors did; the winner is fitted with them, to the split
as the published learner is. No row of the test part takes part in any choice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from baselines import cart, gradtree_learner
from baselines.contract import Fitted, Learner, Params, Split, Task

RATES = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25)
GRADTREE_SPACE: dict[str, Sequence[Any]] = {
    "depth": (3, 4, 5, 6, 7, 8, 9, 10),
    "lr_index": RATES,
    "lr_values": RATES,
    "lr_leaf": RATES,
    "loss": ("cross-entropy", "focal"),
    "poly_epsilon": (None, 2.0, 5.0),
}
CART_SPACE: dict[str, Sequence[Any]] = {
    "max_depth": (2, 3, 4, 5, 6, 8, 10, 15, 20, None),
    "min_samples_leaf": (1, 2, 5, 10, 20, 50),
    "ccp_alpha": (0.0, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2),
    "criterion": ("gini", "entropy"),
    "class_weight": (None, "balanced"),
}
STOPPING_SHARE = 0.2
"""Of a fold's rows, for early stopping; as large as in the split itself."""


def defaults(task: Task) -> dict[str, Any]:
    return {"candidates": 30, "candidates_over_20000_rows": 10, "folds": 3}


def fit_cart(split: Split, params: Params, seed: int) -> Fitted:
    from sklearn.tree import DecisionTreeClassifier

    def fit(one: Params, fold: Any) -> Any:
        return DecisionTreeClassifier(**one, random_state=seed).fit(fold.X, fold.y)

    chosen, extra = winner(CART_SPACE, fit, split, params, seed)
    fitted = cart.fit(split, {**cart.defaults(split.task), **chosen}, seed)
    return replace(fitted, extra=extra)


def fit_gradtree(split: Split, params: Params, seed: int) -> Fitted:
    """Of the own rows of a fold, a fifth decides when to stop."""
    from sklearn.model_selection import train_test_split

    from baselines.algorithms.inner_folds import real_rows, rebalanced
    from gradtree import PAPER, GradTreeClassifier

    published = gradtree_learner.defaults(split.task, "entmax")
    usual = {**PAPER, **published, "restarts": 0, "random_state": seed}
    shares = np.bincount(split.y_train_valid, minlength=split.n_classes)
    n_real, classes = len(real_rows(split)[1]), np.arange(split.n_classes)

    def fit(one: Params, fold: Any) -> Any:
        own = n_real - len(fold.y_held)  # copies stand behind the rows of the fold
        train, stop = train_test_split(np.arange(own), test_size=STOPPING_SHARE, random_state=seed)
        train = train[rebalanced(fold.y[train], shares, np.random.default_rng(seed))]
        (X, y), beside = (fold.X[train], fold.y[train]), (fold.X[stop], fold.y[stop])
        return GradTreeClassifier(**{**usual, **one}).fit(X, y, None, *beside, classes)

    chosen, extra = winner(GRADTREE_SPACE, fit, split, params, seed)
    final = {**published, **chosen, "restarts": gradtree_learner.TUNED_RESTARTS}
    return replace(gradtree_learner.fit(split, final, seed), extra=extra)


def winner(
    space: Mapping[str, Sequence[Any]], fit: Any, split: Split, params: Params, seed: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The candidate with the best mean macro F1 over folds, and what the record keeps of it."""
    from sklearn.model_selection import ParameterSampler

    from baselines.algorithms.inner_folds import inner_folds, tuned

    rows = split.provenance.rows_before_rebalancing + len(split.X_valid) + len(split.X_test)
    count = params["candidates" if rows <= 20_000 else "candidates_over_20000_rows"]
    trial = split.provenance.trial
    drawn = list(ParameterSampler(space, count, random_state=1000 * seed + trial))
    chosen, compared, inner = tuned(drawn, fit, inner_folds(split, seed, params["folds"]))
    return chosen, {"chosen": chosen, "candidates": compared, "inner_f1": round(inner, 6)}


LEARNERS = (
    Learner("gradtree-nested", "GradTree (nested tuning)", "1", defaults, fit_gradtree),
    Learner("cart-nested", "CART (nested tuning)", "1", defaults, fit_cart),
)
