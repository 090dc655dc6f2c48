"""CART with the strength of its pruning chosen by cross-validation."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted, validate_data

SMALLEST_FOLD_COUNT = 2


class PrunedCART(ClassifierMixin, BaseEstimator):
    """scikit-learn's tree, cut back as far as macro F1 over stratified folds is best.

    Parameters
    ----------
    max_depth : int, optional
    folds : int
        Fewer are used if the smallest class has fewer rows, none if it has one.
    candidates : int
        How many of the pruning strengths at which the tree changes are tried.
    random_state : int, optional

    Attributes
    ----------
    best_ : DecisionTreeClassifier
    classes_ : ndarray of shape (n_classes,)
    """

    def __init__(
        self,
        max_depth: int | None = None,
        folds: int = 5,
        candidates: int = 30,
        random_state: int | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.folds = folds
        self.candidates = candidates
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        rows, labels = validate_data(self, X, y)
        tree = DecisionTreeClassifier(max_depth=self.max_depth, random_state=self.random_state)
        self.classes_, counts = np.unique(labels, return_counts=True)
        folds = min(self.folds, int(counts.min()))
        if folds < SMALLEST_FOLD_COUNT:
            self.best_ = tree.fit(rows, labels)
            return self
        search = GridSearchCV(
            tree,
            {"ccp_alpha": self._strengths(tree, rows, labels)},
            scoring="f1_macro",
            cv=StratifiedKFold(folds, shuffle=True, random_state=self.random_state),
        )
        self.best_ = search.fit(rows, labels).best_estimator_
        return self

    def _strengths(self, tree: Any, X: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
        """Spread over the path of trees that pruning goes through, from none to all."""
        alphas = np.unique(np.maximum(tree.cost_complexity_pruning_path(X, y).ccp_alphas, 0.0))
        spread = np.linspace(0, len(alphas) - 1, min(self.candidates, len(alphas)))
        return alphas[spread.round().astype(np.intp)]

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self)
        return np.asarray(self.best_.predict_proba(validate_data(self, X, reset=False)))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
