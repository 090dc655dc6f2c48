"""From a raw table to a readable tree.

model = gradtree.fit_table(pandas.read_csv("titanic.csv"), target="Survived")
print(model.export_text())
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import ArrayLike
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
from gradtree.inputs.arrays import categorical_mask
from gradtree.typing import Array, Places
from gradtree.units.conditions import as_text


def fit_table(
    table: Any,
    target: Hashable,
    *,
    categorical: Sequence[Hashable] | None = None,
    depth: int = 5,
    sample_weight: ArrayLike | None = None,
    **params: Any,
) -> TabularGradTree:
    """Grow a tree that predicts one column of a raw table from the others.

    Parameters
    ----------
    table, target
        A table as ``fit`` of :class:`GradTreeClassifier` takes it, and the name of the column to
        predict. Rows without a target are left out.
    categorical : sequence of str, optional
        Columns of numbers that are categories. Columns of text and booleans always are.
    depth : int, default=5
        Levels of splits. Deeper trees may predict better and read worse.
    sample_weight, **params
        Weights of the rows of the table, and further parameters of :class:`GradTreeClassifier`.

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
    y = columns.pop(labels.index(target)).cells
    known = np.array([not is_missing(cell) for cell in y.tolist()], dtype=bool)
    if not known.any():
        raise ValueError(f"column {target!r} has no values to learn from: all are missing")
    if sample_weight is not None:
        check_consistent_length(y, sample_weight)
        sample_weight = np.asarray(sample_weight)[known]
    if not known.all():
        without = len(known) - int(known.sum())
        warn(f"{without} rows without a value of {target!r} are left out", stacklevel=2)
        y, columns = y[known], [column.some(known) for column in columns]
        if y.dtype.kind == "f" and np.all(y == np.floor(y)):
            y = y.astype(np.int64)  # whole numbers that gaps had turned into fractions
    if categorical is not None:
        params["categorical_features"] = printed_names(list(categorical))
    model = TabularGradTree(depth=depth, **params).fit(RawTable(columns), y, sample_weight)
    model.target_name_ = printed_names([target])[0]
    return model


class TabularGradTree(GradTreeClassifier):
    """A ``GradTreeClassifier`` for raw tables that finds its columns.

    It takes columns by name, in whatever order they come and with others among them, and leaves
    out those that cannot help with new rows: constant ones, row numbers and names. Its tree is one
    over the others.

    Attributes
    ----------
    left_out_ : dict
        Columns that are not used, and why.
    target_name_ : str or None
        Name of the column of labels.
    """

    left_out_: dict[str, str]
    target_name_: str | None
    _untrained = GradTreeClassifier._untrained | {"left_out_": {}, "target_name_": None}

    def _learn(self, X: Any, y: Any, sample_weight: Any, X_valid: Any, *others: Any) -> None:
        columns, wanted = _columns_of(X), self.categorical_features
        chosen = categorical_mask(wanted, columns, [column.name for column in columns])
        reasons = {c.name: why_useless(c, one) for c, one in zip(columns, chosen, strict=True)}
        self.left_out_ = {name: why for name, why in reasons.items() if why is not None}
        if len(self.left_out_) == len(columns):
            raise ValueError(f"no column of the table can be used: {self.left_out_}")
        if self.left_out_:
            told = "; ".join(f"{name} ({why})" for name, why in self.left_out_.items())
            warn(f"columns left out: {told}", stacklevel=5)
        kept = [column for column in columns if column.name not in self.left_out_]
        self.feature_names_in_ = np.array([column.name for column in kept], dtype=object)
        if any(chosen):
            named = {c.name for c, one in zip(columns, chosen, strict=True) if one}
            self.categorical_features = [c.name for c in kept if c.name in named]
        beside = None if X_valid is None else self._used(X_valid)
        super()._learn(RawTable(kept), y, sample_weight, beside, *others)
        self.categorical_features = wanted
        name = getattr(y, "name", None)
        self.target_name_ = None if name is None else printed_names([name])[0]

    def apply(self, X: Any) -> Places:
        """Index of the leaf of ``tree_`` that each row of a raw table reaches."""
        check_is_fitted(self)
        return super().apply(self._used(X))

    def _used(self, X: Any) -> RawTable:
        given = {column.name: column for column in _columns_of(X)}
        missing = [name for name in self.feature_names_in_ if name not in given]
        if missing:
            raise ValueError(
                f"the table lacks columns that the tree was trained on: {', '.join(missing)}"
            )
        return RawTable([given[name] for name in self.feature_names_in_])

    def _class_names(self) -> list[str]:
        """Labels that are numbers are told with the name of their column."""
        names = [as_text(label) for label in self.classes_.tolist()]
        if self.target_name_ is None or self.classes_.dtype.kind not in "biuf":
            return names
        return [f"{self.target_name_} = {name}" for name in names]


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


def _numbers_rows(values: Array) -> bool:
    """Whether a column counts: whole numbers, each once, without holes."""
    if values.dtype.kind not in "iuf" or len(values) <= NAMING_LEVELS or np.isnan(values).any():
        return False
    if np.isinf(values).any() or np.any(values != np.floor(values)):
        return False
    return bool(np.all(np.diff(np.sort(values)) == 1))
