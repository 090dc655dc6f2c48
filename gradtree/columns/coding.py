"""What the columns of a table are, and the table as numbers.

A table is coded as a matrix: numbers as they are, dates and durations in
microseconds, categories as their positions among those of training. What is
missing is ``nan``, and so is a category that training did not see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gradtree.columns.frames import RawColumn

Category = str | int | float | bool
Kind = Literal["number", "category", "date", "duration"]
PLAIN = (str, bool, int, float)


@dataclass(frozen=True)
class Column:
    """One column of the table that a tree was grown on.

    Attributes
    ----------
    name : str
    kind : "number", "category", "date" or "duration"
    categories : tuple
        Those of the training rows, in order.
    as_text : bool
        Whether categories are compared as text, because they are of several types.
    gaps : bool
        Whether values were missing in training.
    fine : bool
        Whether some of its numbers differ by less than ``float32`` can tell.
    """

    name: str
    kind: Kind = "number"
    categories: tuple[Category, ...] = ()
    as_text: bool = False
    gaps: bool = False
    fine: bool = False

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"categories": list(self.categories)}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Column:
        return cls(**(content | {"categories": tuple(content["categories"])}))

    def coded(self, values: Any) -> NDArray[np.floating[Any]]:
        """Raw values as numbers; see the module."""
        cells = np.asarray(values)
        if self.kind == "number":
            return _numbers(cells, self.name)
        if self.kind == "category":
            return self._positions(cells)
        return _microseconds(cells, self.name, self.kind)

    def _positions(self, cells: NDArray[Any]) -> NDArray[np.float64]:
        places: dict[Any, float] = {category: i for i, category in enumerate(self.categories)}
        if self.as_text:
            cells = _as_text(cells)
        if cells.dtype.kind == "O":
            return np.array([_place(places, cell) for cell in cells.tolist()], dtype=np.float64)
        different, inverse = np.unique(cells, return_inverse=True)
        found = [places.get(cell, np.nan) for cell in different.tolist()]
        return np.array(found, dtype=np.float64)[inverse]


def learn_columns(
    raw: Sequence[RawColumn], rows: NDArray[np.intp], categorical: Sequence[bool]
) -> tuple[Column, ...]:
    """What the columns hold, by their types and by some of the rows.

    Parameters
    ----------
    raw : sequence of RawColumn
    rows : ndarray of int
        The rows that the tree is trained on.
    categorical : sequence of bool
        Columns that hold categories whatever their type.
    """
    return tuple(
        _learned(column, rows, chosen) for column, chosen in zip(raw, categorical, strict=True)
    )


def coded_matrix(raw: Sequence[RawColumn], columns: Sequence[Column]) -> NDArray[Any]:
    """A table as numbers, shape (n_rows, n_columns)."""
    coded = [column.coded(given.values) for given, column in zip(raw, columns, strict=True)]
    for column, numbers in zip(columns, coded, strict=True):
        if np.isinf(numbers).any():
            raise ValueError(
                f"Input X contains infinity: column {column.name!r} has infinite values; "
                "replace them by nan or by a number"
            )
    return np.column_stack(coded)


def _learned(column: RawColumn, rows: NDArray[np.intp], chosen: bool) -> Column:
    kind = kind_of(column, chosen)
    if kind != "category":
        numbers = Column(column.name, kind).coded(column.values[rows])
        return Column(column.name, kind, gaps=bool(np.isnan(numbers).any()))
    cells = column.values[rows]
    known = [cell for cell in cells.tolist() if not is_missing(cell)]
    as_text = len({type(cell) for cell in known}) > 1 or not all(
        isinstance(cell, PLAIN) for cell in known
    )
    if as_text:
        known = [str(cell) for cell in known]
    return Column(
        column.name,
        "category",
        categories=tuple(sorted(set(known))),
        as_text=as_text,
        gaps=len(known) < len(cells),
    )


def kind_of(column: RawColumn, chosen: bool = False) -> Kind:
    """The kind of a column, by its type or, for objects, by what it holds."""
    kind = column.values.dtype.kind
    if kind in "cV":
        raise ValueError(
            f"column {column.name!r} holds {column.values.dtype}, which is neither numbers nor "
            "categories nor dates; convert it first"
        )
    if chosen or column.categorical or kind == "b":
        return "category"
    if kind in "iuf":
        return "number"
    if kind in "Mm":
        return "date" if kind == "M" else "duration"
    types = {type(cell) for cell in column.values.tolist() if not is_missing(cell)}
    wholly: list[tuple[Kind, tuple[type, ...]]] = [
        ("number", (Real, Decimal)),
        ("date", (date, np.datetime64)),
        ("duration", (timedelta, np.timedelta64)),
    ]
    for name, accepted in wholly:
        if all(issubclass(t, accepted) and t not in (bool, np.bool_) for t in types):
            return name
    if not all(_hashable(cell) for cell in column.values.tolist()):
        raise ValueError(
            f"column {column.name!r} holds lists or other containers; make columns of their parts"
        )
    return "category"


def is_missing(cell: Any) -> bool:
    """``None``, ``nan``, ``NaT`` and pandas' ``NA``."""
    if cell is None or type(cell).__name__ == "NAType":
        return True
    different = cell != cell
    return isinstance(different, bool | np.bool_) and bool(different)


def _hashable(cell: Any) -> bool:
    try:
        hash(cell)
    except TypeError:
        return False
    return True


def _place(places: dict[Any, float], cell: Any) -> float:
    return places.get(cell, np.nan) if _hashable(cell) else np.nan


def _as_text(cells: NDArray[Any]) -> NDArray[Any]:
    return np.array([None if is_missing(c) else str(c) for c in cells.tolist()], dtype=object)


def _numbers(cells: NDArray[Any], name: str) -> NDArray[np.floating[Any]]:
    if cells.dtype == np.float32:
        return cells
    if cells.dtype.kind in "iufb":
        return cells.astype(np.float64, copy=False)
    try:
        if cells.dtype.kind == "O" and not any(isinstance(cell, str) for cell in cells.tolist()):
            known = [np.nan if is_missing(cell) else float(cell) for cell in cells.tolist()]
            return np.array(known, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(
        f"column {name!r} held numbers in training, but holds {cells.dtype} now; convert it, for "
        "example with pandas.to_numeric"
    )


def _microseconds(cells: NDArray[Any], name: str, kind: str) -> NDArray[np.float64]:
    code = "datetime64[us]" if kind == "date" else "timedelta64[us]"
    try:
        if cells.dtype.kind == "O":
            plain = [None if is_missing(cell) else _without_zone(cell) for cell in cells.tolist()]
            cells = np.array(plain, dtype=code)
        moments = cells.astype(code)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"column {name!r} held {kind}s in training, but holds {cells.dtype} now"
        ) from error
    numbers = moments.astype(np.int64).astype(np.float64)
    numbers[np.isnat(moments)] = np.nan
    return numbers


def _without_zone(moment: Any) -> Any:
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        return moment.astimezone(UTC).replace(tzinfo=None)
    return moment
