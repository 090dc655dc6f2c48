"""Yes/no columns worth searching over: the thresholds at which a small forest gains most.

Optimal-tree searches cost a power of the number of columns, so a few good
ones are better than all. McTavish and co-authors (AAAI 2022) guess them from
an ensemble of trees; so does this, with a forest, and equally for all solvers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.algorithms.binarise import Binariser
from gradtree.trees.tree import LEAF

N_TREES, LEAVES, MOST_ROWS = 16, 16, 2000
CELLS = 32
"""Thresholds of one feature that lie in the same of so many quantile cells count as one."""
MOST_COLUMNS, FEWEST_COLUMNS = 100, 8


def ranked_columns(X: NDArray[np.float64], labels: NDArray[np.intp], seed: int | None) -> Binariser:
    """Up to 100 columns ``x <= t``, those with the largest total gain first."""
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(
        N_TREES,
        max_leaf_nodes=LEAVES,
        max_samples=min(1.0, MOST_ROWS / len(X)),
        random_state=seed,
    ).fit(X, labels)
    gains: dict[tuple[int, int], dict[float, float]] = {}
    quantiles = np.quantile(X, np.linspace(0, 1, CELLS + 1)[1:-1], axis=0)
    for each in forest.estimators_:
        for feature, threshold, gain in _splits(each.tree_):
            cell = (feature, int(np.searchsorted(quantiles[:, feature], threshold)))
            among = gains.setdefault(cell, {})
            among[threshold] = among.get(threshold, 0.0) + gain
    ranked = sorted(gains.items(), key=lambda item: (-sum(item[1].values()), item[0]))
    chosen = [(cell[0], max(among, key=among.__getitem__)) for cell, among in ranked]
    features = np.array([feature for feature, _ in chosen[:MOST_COLUMNS]], dtype=np.intp)
    cuts = np.array([cut for _, cut in chosen[:MOST_COLUMNS]], dtype=np.float64)
    return Binariser(features, np.full(len(cuts), -np.inf), cuts)


def _splits(tree: Any) -> list[tuple[int, float, float]]:
    """Feature, threshold and weighted fall of impurity of each inner node."""
    weighted = tree.weighted_n_node_samples * tree.impurity / tree.weighted_n_node_samples[0]
    inner = np.flatnonzero(tree.children_left != LEAF)
    below = weighted[tree.children_left[inner]] + weighted[tree.children_right[inner]]
    columns = (tree.feature[inner], tree.threshold[inner], weighted[inner] - below)
    return list(zip(*(each.tolist() for each in columns), strict=True))


def first_columns(ranked: Binariser, n_rows: int, power: int, work: float) -> Binariser:
    """As many of the best columns as keep rows x columns^power within ``work``."""
    most = int(np.clip((work / n_rows) ** (1 / power), FEWEST_COLUMNS, MOST_COLUMNS))
    return Binariser(ranked.feature[:most], ranked.low[:most], ranked.high[:most])
