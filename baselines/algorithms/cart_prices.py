"""CART grown once per fold and scored at every price of a leaf."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.inner_folds import Fold, Rows, best_of, inner_folds, macro_f1
from baselines.algorithms.labels import over_classes
from baselines.algorithms.price_pruning import Priced, predictions, priced
from gradtree.trees.tree import Tree

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier

MOST_PRICES = 20
Values = Callable[[Priced], Sequence[NDArray[np.float64]]]


def grown(
    grower: DecisionTreeClassifier, X: NDArray[Any], y: NDArray[Any], n_classes: int
) -> Priced:
    """The tree that a copy of ``grower`` grows, with the price of each of its nodes."""
    from sklearn.base import clone

    model = clone(grower).fit(X, y)
    inside = model.tree_
    risk = inside.impurity * inside.weighted_n_node_samples / inside.weighted_n_node_samples[0]
    return priced(over_classes(Tree.from_sklearn(model), model.classes_, n_classes), risk)


def node_values(tree: Priced) -> list[NDArray[np.float64]]:
    """What the nodes of a plain tree predict: their class shares."""
    return [tree.tree.value]


def price_scores(
    grower: DecisionTreeClassifier,
    folds: Sequence[Fold],
    prices: Sequence[float],
    n_classes: int,
    values: Values = node_values,
) -> NDArray[np.float64]:
    """Macro F1 on the held-out rows, shape (folds, prices x values).

    Parameters
    ----------
    values : ways to read a grown tree, each one matrix of class values per node.
    """
    scores = []
    for fold in folds:
        tree = grown(grower, fold.X, fold.y, n_classes)
        per_value = [
            [
                macro_f1(fold.y_held, labels, n_classes)
                for labels in predictions(tree, fold.X_held, prices, value)
            ]
            for value in values(tree)
        ]
        scores.append(np.array(per_value).T.ravel())
    return np.array(scores)


def best_price(grower: DecisionTreeClassifier, split: Rows, seed: int, max_leaves: int) -> float:
    """The price of a leaf that the folds of real rows prefer.

    Parameters
    ----------
    max_leaves : most leaves that the tree of all rows may have; 0 for any number.
    """
    whole = grown(grower, split.X_train_valid, split.y_train_valid, split.n_classes)
    prices = whole.between(MOST_PRICES, max_leaves or None)
    scores = price_scores(grower, inner_folds(split, seed), prices, split.n_classes)
    return best_of(prices, scores)
