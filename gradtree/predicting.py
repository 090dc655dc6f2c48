"""What a fitted tree predicts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gradtree.columns.coding import Column, coded_matrix
from gradtree.inputs.arrays import has_categories, read_rows
from gradtree.trees.traversal import leaves_reached, passed_nodes
from gradtree.trees.tree import LEAF
from gradtree.views.readable import ReadableTree


class TreePredictor(ReadableTree, BaseEstimator):
    """An estimator that walks its rows down ``tree_``, a tree over the columns as they came."""

    columns_: tuple[Column, ...]
    n_features_in_: int

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Index of the leaf of ``tree_`` that each row reaches."""
        check_is_fitted(self)
        rows = read_rows(self, X, reset=False, by_column=has_categories(self))
        if isinstance(rows, np.ndarray):
            return leaves_reached(self.tree_, rows)
        # Only columns in use are coded, side by side; of the others, the kind is checked.
        used = np.unique(self.tree_.feature[self.tree_.feature != LEAF])
        for place in set(range(self.n_features_in_)) - set(used.tolist()):
            column, given = self.columns_[place], rows[place]
            if column.kind != "number" or given.values.dtype.kind not in "iufb":
                column.coded(given)
        places = np.zeros(self.n_features_in_, dtype=np.int32)
        places[used] = np.arange(len(used))
        some = [rows[place] for place in used]
        if not some:
            return np.zeros(len(rows[0]), dtype=np.intp)
        coded = coded_matrix(some, [self.columns_[place] for place in used])
        return leaves_reached(self.tree_, coded, places)

    def decision_path(self, X: Any) -> Any:
        """Which nodes of ``tree_`` each row passes: a sparse indicator (n_rows, n_nodes)."""
        leaves = self.apply(X)
        return passed_nodes(self.tree_, leaves)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
