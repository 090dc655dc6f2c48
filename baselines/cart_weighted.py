"""Beyond the paper: CART with class weights π^−½, pruned; the control of the distilled tree.

Classes weigh as the square roots of their shares among real rows, whatever
rebalancing did. The price of a leaf is chosen by the folds of real rows.
Capped (``max_leaves``, 0: any number) in two ways that compete in the same
folds: the full tree cut back to so many leaves, and a tree grown best-first
to so many and then cut back.

``cart-weighted`` takes thresholds from all rows, ``cart-weighted-grid`` from the
validation rows alone, which under protocol ``paper`` are untouched by the
leaks of its encoding.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from baselines.contract import Fitted, Learner, Params, SplitLike, Task, over_classes


def defaults(task: Task) -> dict[str, Any]:
    return {"criterion": "gini", "max_leaves": 0}


def fit(split: SplitLike, params: Params, seed: int, on_grid: bool) -> Fitted:
    from sklearn.base import clone

    from baselines.algorithms.cart_prices import MOST_PRICES, grown, price_scores
    from baselines.algorithms.inner_folds import best_of, inner_folds, real_rows
    from baselines.algorithms.weighted_tree import WeightedTreeClassifier, grid_of
    from gradtree.trees.tree import Tree

    X, y = split.X_train_valid, split.y_train_valid
    grid = grid_of(split.X_valid) if on_grid else None
    folds = inner_folds(split, seed)
    rows = X
    if grid is not None:
        rows, folds = grid.codes(X), [each.on(grid.codes) for each in folds]
    shares = np.bincount(real_rows(split)[1], minlength=split.n_classes) / len(y)
    grower = WeightedTreeClassifier(tuple(shares.tolist()), params["criterion"], random_state=seed)
    most = params["max_leaves"] or None
    candidates, scores = [], []
    for leaves in [None] if most is None else [None, most]:
        grower.set_params(max_leaf_nodes=leaves)
        prices = grown(grower, rows, y, split.n_classes).between(MOST_PRICES, most)
        candidates += [{"ccp_alpha": price, "max_leaf_nodes": leaves} for price in prices]
        scores.append(price_scores(grower, folds, prices, split.n_classes))
    chosen = best_of(candidates, np.hstack(scores))
    estimator = clone(grower).set_params(**chosen).fit(X, y, grid)
    tree = over_classes(Tree.from_sklearn(estimator), estimator.classes_, split.n_classes)
    return Fitted(estimator, X, y, tree, tree.node_count, extra={"chosen": chosen})


def variant(slug: str, name: str, on_grid: bool) -> Learner:
    return Learner(
        slug=slug,
        name=name,
        version="1",
        defaults=defaults,
        fit=partial(fit, on_grid=on_grid),
        in_paper=False,
    )


LEARNERS = (
    variant("cart-weighted", "CART (class weights)", on_grid=False),
    variant("cart-weighted-grid", "CART (class weights on a grid)", on_grid=True),
)
