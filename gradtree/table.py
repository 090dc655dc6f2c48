"""From a raw table to a readable tree.

model = gradtree.fit_table(pandas.read_csv("titanic.csv"), target="Survived")
print(model.export_text())
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any, Self
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import QuantileTransformer, TargetEncoder
from sklearn.utils.validation import check_is_fitted

from gradtree.classifier import GradTreeClassifier
from gradtree.inputs.holdout import hold_out
from gradtree.inputs.table_columns import TableColumns, learn_columns
from gradtree.units.conditions import as_text
from gradtree.units.original import OriginalUnits, original_units
from gradtree.views.readable import ReadableTree

if TYPE_CHECKING:
    import pandas as pd

READABLE_DEPTH = 5
N_QUANTILES = 1000
TARGET_FOLDS = 5


def fit_table(
    table: pd.DataFrame,
    target: str,
    *,
    categorical: Sequence[str] | None = None,
    depth: int = READABLE_DEPTH,
    **params: Any,
) -> TabularGradTree:
    """Grow a tree that predicts one column of a raw table from the others.

    Parameters
    ----------
    table : DataFrame
        Numbers, text, booleans, with or without gaps. Rows without a target are left out.
    target : str
        Name of the column to predict.
    categorical : sequence of str, optional
        Columns of numbers that are categories. Columns of text and booleans always are.
    depth : int, default=5
        Levels of splits. Deeper trees may predict better and read worse.
    **params
        Further parameters of :class:`gradtree.GradTreeClassifier`.

    Returns
    -------
    TabularGradTree
        Fitted. Try ``print(model.export_text())``, ``model.rules()``, ``model.plot()``,
        ``model.predict(new_rows)``.
    """
    if target not in getattr(table, "columns", ()):
        names = ", ".join(map(str, getattr(table, "columns", ())))
        raise ValueError(f"there is no column {target!r} to predict; the columns are: {names}")
    labelled = table[table[target].notna()]
    if len(labelled) < len(table):
        without = len(table) - len(labelled)
        warn(f"{without} rows without a value of {target!r} are left out", stacklevel=2)
    model = TabularGradTree(GradTreeClassifier(depth=depth, **params), categorical=categorical)
    return model.fit(labelled.drop(columns=target), labelled[target])


class TabularGradTree(ReadableTree, ClassifierMixin, BaseEstimator):
    """A gradient-based tree for raw tables, whose splits read in the units of the table.

    Gaps in numbers are filled by the median and marked in a column of their own; categories
    become target means, cross-fitted so that no row sees its own label, with gaps as a
    category; then every column is mapped to normal quantiles. All of this is learned from
    the rows that the tree is trained on, not from those that decide when to stop.

    Parameters
    ----------
    estimator : GradTreeClassifier, optional
        The tree to train; of depth 5 without it.
    categorical : sequence of str, optional
        Columns of numbers that are categories.

    Attributes
    ----------
    tree_ : Tree
        The tree, in preprocessed numbers; the methods of this class show it in raw ones.
    classes_ : ndarray of shape (n_classes,)
    estimator_ : GradTreeClassifier
    preprocessing_ : Pipeline
    left_out_ : dict
        Columns that are not used, and why: constant ones, dates, and text that is different
        between most rows.
    target_name_ : str or None
        Name of the column of labels.
    feature_names_in_ : ndarray of str
        All columns of the table.
    """

    def __init__(
        self,
        estimator: GradTreeClassifier | None = None,
        categorical: Sequence[str] | None = None,
    ) -> None:
        self.estimator = estimator
        self.categorical = categorical

    def fit(self, X: pd.DataFrame, y: ArrayLike) -> Self:
        """Learn the preprocessing and the tree.

        Parameters
        ----------
        X : DataFrame
        y : array-like of shape (n_rows,)
        """
        labels = np.asarray(y)
        self._columns = learn_columns(X, self.categorical)
        self.target_name_: str | None = getattr(y, "name", None)
        self.left_out_ = dict(self._columns.left_out)
        self.feature_names_in_ = np.array(list(X.columns), dtype=object)
        self.n_features_in_ = X.shape[1]
        if self.left_out_:
            reasons = "; ".join(f"{name} ({why})" for name, why in self.left_out_.items())
            warn(f"columns left out: {reasons}", stacklevel=2)

        table = self._columns.tidy(X)
        model = GradTreeClassifier(READABLE_DEPTH) if self.estimator is None else self.estimator
        model = clone(model)
        classes, codes = np.unique(labels, return_inverse=True)
        rng = np.random.default_rng(model.random_state if _is_seed(model.random_state) else None)
        held_out = hold_out(codes, model.validation_fraction, rng)
        trained = np.delete(np.arange(len(table)), held_out)

        smallest = int(np.bincount(codes[trained]).min())
        self.preprocessing_ = preprocessing(self._columns, len(trained), smallest)
        training = table.iloc[trained]
        matrix = self.preprocessing_.fit_transform(training, labels[trained])
        valid: dict[str, Any] = {}
        if len(held_out):
            rows = self.preprocessing_.transform(table.iloc[held_out])
            valid = {"X_valid": rows, "y_valid": labels[held_out]}
        self.estimator_ = model.fit(matrix, labels[trained], classes=classes, **valid)
        self.tree_, self.classes_ = self.estimator_.tree_, self.estimator_.classes_
        self._original = original_units(self.preprocessing_, training)
        return self

    def predict(self, X: pd.DataFrame) -> NDArray[Any]:
        """The most probable class of each row of a raw table."""
        check_is_fitted(self)
        return self.estimator_.predict(self._matrix(X))

    def predict_proba(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """Class probabilities, in the order of ``classes_``; shape (n_rows, n_classes)."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(self._matrix(X))

    def plot_history(self, **options: Any) -> Any:
        """Draw the losses of all runs; see :func:`gradtree.plot_history`."""
        return self.estimator_.plot_history(**options)

    def _matrix(self, X: pd.DataFrame) -> NDArray[Any]:
        return np.asarray(self.preprocessing_.transform(self._columns.tidy(X)))

    def _units(self) -> OriginalUnits:
        return self._original

    def _class_names(self) -> list[str]:
        """Labels that are numbers are told with the name of their column."""
        if self.target_name_ is None or self.classes_.dtype.kind not in "biuf":
            return [as_text(label) for label in self.classes_.tolist()]
        return [f"{self.target_name_} = {as_text(label)}" for label in self.classes_.tolist()]


