"""From a raw table to a readable tree.

model = gradtree.fit_table(pandas.read_csv("titanic.csv"), target="Survived")
print(model.export_text())
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Self
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from gradtree.classifier import GradTreeClassifier
from gradtree.columns.coding import is_missing, kind_of
from gradtree.columns.frames import (
    RawColumn,
    RawTable,
    column_labels,
    frame_columns,
    is_frame,
    printed_names,
)
from gradtree.columns.text import NAMING_LEVELS, reading_of, why_naming
from gradtree.trees.tree import Tree
from gradtree.units.conditions import as_text
from gradtree.views.readable import ReadableTree

READABLE_DEPTH = 5


def fit_table(
    table: Any,
    target: Hashable,
    *,
    categorical: Sequence[Hashable] | None = None,
    depth: int = READABLE_DEPTH,
    sample_weight: ArrayLike | None = None,
    **params: Any,
) -> TabularGradTree:
    """Grow a tree that predicts one column of a raw table from the others.

    Parameters
    ----------
    table : table
        Of pandas, polars, Arrow or anything with the dataframe interchange protocol: numbers,
        text, booleans, dates, with or without gaps. Rows without a target are left out.
    target : str
        Name of the column to predict.
    categorical : sequence of str, optional
        Columns of numbers that are categories. Columns of text and booleans always are.
    depth : int, default=5
        Levels of splits. Deeper trees may predict better and read worse.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows of the table.
    **params
        Further parameters of :class:`gradtree.GradTreeClassifier`.

    Returns
    -------
    TabularGradTree
        Fitted. Try ``print(model.export_text())``, ``model.rules()``, ``model.plot()``,
        ``model.predict(new_rows)``.
    """
    labels = column_labels(table)
    if labels.count(target) != 1:
        how = "no column" if target not in labels else "more than one column"
        names = ", ".join(map(str, labels))
        raise ValueError(f"there is {how} {target!r} to predict; the columns are: {names}")
    columns = frame_columns(table)
    label = columns.pop(labels.index(target))
    known = np.array([not is_missing(cell) for cell in label.cells.tolist()], dtype=bool)
    if not known.any():
        raise ValueError(f"column {target!r} has no values to learn from: all are missing")
    if not known.all():
        without = len(known) - int(known.sum())
        warn(f"{without} rows without a value of {target!r} are left out", stacklevel=2)
    model = TabularGradTree(GradTreeClassifier(depth=depth, **params), categorical=categorical)
    rows = [column.some(known) for column in columns]
    weight = None
    if sample_weight is not None:
        check_consistent_length(label.cells, sample_weight)
        weight = np.asarray(sample_weight)[known]
    y = label.cells[known]
    if y.dtype.kind == "f" and len(known) > known.sum() and np.all(y == np.floor(y)):
        y = y.astype(np.int64)  # whole numbers that gaps had turned into fractions
    return model._fitted(rows, y, printed_names([target])[0], weight)


class TabularGradTree(ReadableTree, ClassifierMixin, BaseEstimator):
    """A gradient-based tree for raw tables: a ``GradTreeClassifier`` that finds its columns.

    It takes columns by name, in whatever order they come and with others among them, and
    leaves out those that cannot help with new rows: constant ones, row numbers and names.

    Parameters
    ----------
    estimator : GradTreeClassifier, optional
        The tree to train; of depth 5 without it.
    categorical : sequence of str, optional
        Columns of numbers that are categories.

    Attributes
    ----------
    tree_ : Tree
        The tree, over the columns in use.
    classes_ : ndarray of shape (n_classes,)
    estimator_ : GradTreeClassifier
    left_out_ : dict
        Columns that are not used, and why.
    target_name_ : str or None
        Name of the column of labels.
    feature_names_in_ : ndarray of str
        All columns of the table, as they are printed.
    """

    def __init__(
        self,
        estimator: GradTreeClassifier | None = None,
        categorical: Sequence[Hashable] | None = None,
    ) -> None:
        self.estimator = estimator
        self.categorical = categorical

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn a tree.

        Parameters
        ----------
        X : table
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,), optional
        """
        name = getattr(y, "name", None)
        printed = None if name is None else printed_names([name])[0]
        return self._fitted(_columns_of(X), y, printed, sample_weight)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row of a raw table; see :meth:`GradTreeClassifier.predict`."""
        leaves = self.apply(X)
        return np.asarray(self.classes_[self.tree_.labels[leaves]])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities, in the order of ``classes_``; shape (n_rows, n_classes)."""
        check_is_fitted(self)
        return self.tree_.value[self.apply(X)]

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Index of the leaf of ``tree_`` that each row reaches."""
        check_is_fitted(self)
        return self.estimator_.apply(RawTable(self._used(_columns_of(X))))

    @property
    def tree_(self) -> Tree:  # type: ignore[override]
        """The tree of ``estimator_``, which can be pruned and edited there."""
        return self.estimator_.tree_

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels of the classes."""
        return self.estimator_.classes_

    def plot_history(self, **options: Any) -> Any:
        """Draw the losses of all runs; see :func:`gradtree.plot_history`."""
        return self.estimator_.plot_history(**options)

    def _fitted(
        self,
        columns: list[RawColumn],
        y: ArrayLike,
        target_name: str | None,
        sample_weight: ArrayLike | None,
    ) -> Self:
        chosen = self._chosen(columns)
        names = [column.name for column in columns]
        reasons = {c.name: why_useless(c, c.name in chosen) for c in columns}
        left_out = {name: why for name, why in reasons.items() if why is not None}
        if len(left_out) == len(columns):
            raise ValueError(f"no column of the table can be used: {left_out}")
        if left_out:
            told = "; ".join(f"{name} ({why})" for name, why in left_out.items())
            warn(f"columns left out: {told}", stacklevel=3)
        model = GradTreeClassifier(READABLE_DEPTH) if self.estimator is None else self.estimator
        model = clone(model)
        kept = [name for name in names if name not in left_out]
        if chosen:
            model.set_params(categorical_features=[name for name in kept if name in chosen])
        table = RawTable([c for c in columns if c.name in kept])
        # A fit that fails leaves this model as it was.
        self.estimator_ = model.fit(table, y, sample_weight=sample_weight)
        self.target_name_, self.left_out_ = target_name, left_out
        self.feature_names_in_, self.n_features_in_ = np.array(names, dtype=object), len(names)
        return self

    def _chosen(self, columns: list[RawColumn]) -> set[str]:
        chosen = set(printed_names(list(self.categorical or ())))
        unknown = sorted(chosen - {column.name for column in columns})
        if unknown:
            raise ValueError(f"categorical names columns that are not there: {', '.join(unknown)}")
        return chosen

    def _used(self, columns: list[RawColumn]) -> list[RawColumn]:
        given = {column.name: column for column in columns}
        names = [name for name in self.feature_names_in_ if name not in self.left_out_]
        missing = [name for name in names if name not in given]
        if missing:
            raise ValueError(
                f"the table lacks columns that the tree was trained on: {', '.join(missing)}"
            )
        return [given[name] for name in names]

    def _feature_names(self) -> Any:
        return self.estimator_.feature_names_in_

    def _class_weights(self) -> Any:
        return self.estimator_.class_weight_

    def _class_names(self) -> list[str]:
        """Labels that are numbers are told with the name of their column."""
        if self.target_name_ is None or self.classes_.dtype.kind not in "biuf":
            return [as_text(label) for label in self.classes_.tolist()]
        return [f"{self.target_name_} = {as_text(label)}" for label in self.classes_.tolist()]


def _columns_of(X: Any) -> list[RawColumn]:
    if not is_frame(X):
        raise TypeError(
            f"a table with named columns is needed, such as a DataFrame, not {type(X).__name__}; "
            "use GradTreeClassifier for arrays"
        )
    return frame_columns(X)


def why_useless(column: RawColumn, chosen: bool) -> str | None:
    """Why a column cannot help with new rows, ``None`` if it may."""
    kind = kind_of(column, chosen)
    cells = column.cells.tolist()
    known = [cell for cell in cells if not is_missing(cell)]
    levels = len(set(known))
    if levels + (len(known) < len(cells)) < 2:
        return "the same in every row"
    if kind == "number" and _numbers_rows(column.values):
        return "it only numbers the rows"
    if kind == "category" and not chosen and reading_of(known) is None:
        return why_naming(levels, len(known))
    return None


def _numbers_rows(values: NDArray[Any]) -> bool:
    """Whether a column counts: whole numbers, each once, without holes."""
    if values.dtype.kind not in "iuf" or len(values) <= NAMING_LEVELS or np.isnan(values).any():
        return False
    if np.isinf(values).any() or np.any(values != np.floor(values)):
        return False
    return bool(np.all(np.diff(np.sort(values)) == 1))
