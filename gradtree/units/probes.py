"""Raw rows made up to ask a fitted preprocessing what it does with a value."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradtree.units.columns import Source

# Raw numbers beyond this are not expected; far inside the range where transformers overflow.
LARGEST = 1e30

# A range is narrowed to one of this many parts at a time: calling a preprocessing on a
# few thousand rows costs hardly more than on one.
PARTS = 64


class Prober:
    """Evaluates a preprocessing on single values of single raw columns.

    Parameters
    ----------
    preprocessing : fitted transformer
    sources : sequence of Source
        Where its output columns come from.
    names : sequence of str
        Names of the raw columns.
    X_raw : DataFrame or array, optional
        Raw rows; the first one stands in for the columns that are not asked about.
    """

    def __init__(
        self, preprocessing: Any, sources: Sequence[Source], names: Sequence[str], X_raw: Any
    ) -> None:
        self._preprocessing = preprocessing
        self._template = _template(preprocessing, sources, names) if X_raw is None else X_raw[:1]

    def outputs(
        self, columns: NDArray[np.intp], values: Sequence[Any] | NDArray[Any]
    ) -> NDArray[np.float64]:
        """Preprocessed rows, each with one value put into one raw column.

        Returns
        -------
        ndarray of shape (len(values), n_outputs)
        """
        cells = np.empty(len(values), dtype=object)
        cells[:] = values
        with np.errstate(all="ignore"):
            return transformed(self._preprocessing, self._rows(columns, cells))

    def _rows(self, columns: NDArray[np.intp], cells: NDArray[Any]) -> Any:
        places = np.zeros(len(cells), dtype=np.intp)
        if not hasattr(self._template, "iloc"):
            template = np.asarray(self._template)
            rows = template[places].astype(object if template.dtype.kind in "OUS" else np.float64)
            rows[np.arange(len(cells)), columns] = cells
            return rows
        rows = self._template.iloc[places].reset_index(drop=True)
        for column in np.unique(columns):
            old = rows.iloc[:, column]
            new = np.where(columns == column, cells, old.astype(object))
            rows[rows.columns[column]] = _like(old, new)
        return rows


def transformed(preprocessing: Any, rows: Any) -> NDArray[np.float64]:
    """The matrix that a tree sees: rounded to ``float32``, compared as ``float64``."""
    matrix = preprocessing.transform(rows)
    dense = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    with np.errstate(over="ignore"):
        return np.asarray(dense).astype(np.float32).astype(np.float64)


def _like(column: Any, cells: NDArray[Any]) -> Any:
    """Cells as a series of the column's kind: categorical, numbers or objects."""
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        known = list(column.dtype.categories)
        new = [c for c in dict.fromkeys(cells) if not pd.isna(c) and c not in known]
        return pd.Series(pd.Categorical(cells, categories=[*known, *new]))
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        return pd.Series(cells, dtype=np.float64)
    return pd.Series(cells, dtype=object)


def _template(preprocessing: Any, sources: Sequence[Source], names: Sequence[str]) -> Any:
    """A row of zeros and first categories."""
    row: list[Any] = [0.0] * len(names)
    for source in sources:
        if source.categories:
            row[source.column] = source.categories[0]
    if not hasattr(preprocessing, "feature_names_in_"):
        return np.array([row], dtype=object if any(s.categories for s in sources) else float)
    import pandas as pd

    return pd.DataFrame({name: [cell] for name, cell in zip(names, row, strict=True)})


def unseen_category(known: Sequence[Hashable]) -> Hashable:
    """A value of the right kind that is none of the known categories."""
    numbers = [c for c in known if isinstance(c, int | float | np.number)]
    if known and len(numbers) == len(known):
        return float(max(numbers)) + 1.5
    return "\N{REPLACEMENT CHARACTER}"


def boundaries(
    side_of: Callable[[NDArray[np.float64]], NDArray[np.bool_]], n_splits: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Where answers flip along the number line, to the last bit of ``float64``.

    Parameters
    ----------
    side_of : callable
        Takes numbers of shape (n_splits, any) and says which of them go left at their split.
    n_splits : int

    Returns
    -------
    last : ndarray of shape (n_splits,)
        The largest number on the side of the smallest ones; infinite if all
        numbers are on one side.
    starts_left : ndarray of shape (n_splits,)
        Whether that side is the left one.
    """
    low, high = (_order(np.full((n_splits, 1), end)) for end in (-LARGEST, LARGEST))
    starts_left = side_of(_number(low))
    flips = side_of(_number(high)) != starts_left
    while np.any(low + 1 < high):
        points = _between(low, high)
        same = side_of(_number(points)) == starts_left
        # The points are in order, so the answers of a split are first all same, then all other.
        ends = np.concatenate([low, points, high], axis=1)
        place = same.sum(axis=1, keepdims=True)
        low = np.take_along_axis(ends, place, axis=1)
        high = np.take_along_axis(ends, place + 1, axis=1)
    return np.where(flips, _number(low), np.inf)[:, 0], starts_left[:, 0]


def _between(low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int64]:
    """Points that part the ranges evenly; unsigned, because a range may exceed signed numbers."""
    start, stop = low.view(np.uint64), high.view(np.uint64)
    step = np.maximum((stop - start) // np.uint64(PARTS), 1)
    offset = np.minimum(step * np.arange(1, PARTS, dtype=np.uint64), stop - start)
    return (start + offset).view(np.int64)


def _order(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Integers in the order of the floats, neighbours for neighbours."""
    bits = numbers.view(np.int64)
    return np.where(bits >= 0, bits, np.int64(np.iinfo(np.int64).min) - bits)


def _number(order: NDArray[np.int64]) -> NDArray[np.float64]:
    bits = np.where(order >= 0, order, np.int64(np.iinfo(np.int64).min) - order)
    return bits.view(np.float64)
