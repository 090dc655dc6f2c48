"""From the trained dense tree to the tree over the columns that it was trained on.

As published, branches that no training row takes are cut and the leaves keep what the gradient made
of them. Everything else is an option of ``FinishConfig``, applied in this order: leaves of too few
rows give way, splits are polished, values become the class shares of all rows, siblings of one mind
are merged, leaves that are not worth their price are pruned, and siblings are merged once more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradtree.settings.config import FinishConfig
from gradtree.trees.costs import least_loss, log_loss_costs
from gradtree.trees.dense import DenseTree
from gradtree.trees.polish import Bins, ClassLosses, grown_below, polished
from gradtree.trees.pruning import pruned_tree
from gradtree.trees.simplify import (
    Labelled,
    PruningPath,
    averaged_upwards,
    chance_of_split,
    counted,
    merged,
    pruned,
    pruning_path,
    refitted,
    without_small_leaves,
)
from gradtree.trees.tree import LEAF, Tree
from gradtree.typing import Array, Codes, Floats, Places

# A split counts as real if chance has less than this, shared among all splits of a tree.
REAL = 0.001


@dataclass(frozen=True, eq=False)
class FittedRows:
    """All rows that a fit has seen: which were ``trained`` on, the others being validation rows.

    ``weight`` includes the weights of classes, ``sample_weight`` does not; all count alike without.
    """

    X: Array
    y: Codes
    weight: Floats | None
    trained: Places
    sample_weight: Floats | None = None

    def labelled(self, everyone: bool, by_class: bool = True) -> Labelled:
        """All rows, or those trained on, with or without the weights of their classes."""
        places = slice(None) if everyone else self.trained
        given = self.weight if by_class else self.sample_weight
        weight = np.ones(len(self.y)) if given is None else np.asarray(given)
        return Labelled(self.X[places], self.y[places], weight[places])

    def joined(self, X: Array, y: Codes, weight: Floats | None) -> FittedRows:
        """With validation rows that were given beside them."""
        ones, plain = np.ones(len(y)), self.sample_weight
        mine = np.ones(len(self.y)) if self.weight is None else self.weight
        both = np.concatenate([mine, ones if weight is None else weight])
        plain = None if plain is None else np.concatenate([plain, ones])
        X, y = np.concatenate([self.X, X]), np.concatenate([self.y, y])
        return FittedRows(X, y, both, self.trained, plain)

    def grow(self, dense: DenseTree, config: FinishConfig) -> Grown:
        """The tree of trained parameters; as published if no more is asked for."""
        known = self.labelled(everyone=config.refit_leaves)
        if not config.changes_structure:
            tree, _ = pruned_tree(dense, self.X, self.trained)
            return Grown(tree, counted(tree, known)[1])
        losses = None
        if config.polish and config.refit_leaves:
            losses = ClassLosses(known.y, known.scaled_weight, config.loss)
        tree, _ = pruned_tree(dense, known.X)
        tree = shaped(tree, known.X, losses, config.polish_price, config)
        return self._valued(tree, known, config)

    def improved(self, grown: Grown, depth: int, config: FinishConfig) -> Grown:
        """A polished tree whose nodes have chosen features anew, and leaves grown where it pays.

        The tree is no deeper than ``depth``. Leaves are split for log loss alone, at the price of
        leaves and that of the Bayesian information criterion for a threshold and a share.
        """
        if not (config.polish and config.refit_leaves):
            return grown
        known = self.labelled(everyone=True)
        least, bins = config.rows_per_leaf(len(known.y)), Bins(known.X)
        losses = ClassLosses(known.y, known.scaled_weight, config.loss)
        price = config.polish_price
        tree = polished(grown.tree, known.X, losses, price, bins)
        if price > 0 and config.loss is None:
            dear = max(price * losses.unit(tree), np.log(len(known.y)))
            rows = known.X, known.y, known.scaled_weight
            tree = polished(
                grown_below(tree, *rows, dear, depth, least), known.X, losses, price, bins
            )
        grown = self._valued(without_small_leaves(tree, known.X, least), known, config)
        most = config.max_leaf_nodes
        if most is None or grown.tree.n_leaves <= most:
            return grown
        # What is left of a tree that is cut to so many leaves has other best splits.
        tree = polished(grown.cut(config).tree, known.X, losses, price, bins)
        return self._valued(without_small_leaves(tree, known.X, least), known, config)

    def _valued(self, tree: Tree, known: Labelled, config: FinishConfig) -> Grown:
        """The tree with its rows counted and, if leaves are refitted, values that suit them."""
        tree, weight = counted(tree, known)
        if config.refit_leaves:
            plain = counted(tree, self.labelled(everyone=True, by_class=False))[1]
            return with_values(tree, weight, plain, config)
        cost = log_loss_costs(weight) if config.criterion == "log_loss" else None
        return Grown(averaged_upwards(tree, weight.sum(axis=1)), weight, cost)


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree with its final values, before anything is merged or priced.

    ``weight`` (n_nodes, n_classes) is that of every class at every node, ``cost`` what every node
    costs as a leaf; by Gini impurity without it.
    """

    tree: Tree
    weight: Floats
    cost: Floats | None = None

    def some(self, tree: Tree, origin: Places) -> Grown:
        """A tree made of some of the nodes."""
        cost = None if self.cost is None else self.cost[origin]
        return replace(self, tree=tree, weight=self.weight[origin], cost=cost)

    def merged(self, config: FinishConfig) -> Grown:
        """Siblings of one mind made one, if they are to be."""
        if not config.merge_leaves:
            return self
        return self.some(*merged(self.tree, config.merge_leaves == "alike"))

    def cut(self, config: FinishConfig) -> Grown:
        """Siblings merged, leaves that are not worth their price cut, and merged once more."""
        whole = self.merged(config)
        price, most = config.ccp_alpha, config.max_leaf_nodes
        cut = pruned(whole.tree, whole.weight, price, most, whole.cost)
        return whole.some(*cut).merged(config)

    def path(self, config: FinishConfig) -> PruningPath:
        """How the tree shrinks as leaves become dearer; see ``FinishConfig.ccp_alpha``."""
        whole = self.merged(config)
        return pruning_path(whole.tree, whole.weight, whole.cost)

    def has_real_split(self) -> bool:
        """Whether some split parts the classes more than chance does."""
        splits = np.flatnonzero(self.tree.children_left != LEAF).tolist()
        return any(chance_of_split(self.tree, node) * len(splits) < REAL for node in splits)


def shaped(tree: Tree, X: Array, losses: Any, price: float, config: FinishConfig) -> Tree:
    """The tree without leaves of too few rows, polished if losses are given."""
    least = config.rows_per_leaf(len(X))
    tree = without_small_leaves(tree, X, least)
    if losses is None:
        return tree
    return without_small_leaves(polished(tree, X, losses, price), X, least)


def with_values(tree: Tree, weight: Floats, plain: Floats, config: FinishConfig) -> Grown:
    """The tree whose nodes say what the rows that reach them say.

    ``weight`` and ``plain`` (n_nodes, n_classes) are the weight of the rows of every class, with
    and without the weights of the classes.
    """
    cost = log_loss_costs(weight) if config.criterion == "log_loss" else None
    tree = refitted(replace(tree, decision=None), weight, config.smoothing)
    decision = tree.value
    if config.loss is not None:
        decision, cost = least_loss(config.loss, weight)
        tree = replace(tree, value=decision)
    if config.probabilities == "shares":
        tree = refitted(tree, plain, config.smoothing)
        same = np.allclose(tree.value, decision, rtol=0, atol=1e-12)
        tree = replace(tree, decision=None if same else decision)
    return Grown(tree, weight, cost)
