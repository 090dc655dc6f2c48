"""Tables of any make, read column by column: pandas, polars, Arrow, dataframe interchange."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class RawColumn:
    """One column as it was given.

    Attributes
    ----------
    name : str
        Unique within its table.
    values : ndarray of shape (n_rows,)
        Numbers, booleans, ``datetime64``, ``timedelta64`` or objects.
    categorical : bool
        Whether its type says that it holds categories.
    """

    name: str
    values: NDArray[Any]
    categorical: bool = False

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, eq=False)
class RawTable:
    """Columns that have been read already."""

    columns_read: list[RawColumn]

    @property
    def column_names(self) -> list[str]:
        return [column.name for column in self.columns_read]

    @property
    def shape(self) -> tuple[int, int]:
        return (len(self.columns_read[0]) if self.columns_read else 0), len(self.columns_read)


def is_frame(X: Any) -> bool:
    """Whether something is a table with named columns."""
    # Polars has left the interchange protocol for the streams of Arrow.
    polars = hasattr(X, "__arrow_c_stream__") and hasattr(X, "columns")
    return hasattr(X, "iloc") or hasattr(X, "__dataframe__") or hasattr(X, "column_names") or polars


def column_labels(X: Any) -> list[Any]:
    """The names of the columns of a table as it has them; none if it is no table."""
    names = getattr(X, "column_names", None)
    return list(getattr(X, "columns", ()) if names is None else names)


def frame_columns(X: Any) -> list[RawColumn]:
    """The columns of a table."""
    if isinstance(X, RawTable):
        return X.columns_read
    if not hasattr(X, "iloc") and not column_labels(X):
        X = _interchanged(X)
    labels = column_labels(X)
    names = printed_names(labels)
    if hasattr(X, "iloc"):
        return [_from_pandas(name, X.iloc[:, i]) for i, name in enumerate(names)]
    return [_from_series(name, X[label]) for name, label in zip(names, labels, strict=True)]


def array_columns(X: NDArray[Any]) -> list[RawColumn]:
    """The columns of a matrix, called ``x0, x1, …``."""
    return [RawColumn(f"x{i}", X[:, i]) for i in range(X.shape[1])]


def printed_names(labels: Sequence[Any]) -> list[str]:
    """Names for people, each once.

    Whole numbers become ``x0, x1, …``, names of several levels are joined by dots, and what
    comes again is numbered: ``a, a (2)``.
    """
    names = [_printed(label) for label in labels]
    seen: Counter[str] = Counter()
    unique: list[str] = []
    for name in names:
        seen[name] += 1
        numbered = name if seen[name] == 1 else f"{name} ({seen[name]})"
        while numbered in unique or (seen[name] > 1 and numbered in names):
            seen[name] += 1
            numbered = f"{name} ({seen[name]})"
        unique.append(numbered)
    return unique


def _printed(label: Any) -> str:
    if isinstance(label, tuple):
        return ".".join(str(level) for level in label)
    if isinstance(label, int | np.integer) and not isinstance(label, bool):
        return f"x{label}"
    return str(label)


def _interchanged(X: Any) -> Any:
    """A table that offers no more than the dataframe interchange protocol."""
    try:
        from pandas.api.interchange import from_dataframe
    except ImportError as error:
        raise ImportError(
            f"reading a {type(X).__name__} needs pandas: pip install pandas"
        ) from error
    return from_dataframe(X)


def _from_pandas(name: str, column: Any) -> RawColumn:
    from pandas import CategoricalDtype
    from pandas.api import types

    dtype = column.dtype
    if isinstance(dtype, CategoricalDtype):
        return RawColumn(name, column.astype(object).to_numpy(), categorical=True)
    if types.is_bool_dtype(dtype) or types.is_complex_dtype(dtype):
        return RawColumn(name, column.to_numpy())
    if types.is_numeric_dtype(dtype):
        if dtype == np.float32:
            return RawColumn(name, column.to_numpy())
        return RawColumn(name, column.to_numpy(dtype=np.float64, na_value=np.nan))
    if types.is_datetime64_any_dtype(dtype):
        if getattr(dtype, "tz", None) is not None:
            column = column.dt.tz_convert("UTC").dt.tz_localize(None)
        return RawColumn(name, column.to_numpy(dtype="datetime64[us]"))
    if types.is_timedelta64_dtype(dtype):
        return RawColumn(name, column.to_numpy(dtype="timedelta64[us]"))
    return RawColumn(name, column.astype(object).to_numpy())


def _from_series(name: str, column: Any) -> RawColumn:
    if hasattr(column, "dictionary_decode"):  # a chunked array of Arrow
        column = column.dictionary_decode() if "dictionary" in str(column.type) else column
    return RawColumn(name, np.asarray(column.to_numpy()))
