"""Beyond the paper: CART, pruned, with hierarchical shrinkage of its class shares.

The price of a leaf and the strength of shrinkage are chosen together by the
folds of real rows. Capped by trying only prices at which the tree has at most
``max_leaves`` leaves (0: any number). The page of code is ours: imodels tunes
the strength alone, by folds of its own.
"""

from __future__ import annotations

from typing import Any

from baselines.contract import Fitted, Learner, Params, SplitLike, Task, over_classes

STRENGTHS = (0.0, 1.0, 10.0, 50.0, 100.0, 500.0)


def defaults(task: Task) -> dict[str, Any]:
    return {"criterion": "gini", "max_leaves": 0}


def fit(split: SplitLike, params: Params, seed: int) -> Fitted:
    from sklearn.tree import DecisionTreeClassifier

    from baselines.algorithms.cart_prices import MOST_PRICES, grown, price_scores
    from baselines.algorithms.inner_folds import best_of, inner_folds
    from baselines.algorithms.price_pruning import Priced
    from baselines.algorithms.shrunk_tree import ShrunkTreeClassifier, shrunk_tree
    from gradtree.trees.tree import Tree

    def values(tree: Priced) -> list[Any]:
        return [shrunk_tree(tree.tree, strength) for strength in STRENGTHS]

    X, y = split.X_train_valid, split.y_train_valid
    grower = DecisionTreeClassifier(criterion=params["criterion"], random_state=seed)
    whole = grown(grower, X, y, split.n_classes)
    prices = whole.between(MOST_PRICES, params["max_leaves"] or None)
    scores = price_scores(grower, inner_folds(split, seed), prices, split.n_classes, values)
    candidates = [(price, strength) for price in prices for strength in STRENGTHS]
    price, strength = best_of(candidates, scores)
    estimator = ShrunkTreeClassifier(strength, params["criterion"], price, seed).fit(X, y)
    tree = over_classes(Tree.from_sklearn(estimator), estimator.classes_, split.n_classes)
    chosen = {"price": price, "shrinkage": strength}
    return Fitted(estimator, X, y, tree, tree.node_count, extra={"chosen": chosen})


LEARNER = Learner(
    slug="cart-shrunk",
    name="CART (shrinkage)",
    version="1",
    defaults=defaults,
    fit=fit,
    in_paper=False,
)
