"""What classifiers have in common whose model is one canonical tree."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from gradtree.trees.tree import Tree


class TreeClassifier(ClassifierMixin, BaseEstimator):
    """Checks what it is given, and predicts by its tree."""

    classes_: NDArray[Any]
    tree_: Tree
    _dtype: DTypeLike = np.float64

    def _checked(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, *more: ArrayLike
    ) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Rows and class numbers; ``classes``, or all labels here and in ``more``, are known."""
        rows, labels = validate_data(self, X, y, dtype=self._dtype, order="C")
        check_classification_targets(labels)
        occurring = np.unique(np.concatenate([np.asarray(part) for part in (labels, *more)]))
        known = occurring if classes is None else np.unique(np.asarray(classes))
        unknown = np.setdiff1d(occurring, known)
        if len(unknown):
            raise ValueError(
                f"labels {unknown.tolist()} are not among the classes {known.tolist()}; "
                "pass all class labels as classes, or none"
            )
        self.classes_ = known
        return rows, np.searchsorted(known, labels)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Class shares of the leaf that each row reaches, shape (n_rows, n_classes)."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=self._dtype, order="C", reset=False)
        return self.tree_.predict_proba(rows)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The label with the largest share, the first one on ties."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]
