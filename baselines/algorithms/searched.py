"""What classifiers have in common whose tree is searched over yes/no columns."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from baselines.algorithms.binarise import Binariser
from baselines.algorithms.labels import all_classes, class_numbers
from baselines.algorithms.yes_no_tree import Node, on_features, size, with_shares


class SearchedTreeClassifier(ClassifierMixin, BaseEstimator):
    """Binarise the features, search a tree over the yes/no columns.

    Subclasses say how to do either.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    binariser_ : Binariser
    found_ : Node
        The tree over the columns of ``binariser_``.
    size_ : int
        Its inner nodes and leaves: the size that the paper reports.
    tree_ : Tree
        The same decisions as thresholds on the features, which may take more
        nodes than ``size_``.
    """

    @abstractmethod
    def _binariser(self, X: NDArray[np.float64]) -> Binariser: ...

    @abstractmethod
    def _search(self, columns: NDArray[np.bool_], labels: NDArray[np.intp]) -> Node: ...

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        X_bins: ArrayLike | None = None,
        classes: ArrayLike | None = None,
    ) -> Self:
        """Search the tree.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
        X_bins : array-like of shape (any, n_features), optional
            The rows that the bins are made from, if not those of ``X``.
        classes : array-like, optional
            All class labels, in case some occur in none of the rows.
        """
        rows, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_ = all_classes(classes, y)
        labels = class_numbers(self.classes_, y)
        self.binariser_ = self._binariser(
            rows if X_bins is None else validate_data(self, X_bins, dtype=np.float64, reset=False)
        )
        columns = self.binariser_.transform(rows)
        found = self._search(columns, labels)
        self.found_ = with_shares(found, columns, labels, len(self.classes_))
        self.size_ = size(self.found_)
        self.tree_ = on_features(self.found_, self.binariser_, rows)
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Class shares among the training rows of the leaf that each row reaches."""
        check_is_fitted(self)
        return self.tree_.predict_proba(validate_data(self, X, dtype=np.float64, reset=False))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]
