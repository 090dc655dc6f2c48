"""Beyond the paper: trees of numbers, each tuned inside the training rows of its own trial.

Every trial draws random candidates from a space that a practitioner would write and compares them
by R² (quantile trees: by pinball loss) in inner folds of its training and validation rows: the
same folds and as many candidates for all, but for pruned CART, which reads up to 20 prices of a
leaf off one tree per fold. The winner is fitted to all these rows. Candidates of GradTree are
compared without restarts; the winner has the estimator's own number of them. No row of the test
part takes part in any choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from baselines import boosting
from baselines.contract import NUMBERS, QUANTILES, Fitted, Learner, Params, Split, Task

if TYPE_CHECKING:
    from baselines.algorithms.price_pruning import Priced

Space = Mapping[str, Sequence[Any]]
CART_SPACE: Space = {
    "max_depth": (3, 4, 5, 6, 8, 10, 15, None),
    "min_samples_leaf": (1, 2, 5, 10, 20, 50),
}
GRADTREE_SPACE: Space = {
    "depth": (3, 4, 5, 6, 7, 8),
    "lr_index": (0.05, 0.1, 0.25, 0.5),
    "lr_values": (0.01, 0.025, 0.05, 0.1),
    "lr_leaf": (0.02, 0.05, 0.1, 0.2),
    "min_samples_leaf": (1, 2, 5, 10, 20, 50),
}
MANY_ROWS = 10_000


def defaults(task: Task) -> dict[str, Any]:
    return {"candidates": 10, "candidates_over_10000_rows": 5, "folds": 3}


def inner_folds(params: Params, seed: int) -> Any:
    """The folds of every learner."""
    from sklearn.model_selection import KFold

    return KFold(params["folds"], shuffle=True, random_state=seed)


def searched(
    model: Any, space: Space, split: Split, params: Params, seed: int, scoring: Any = "r2"
) -> dict[str, Any]:
    """What the record keeps of a random search: the winner, and its mean score over the folds."""
    from sklearn.model_selection import RandomizedSearchCV

    X, y = split.X_train_valid, split.y_train_valid
    many = len(X) + len(split.X_test) > MANY_ROWS
    count = params["candidates_over_10000_rows" if many else "candidates"]
    search = RandomizedSearchCV(
        model,
        space,
        n_iter=count,
        scoring=scoring,
        cv=inner_folds(params, seed),
        refit=False,
        random_state=1000 * seed + split.provenance.trial,
        error_score="raise",
    ).fit(X, y)
    score = round(float(search.best_score_), 6)
    return {"chosen": search.best_params_, "candidates": count, "inner_score": score}


def fit_cart(split: Split, params: Params, seed: int) -> Fitted:
    from sklearn.tree import DecisionTreeRegressor

    from gradtree.trees.tree import Tree

    X, y = split.X_train_valid, split.y_train_valid
    model = DecisionTreeRegressor(random_state=seed)
    found = searched(model, CART_SPACE, split, params, seed)
    tree = Tree.from_sklearn(model.set_params(**found["chosen"]).fit(X, y))
    return Fitted(model, X, y, tree, tree.node_count, extra=found)


def fit_gradtree(split: Split, params: Params, seed: int) -> Fitted:
    X, y = split.X_train_valid, split.y_train_valid
    model, found = tuned_gradtree(split, params, seed)
    return Fitted(model, X, y, model.tree_, model.tree_.node_count, model.n_epochs_, found)


def tuned_gradtree(
    split: Split, params: Params, seed: int, scoring: Any = "r2", **loss: Any
) -> tuple[Any, dict[str, Any]]:
    """A fitted regressor, and what its search found; the protocol has scaled the columns."""
    from gradtree import GradTreeRegressor

    settings = {"scale": None, "random_state": seed, **loss}
    single = GradTreeRegressor(restarts=0, **settings)
    found = searched(single, GRADTREE_SPACE, split, params, seed, scoring)
    model = GradTreeRegressor(**settings, **found["chosen"])
    return model.fit(split.X_train_valid, split.y_train_valid), found


def fit_boosting(split: Split, params: Params, seed: int) -> Fitted:
    from sklearn.ensemble import HistGradientBoostingRegressor

    X, y = split.X_train_valid, split.y_train_valid
    model = HistGradientBoostingRegressor(early_stopping=False, random_state=seed)
    found = searched(model, boosting.LEARNER.space, split, params, seed)
    model.set_params(**found["chosen"]).fit(X, y)
    return Fitted(model, X, y, tree=None, size=None, epochs=int(model.n_iter_), extra=found)


def fit_pruned(split: Split, params: Params, seed: int) -> Fitted:
    """The full tree, cut back at the price of a leaf with the best mean R² over the folds."""
    from sklearn.metrics import r2_score
    from sklearn.tree import DecisionTreeRegressor

    from baselines.algorithms.price_pruning import grown
    from gradtree import CartRegressor

    X, y = split.X_train_valid, split.y_train_valid
    grower = DecisionTreeRegressor(random_state=seed)
    whole = grown(grower, X, y)
    prices = some_prices(whole, params["prices"])
    scores = []
    for inside, held in inner_folds(params, seed).split(X):
        priced = grown(grower, X[inside], y[inside])
        value, reached = priced.tree.value[:, 0], priced.tree.apply(X[held])
        told = [value[priced.ends(price)[reached]] for price in prices]
        scores.append([r2_score(y[held], each) for each in told])
    means = np.mean(scores, axis=0)
    best = int(means.argmax())
    tree = whole.pruned(prices[best])
    found = {"chosen": {"ccp_alpha": prices[best]}, "candidates": len(prices)}
    extra = {**found, "inner_score": round(float(means[best]), 6)}
    return Fitted(CartRegressor.from_tree(tree), X, y, tree, tree.node_count, extra=extra)


def some_prices(whole: Priced, most: int) -> list[float]:
    """Prices between those at which the tree changes, the largest first: each tree is larger than
    the one before by about the same factor.
    """
    changes = np.unique(np.append(whole.price, 0.0))[::-1]
    between = np.append(changes[:1], np.sqrt(changes[:-1] * changes[1:]))
    places = np.geomspace(1, len(between), most).round().astype(np.intp) - 1
    return [float(price) for price in between[np.unique(places)]]


def fit_quantiles(split: Split, params: Params, seed: int, *, greedy: bool) -> Fitted:
    """A tree per quantile, tuned by its pinball loss; the size is that of all together."""
    from sklearn.metrics import make_scorer, mean_pinball_loss

    from baselines.algorithms.cart_trees import QuantileCart, QuantileTrees

    X, y = split.X_train_valid, split.y_train_valid
    trees: list[Any] = []
    extra: dict[str, Any] = {}
    for share in QUANTILES:
        pinball = make_scorer(mean_pinball_loss, greater_is_better=False, alpha=share)
        if greedy:
            model: Any = QuantileCart(share, random_state=seed)
            found = searched(model, CART_SPACE, split, params, seed, pinball)
            model.set_params(**found["chosen"]).fit(X, y)
        else:
            loss = {"loss": "quantile", "quantile": share}
            model, found = tuned_gradtree(split, params, seed, pinball, **loss)
        trees.append(model)
        extra[str(share)] = found
    size = sum(tree.tree_.node_count for tree in trees)
    return Fitted(QuantileTrees(tuple(trees)), X, y, tree=None, size=size, extra=extra)


_learner = partial(Learner, version="1", defaults=defaults, tasks=NUMBERS)
LEARNERS = (
    _learner("cart-regression", "CART (regression)", fit=fit_cart),
    _learner(
        "cart-pruned-regression",
        "CART (pruned regression)",
        defaults=lambda task: {"prices": 20, "folds": 3},
        fit=fit_pruned,
    ),
    _learner("gradtree-regression", "GradTree (regression)", fit=fit_gradtree),
    _learner("boosting-regression", "Gradient boosting (regression)", fit=fit_boosting),
    _learner("cart-quantile", "CART (quantiles)", fit=partial(fit_quantiles, greedy=True)),
    _learner("gradtree-quantile", "GradTree (quantiles)", fit=partial(fit_quantiles, greedy=False)),
)
