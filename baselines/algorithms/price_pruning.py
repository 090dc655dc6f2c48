"""Weakest-link pruning: at which price of a leaf each node of a tree becomes one.

Trees pruned at a rising price are nested, so one number per node describes
all of them. One grown tree then answers for every price that is tried: CART is
grown once per fold and scored at every price.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from baselines.algorithms.inner_folds import Fold, over_classes
from gradtree.compiling import entry_kernel
from gradtree.trees.simplify import WeakestLinks, rebuilt
from gradtree.trees.tree import LEAF, Tree

MOST_PRICES = 20
SAME = 1e-9
"""Of the largest price: a difference that rounding makes."""
PASSED = -1
"""In place of an end, for nodes that rows pass through."""


@dataclass(frozen=True, eq=False)
class Priced:
    """A grown tree and the price at which each of its nodes becomes a leaf."""

    tree: Tree
    price: NDArray[np.float64]  # (n_nodes,); 0 for the leaves of the grown tree

    def ends(self, price: float) -> NDArray[np.intp]:
        """For each node, where the rows that reach it end once leaves cost so much."""
        ends = np.where(self._is_end(price), np.arange(len(self.price)), PASSED)
        _pass_on(self.tree.children_left, self.tree.children_right, ends)
        return ends

    def _is_end(self, price: float) -> NDArray[np.bool_]:
        return (self.tree.children_left == LEAF) | ((price > 0) & (self.price <= price))

    def pruned(self, price: float) -> Tree:
        """The tree that is left at a price."""
        return rebuilt(self.tree, self._is_end(price))[0]

    def between(self, most: int, most_leaves: int | None = None) -> list[float]:
        """Up to ``most`` prices, largest first, halfway between those at which the tree changes.

        Prices that leave more than ``most_leaves`` are left out.
        """
        changes = np.unique(np.append(self.price[self.tree.children_left != LEAF], 0.0))
        apart = np.diff(changes) > SAME * changes[-1]  # rounding parts what is one change
        prices = np.sqrt(changes[:-1] * changes[1:])[apart]
        if most_leaves is not None:
            leaf = self.tree.children_left == LEAF
            few = [len(np.unique(self.ends(price)[leaf])) <= most_leaves for price in prices]
            prices = prices[few] if any(few) else changes[-1:]
        if len(prices) > most:
            prices = np.quantile(prices, np.linspace(0, 1, most), method="nearest")
        return [float(price) for price in prices[::-1]] or [0.0]


def priced(tree: Tree, risk: NDArray[np.float64]) -> Priced:
    """Prices of a tree whose nodes, as leaves, would cost ``risk`` each."""
    links, price, now = WeakestLinks(tree, risk), np.zeros(len(risk)), 0.0
    while not links.is_leaf[0]:
        node, saved = links.weakest()
        now = max(now, saved)
        price[links.cut(node)] = now
    return Priced(tree, price)


def error_risk(tree: Tree) -> NDArray[np.float64]:
    """The share of all training rows that each node, as a leaf, gets wrong."""
    if tree.n_node_samples is None:
        raise ValueError("the tree does not know its training rows")
    return tree.n_node_samples * (1 - tree.value.max(axis=1)) / max(tree.n_node_samples[0], 1)


def predictions(
    grown: Priced, X: NDArray[np.float64], prices: Sequence[float], value: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Classes that ``value`` (n_nodes, n_classes) predicts at each price, shape (prices, rows)."""
    reached = grown.tree.apply(X)
    label = value.argmax(axis=1)
    return np.array([label[grown.ends(price)[reached]] for price in prices])


def grown(
    grower: DecisionTreeClassifier | DecisionTreeRegressor,
    X: NDArray[Any],
    y: NDArray[Any],
    n_classes: int = 0,
) -> Priced:
    """The tree, of classes or of numbers, that a copy of ``grower`` grows, and its prices."""
    model = clone(grower).fit(X, y)
    inside = model.tree_
    risk = inside.impurity * inside.weighted_n_node_samples / inside.weighted_n_node_samples[0]
    tree = Tree.from_sklearn(model)
    return priced(over_classes(tree, model.classes_, n_classes) if n_classes else tree, risk)


def price_scores(
    grower: DecisionTreeClassifier,
    folds: Sequence[Fold],
    prices: Sequence[float],
    n_classes: int,
    values: Callable[[Tree], Sequence[NDArray[np.float64]]] = lambda tree: [tree.value],
) -> NDArray[np.float64]:
    """Macro F1 on the held-out rows, shape (folds, prices x values).

    ``values`` are ways to read a grown tree, each one matrix of class values per node.
    """
    scores = []
    for fold in folds:
        tree = grown(grower, fold.X, fold.y, n_classes)
        per_value = [
            [fold.score(labels) for labels in predictions(tree, fold.X_held, prices, value)]
            for value in values(tree.tree)
        ]
        scores.append(np.array(per_value).T.ravel())
    return np.array(scores)


@entry_kernel()
def _pass_on(left: NDArray[np.int32], right: NDArray[np.int32], ends: NDArray[np.int64]) -> None:
    """Give nodes below an end the same end."""
    for node in range(len(left)):
        if left[node] != LEAF and ends[node] >= 0:
            ends[left[node]] = ends[right[node]] = ends[node]
