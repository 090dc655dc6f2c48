"""Beyond the paper: CART grown to the full and cut back at a price of a leaf.

The price is chosen by cross-validation among those at which the tree changes, as Breiman and
co-authors do, in most cases by the folds of real rows of the table of small trees; only prices
are tried at which the tree has at most ``max_leaves`` leaves (0: any number).

``cart-pruned``
    By default the folds are of all rows, made-up ones included; with ``max_leaves`` they are
    those of real rows. In protocol ``paper`` the former inherit what the preprocessing leaks;
    that shows in the outcome.
``cart-shrunk``
    With hierarchical shrinkage of the class shares, whose strength is chosen with the price.
    The page of code is ours: imodels tunes the strength alone, by folds of its own.
``cart-weighted``, ``cart-weighted-grid``
    Classes weigh as the square roots of their shares among real rows, whatever rebalancing did.
    Capped in two ways that compete in the same folds: the full tree cut back to so many leaves,
    and a tree grown best-first to so many and then cut back. The first takes thresholds from
    all rows, the second from the validation rows alone, which under protocol ``paper`` are
    untouched by the leaks of its encoding.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from baselines.cart import result
from baselines.contract import Fitted, Learner, Params, Split, Task

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier

STRENGTHS = (0.0, 1.0, 10.0, 50.0, 100.0, 500.0)


def capped(task: Task) -> dict[str, Any]:
    return {"criterion": "gini", "max_leaves": 0}


def fit_pruned(split: Split, params: Params, seed: int) -> Fitted:
    from sklearn.base import clone
    from sklearn.tree import DecisionTreeClassifier

    from baselines.algorithms.inner_folds import best_of, inner_folds
    from baselines.algorithms.price_pruning import MOST_PRICES, grown, price_scores

    X, y, n_classes = split.X_train_valid, split.y_train_valid, split.n_classes
    grower = DecisionTreeClassifier(criterion=params["criterion"], random_state=seed)
    if "max_leaves" not in params:
        return result(split, search_all_rows(grower, X, y, params, seed))
    prices = grown(grower, X, y, n_classes).between(MOST_PRICES, params["max_leaves"] or None)
    scores = price_scores(grower, inner_folds(split, seed), prices, n_classes)
    return result(split, clone(grower).set_params(ccp_alpha=best_of(prices, scores)).fit(X, y))


def search_all_rows(
    grower: DecisionTreeClassifier, X: NDArray[Any], y: NDArray[Any], params: Params, seed: int
) -> DecisionTreeClassifier:
    """The tree at the price that folds of all rows prefer."""
    from sklearn.base import clone

    from baselines.algorithms.inner_folds import Fold
    from baselines.algorithms.price_pruning import price_scores
    from gradtree.inputs.folds import dealt_folds

    alphas = candidate_alphas(grower, X, y, params["n_alphas"])
    parts = dealt_folds(params["folds"], y, np.arange(len(y)), seed)
    folds = [Fold(X[inside], y[inside], X[held], y[held]) for inside, held in parts]
    scores = price_scores(grower, folds, alphas, int(y.max()) + 1)
    best = alphas[int(scores.mean(axis=0).argmax())]
    return clone(grower).set_params(ccp_alpha=best).fit(X, y)


def candidate_alphas(
    grower: DecisionTreeClassifier, X: NDArray[Any], y: NDArray[Any], limit: int
) -> list[float]:
    """Up to ``limit`` prices halfway between changes, largest first: ties go to small trees."""
    changes = grower.cost_complexity_pruning_path(X, y).ccp_alphas.clip(min=0.0)
    between = np.unique(np.sqrt(changes[:-1] * changes[1:]))
    if len(between) > limit:
        between = np.quantile(between, np.linspace(0, 1, limit), method="nearest")
    return [float(alpha) for alpha in between[::-1]] or [0.0]


def fit_shrunk(split: Split, params: Params, seed: int) -> Fitted:
    from sklearn.tree import DecisionTreeClassifier

    from baselines.algorithms.cart_trees import shrink, shrunk
    from baselines.algorithms.inner_folds import best_of, inner_folds
    from baselines.algorithms.price_pruning import MOST_PRICES, grown, price_scores

    X, y, n_classes = split.X_train_valid, split.y_train_valid, split.n_classes
    grower = DecisionTreeClassifier(criterion=params["criterion"], random_state=seed)
    prices = grown(grower, X, y, n_classes).between(MOST_PRICES, params["max_leaves"] or None)
    scores = price_scores(
        grower,
        inner_folds(split, seed),
        prices,
        n_classes,
        lambda tree: [shrunk(tree, tree.value, tree.n_node_samples, one) for one in STRENGTHS],
    )
    candidates = [(price, strength) for price in prices for strength in STRENGTHS]
    price, strength = best_of(candidates, scores)
    estimator = shrink(grower.set_params(ccp_alpha=price).fit(X, y), strength)
    return result(split, estimator, chosen={"price": price, "shrinkage": strength})


def fit_weighted(split: Split, params: Params, seed: int, on_grid: bool) -> Fitted:
    from sklearn.base import clone

    from baselines.algorithms.cart_trees import WeightedTreeClassifier, cells_of, grid_of
    from baselines.algorithms.inner_folds import best_of, inner_folds, real_rows
    from baselines.algorithms.price_pruning import MOST_PRICES, grown, price_scores

    X, y, n_classes = split.X_train_valid, split.y_train_valid, split.n_classes
    grid = grid_of(split.X_valid) if on_grid else None
    folds = inner_folds(split, seed)
    rows = X
    if grid is not None:
        rows = cells_of(X, grid)
        folds = [
            replace(fold, X=cells_of(fold.X, grid), X_held=cells_of(fold.X_held, grid))
            for fold in folds
        ]
    shares = np.bincount(real_rows(split)[1], minlength=n_classes) / len(y)
    grower = WeightedTreeClassifier(tuple(shares.tolist()), params["criterion"], random_state=seed)
    most = params["max_leaves"] or None
    candidates, scores = [], []
    for leaves in [None] if most is None else [None, most]:
        grower.set_params(max_leaf_nodes=leaves)
        prices = grown(grower, rows, y, n_classes).between(MOST_PRICES, most)
        candidates += [{"ccp_alpha": price, "max_leaf_nodes": leaves} for price in prices]
        scores.append(price_scores(grower, folds, prices, n_classes))
    chosen = best_of(candidates, np.hstack(scores))
    return result(split, clone(grower).set_params(**chosen).fit(X, y, grid), chosen=chosen)


LEARNERS = (
    Learner(
        slug="cart-pruned",
        name="CART (pruned)",
        version="1",
        defaults=lambda task: {"criterion": "gini", "folds": 5, "n_alphas": 20},
        fit=fit_pruned,
        space={"criterion": ("gini", "entropy")},
    ),
    Learner("cart-shrunk", "CART (shrinkage)", "1", capped, fit_shrunk),
    Learner(
        "cart-weighted", "CART (class weights)", "1", capped, partial(fit_weighted, on_grid=False)
    ),
    Learner(
        "cart-weighted-grid",
        "CART (class weights on a grid)",
        "1",
        capped,
        partial(fit_weighted, on_grid=True),
    ),
)
