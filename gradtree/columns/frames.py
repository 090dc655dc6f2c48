"""Tables of any make, read column by column.

pandas by its own means, polars and Arrow and what else narwhals knows by narwhals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
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
        Numbers, booleans, ``datetime64``, ``timedelta64`` or objects; with ``levels``, positions
        among them, -1 for what is missing.
    categorical : bool
        Whether its type says that it holds categories.
    levels : tuple, optional
        The categories that its type declares.
    ordered : bool
        Whether their order has a meaning.
    """

    name: str
    values: NDArray[Any]
    categorical: bool = False
    levels: tuple[Any, ...] | None = None
    ordered: bool = False

    def __len__(self) -> int:
        return len(self.values)

    @property
    def cells(self) -> NDArray[Any]:
        """The values themselves; those that are missing among ``levels`` are ``None``."""
        if self.levels is None:
            return self.values
        return objects([*self.levels, None])[self.values]

    def some(self, rows: NDArray[Any]) -> RawColumn:
        """Some of the rows."""
        return replace(self, values=self.values[rows])


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


def as_table(X: Any) -> Any:
    """A record batch of Arrow as a table, whose names scikit-learn knows; others as they are."""
    if type(X).__name__ != "RecordBatch":
        return X
    import pyarrow

    return pyarrow.Table.from_batches([X])


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
    return [read_column(name, X[label]) for name, label in zip(names, labels, strict=True)]


def array_columns(X: NDArray[Any]) -> list[RawColumn]:
    """The columns of a matrix, called ``x0, x1, …``."""
    return [RawColumn(f"x{i}", X[:, i]) for i in range(X.shape[1])]


def printed_names(labels: Sequence[Any]) -> list[str]:
    """Names for people, each once.

    Whole numbers become ``x0, x1, …``, names of several levels are joined by dots, and what
    comes again is numbered: ``a, a (2)``.
    """

    def printed(label: Any) -> str:
        if isinstance(label, tuple):
            return ".".join(str(level) for level in label)
        whole = isinstance(label, int | np.integer) and not isinstance(label, bool)
        return f"x{label}" if whole else str(label)

    names = [printed(label) for label in labels]
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


def _interchanged(X: Any) -> Any:
    """A table that offers no more than the dataframe interchange protocol."""
    try:
        from pandas.api.interchange import from_dataframe
    except ImportError as error:
        raise ImportError(
            f"reading a {type(X).__name__} needs pandas: pip install pandas"
        ) from error
    return from_dataframe(X)


def read_column(name: str, column: Any) -> RawColumn:
    """A column or vector of any make."""
    if hasattr(column, "iloc"):
        return _from_pandas(name, column)
    if type(column).__module__.partition(".")[0] == "pyarrow":
        import pyarrow

        if not isinstance(column, pyarrow.ChunkedArray):
            column = pyarrow.chunked_array([column])
        if pyarrow.types.is_dictionary(column.type):
            return _from_dictionary(name, column.unify_dictionaries())
    try:
        series = nw.from_native(column, series_only=True)
    except TypeError:  # of a make that is not known, which must know NumPy then
        cells = column.to_numpy() if hasattr(column, "to_numpy") else column
        return RawColumn(name, np.asarray(cells))
    return _from_narwhals(name, series)


def _from_pandas(name: str, column: Any) -> RawColumn:
    from pandas import CategoricalDtype
    from pandas.api import types

    dtype = column.dtype
    if isinstance(dtype, CategoricalDtype):
        codes, levels = column.cat.codes.to_numpy(), tuple(dtype.categories.tolist())
        return RawColumn(name, codes.astype(np.intp), True, levels, bool(dtype.ordered))
    if types.is_bool_dtype(dtype) or types.is_complex_dtype(dtype):
        return RawColumn(name, column.to_numpy())
    if types.is_numeric_dtype(dtype):
        if isinstance(dtype, np.dtype):
            return RawColumn(name, column.to_numpy())
        return RawColumn(name, column.to_numpy(dtype=np.float64, na_value=np.nan))
    if types.is_datetime64_any_dtype(dtype):
        if getattr(dtype, "tz", None) is not None:
            column = column.dt.tz_convert("UTC").dt.tz_localize(None)
        return RawColumn(name, column.to_numpy(dtype="datetime64[us]"))
    if types.is_timedelta64_dtype(dtype):
        return RawColumn(name, column.to_numpy(dtype="timedelta64[us]"))
    return RawColumn(name, column.astype(object).to_numpy())


def _from_dictionary(name: str, column: Any) -> RawColumn:
    """A column of Arrow with one dictionary; entries without a value are missing."""
    chunks = column.chunks
    levels = chunks[0].dictionary.to_pylist() if chunks else []
    codes = [np.empty(0, dtype=np.intp)]
    codes += [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in chunks]
    positions = np.concatenate(codes).astype(np.intp)
    gaps = [place for place, level in enumerate(levels) if level is None]
    positions[np.isin(positions, gaps)] = -1
    return RawColumn(name, positions, True, tuple(levels), bool(column.type.ordered))


def _from_narwhals(name: str, column: Any) -> RawColumn:
    dtype = column.dtype
    if dtype == nw.Enum:
        levels = tuple(column.cat.get_categories().to_list())
        places: dict[Any, int] = {level: place for place, level in enumerate(levels)}
        codes = [places.get(cell, -1) for cell in column.to_list()]
        return RawColumn(name, np.array(codes, dtype=np.intp), True, levels, True)
    if dtype == nw.Categorical:
        return RawColumn(name, objects(column.to_list()), categorical=True)
    if dtype.is_numeric():
        wanted = dtype if dtype == nw.Float32 else nw.Float64
        return RawColumn(name, np.asarray(column.cast(wanted).to_numpy()))
    if dtype == nw.Datetime or dtype == nw.Date:
        if getattr(dtype, "time_zone", None) is not None:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return RawColumn(name, column.cast(nw.Datetime("us")).to_numpy().astype("datetime64[us]"))
    if dtype == nw.Duration:
        return RawColumn(name, column.to_numpy().astype("timedelta64[us]"))
    if dtype == nw.Boolean and not column.is_null().any():
        return RawColumn(name, np.asarray(column.to_numpy()))
    return RawColumn(name, objects(column.to_list()))


def objects(cells: Sequence[Any]) -> NDArray[Any]:
    """A vector of these objects, lists among them too."""
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array
