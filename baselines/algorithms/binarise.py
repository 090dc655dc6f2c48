"""From numbers to yes/no columns, which is all that optimal-tree searches understand.

Every yes/no column asks whether one feature lies in one interval, so a tree
over such columns is a tree of thresholds on the features themselves.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradtree.trees.tree import LEAF

MOST_VALUES_FOR_ONE_HOT = 9
PAPER_BINS = 5
NARROWEST_BIN = 1e-8
N_TREES, LEAVES, MOST_ROWS = 16, 16, 2000
"""Of the forest that guesses columns."""
CELLS = 32
"""Guessed thresholds of one feature that lie in the same of so many quantile cells count as one."""
MOST_COLUMNS, FEWEST_COLUMNS = 100, 8


@dataclass(frozen=True, eq=False)
class Binariser:
    """Yes/no columns: is ``low < float32(x[feature]) <= high``?

    Rounding to ``float32`` first is what the canonical tree does, so a row
    never lies on different sides of a bound for the two.
    """

    feature: NDArray[np.intp]  # (n_columns,)
    low: NDArray[np.float64]  # (n_columns,); infinite where an interval is open
    high: NDArray[np.float64]

    def transform(self, X: ArrayLike) -> NDArray[np.bool_]:
        """The yes/no columns of ``X``, shape (n_rows, n_columns)."""
        rows = np.asarray(X, dtype=np.float32)[:, self.feature]
        return (rows > self.low) & (rows <= self.high)


def paper_binariser(X: NDArray[np.float64]) -> Binariser:
    """The columns that the authors give to DL8.5.

    A feature with up to 2 distinct values becomes one column, one with 3 to 9
    a column per value, one with more a column per bin of 5 quantile bins. The
    columns of the three kinds come in the order: values, bins, pairs.
    """
    per_value, per_bin, pairs = [], [], []
    for feature in range(X.shape[1]):
        values = np.unique(X[:, feature])
        if len(values) <= 2:
            pairs += [(feature, cut, np.inf) for cut in [*_between(values), np.inf][:1]]
        elif len(values) <= MOST_VALUES_FOR_ONE_HOT:
            per_value += _partition(feature, _between(values))
        else:
            edges = _quantile_edges(X[:, feature], PAPER_BINS)
            per_bin += _partition(feature, _cuts_below(edges[1:-1], values))
    return _assembled([*per_value, *per_bin, *pairs])


def threshold_binariser(X: NDArray[np.float64], n_thresholds: int) -> Binariser:
    """Columns ``x <= t`` for up to ``n_thresholds`` quantiles ``t`` of each feature.

    A feature with few distinct values has a threshold between any two of them.
    """
    columns = []
    for feature in range(X.shape[1]):
        values = np.unique(X[:, feature])
        cuts = _between(values)
        if len(cuts) > n_thresholds:
            edges = _quantile_edges(X[:, feature], n_thresholds + 1)
            cuts = np.unique(_cuts_below(edges[1:-1], values))
        columns += [(feature, cut) for cut in cuts]
    return below(columns)


def ranked_columns(X: NDArray[np.float64], labels: NDArray[np.intp], seed: int | None) -> Binariser:
    """Up to 100 columns ``x <= t``, those at which a small forest gains most first.

    Optimal-tree searches cost a power of the number of columns, so a few good
    ones are better than all. McTavish and co-authors (AAAI 2022) guess them from
    an ensemble of trees; so does this, with a forest, and equally for all solvers.
    """
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(
        N_TREES, max_leaf_nodes=LEAVES, max_samples=min(1.0, MOST_ROWS / len(X)), random_state=seed
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
    return below(chosen[:MOST_COLUMNS])


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


def below(thresholds: Iterable[tuple[int, float]]) -> Binariser:
    """Columns ``x <= t`` for pairs of feature and ``t``."""
    return _assembled((feature, -np.inf, cut) for feature, cut in thresholds)


def _between(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Midpoints of neighbouring values, taken after rounding to ``float32``."""
    rounded = values.astype(np.float32).astype(np.float64)
    return (rounded[:-1] + rounded[1:]) / 2


def _quantile_edges(column: NDArray[np.float64], n_bins: int) -> NDArray[np.float64]:
    """Outer and inner edges of quantile bins, without those that bound an empty bin."""
    edges = np.percentile(column, np.linspace(0, 100, n_bins + 1))
    return edges[np.ediff1d(edges, to_begin=np.inf) > NARROWEST_BIN]


def _cuts_below(edges: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cuts that part the sorted ``values`` as ``value < edge`` does."""
    return _between(values)[np.searchsorted(values, edges, side="left") - 1]


def _partition(feature: int, cuts: NDArray[np.float64]) -> list[tuple[int, float, float]]:
    bounds = [-np.inf, *cuts, np.inf]
    return [(feature, low, high) for low, high in pairwise(bounds)]


def _assembled(columns: Iterable[tuple[int, float, float]]) -> Binariser:
    table = np.array(list(columns), dtype=np.float64).reshape(-1, 3)
    return Binariser(table[:, 0].astype(np.intp), table[:, 1], table[:, 2])
