"""Beyond the paper: CART grown to the full and cut back by cost-complexity pruning.

The price of a leaf is chosen by cross-validation among those at which the
tree changes, as Breiman and co-authors do. In protocol ``paper`` the folds
inherit what the preprocessing leaks; that shows in the outcome.

By default the folds are of all rows, made-up ones included. With ``max_leaves``
(0: any number) they are the folds of real rows of the table of small trees,
and only prices are tried at which the tree has at most so many leaves.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from baselines.contract import Fitted, Learner, Params, SplitLike, Task, over_classes

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier


def defaults(task: Task) -> dict[str, Any]:
    return {"criterion": "gini", "folds": 5, "n_alphas": 20}


def fit(split: SplitLike, params: Params, seed: int) -> Fitted:
    from sklearn.base import clone
    from sklearn.tree import DecisionTreeClassifier

    from gradtree.trees.tree import Tree

    X, y = split.X_train_valid, split.y_train_valid
    grower = DecisionTreeClassifier(criterion=params["criterion"], random_state=seed)
    if "max_leaves" in params:
        from baselines.algorithms.cart_prices import best_price

        price = best_price(grower, split, seed, params["max_leaves"])
        estimator = clone(grower).set_params(ccp_alpha=price).fit(X, y)
    else:
        estimator = search_all_rows(grower, X, y, params, seed)
    tree = over_classes(Tree.from_sklearn(estimator), estimator.classes_, split.n_classes)
    return Fitted(estimator, X, y, tree, tree.node_count)


def search_all_rows(
    grower: DecisionTreeClassifier, X: NDArray[Any], y: NDArray[Any], params: Params, seed: int
) -> DecisionTreeClassifier:
    from sklearn.model_selection import GridSearchCV, StratifiedKFold

    search = GridSearchCV(
        grower,
        {"ccp_alpha": candidate_alphas(grower, X, y, params["n_alphas"])},
        scoring="f1_macro",
        cv=StratifiedKFold(params["folds"], shuffle=True, random_state=seed),
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        return search.fit(X, y).best_estimator_


def candidate_alphas(
    grower: DecisionTreeClassifier, X: NDArray[Any], y: NDArray[Any], limit: int
) -> list[float]:
    """Up to ``limit`` prices halfway between changes, largest first: ties go to small trees."""
    changes = grower.cost_complexity_pruning_path(X, y).ccp_alphas.clip(min=0.0)
    between = np.unique(np.sqrt(changes[:-1] * changes[1:]))
    if len(between) > limit:
        between = np.quantile(between, np.linspace(0, 1, limit), method="nearest")
    return [float(alpha) for alpha in between[::-1]] or [0.0]


LEARNER = Learner(
    slug="cart-pruned",
    name="CART (pruned)",
    version="1",
    defaults=defaults,
    fit=fit,
    space={"criterion": ("gini", "entropy")},
    in_paper=False,
)