def preprocessing(columns: TableColumns, n_rows: int, smallest_class: int) -> Pipeline:
    """Gaps filled and marked, categories to target means, then all to normal quantiles.

    Columns of one scale are what the learning rates of GradTree are made for.
    """
    parts = [
        ("numbers", SimpleImputer(strategy="median", add_indicator=True), list(columns.numbers)),
        ("categories", _target_encoder(smallest_class), list(columns.categories)),
    ]
    quantiles = QuantileTransformer(
        n_quantiles=min(N_QUANTILES, n_rows), output_distribution="normal", random_state=0
    )
    columnwise = ColumnTransformer([part for part in parts if part[2]])
    return Pipeline([("columns", columnwise), ("spread", quantiles)])


def _target_encoder(smallest_class: int) -> TargetEncoder:
    """An encoder that is the same on every run, in the words of the installed scikit-learn."""
    folds = max(2, min(TARGET_FOLDS, smallest_class))
    seed = signature(TargetEncoder).parameters.get("random_state")
    if seed is None or seed.default == "deprecated":
        return TargetEncoder(cv=KFold(folds, shuffle=True, random_state=0))
    return TargetEncoder(cv=folds, random_state=0)


def _is_seed(random_state: Any) -> bool:
    return isinstance(random_state, int | np.integer)
