"""From the trained dense tree to the tree over the columns that it was trained on.

As published, branches that no training row takes are cut and the leaves keep what the gradient made
of them. Everything else is an option of ``FinishConfig``, applied in this order: leaves of too few
rows give way, values become the class shares of all rows, siblings of one class are merged, leaves
that are not worth their price are pruned, and siblings are merged once more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradtree.settings.config import FinishConfig
from gradtree.trees.dense import DenseTree
from gradtree.trees.pruning import full_tree, pruned_tree
from gradtree.trees.simplify import (
    Labelled,
    PruningPath,
    averaged_upwards,
    counted,
    merged,
    pruned,
    pruning_path,
    refitted,
    without_small_leaves,
)
from gradtree.trees.tree import Tree


@dataclass(frozen=True, eq=False)
class FittedRows:
    """All rows that a fit has seen.

    Attributes
    ----------
    X : ndarray of shape (rows, n_features)
    y : ndarray of shape (rows,)
        Class indices.
    weight : ndarray of shape (rows,), optional
        Weights with those of the classes; all alike without it.
    trained : ndarray of int
        The rows trained on; the others were validation rows.
    """

    X: NDArray[Any]
    y: NDArray[np.int64]
    weight: NDArray[np.float64] | None
    trained: NDArray[np.intp]

    def labelled(self, everyone: bool) -> Labelled:
        """All rows, or those trained on."""
        places = np.arange(len(self.y)) if everyone else self.trained
        weight = np.ones(len(self.y)) if self.weight is None else np.asarray(self.weight)
        return Labelled(self.X[places], self.y[places], weight[places])


def all_rows(
    X: NDArray[Any],
    y: NDArray[np.int64],
    weight: NDArray[np.float64] | None,
    held_out: NDArray[np.intp],
    valid: tuple[NDArray[Any], NDArray[np.int64]] | None = None,
    class_weight: NDArray[np.float64] | None = None,
) -> FittedRows:
    """The rows of a fit, whose validation rows were held out or given beside them."""
    if valid is None:
        return FittedRows(X, y, weight, np.delete(np.arange(len(X)), held_out))
    X_valid, y_valid = valid
    if weight is None:
        weight = np.ones(len(y))
    beside = np.ones(len(y_valid)) if class_weight is None else class_weight[y_valid]
    return FittedRows(
        np.concatenate([X, X_valid]),
        np.concatenate([y, y_valid]),
        np.concatenate([weight, beside]),
        np.arange(len(X)),
    )


def finished(dense: DenseTree, rows: FittedRows, config: FinishConfig) -> Tree:
    """Turn trained parameters into the tree to predict with.

    Parameters
    ----------
    dense : DenseTree
        Its thresholds are those of the columns of ``rows.X``.
    rows : FittedRows
    config : FinishConfig
    """
    if not config.changes_structure:
        return (pruned_tree if config.prune else full_tree)(dense, rows.X, rows.trained)
    tree, weight = _before_pruning(dense, rows, config)
    tree = pruned(tree, weight, config.ccp_alpha, config.max_leaf_nodes)
    return merged(tree)[0] if config.merge_leaves else tree


def path_of(dense: DenseTree, rows: FittedRows, config: FinishConfig) -> PruningPath:
    """How the tree would shrink as leaves become dearer; see ``FinishConfig.ccp_alpha``."""
    return pruning_path(*_before_pruning(dense, rows, config))


def _before_pruning(
    dense: DenseTree, rows: FittedRows, config: FinishConfig
) -> tuple[Tree, NDArray[np.float64]]:
    """The tree with its final values, and the weight of every class at every node."""
    known = rows.labelled(everyone=config.refit_leaves)
    tree = (pruned_tree if config.prune else full_tree)(dense, known.X)
    if config.prune:
        tree = without_small_leaves(tree, known.X, config.min_samples_leaf)
    tree, weight = counted(tree, known)
    if config.refit_leaves:
        tree = refitted(tree, weight, config.smoothing)
    else:
        tree = averaged_upwards(tree, weight)
    if config.merge_leaves:
        tree, origin = merged(tree)
        weight = weight[origin]
    return tree, weight
