"""Tables of any make, read column by column by narwhals."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import narwhals as nw
import numpy as np

from gradtree.typing import Array


@dataclass(frozen=True, eq=False)
class RawColumn:
    """One column as it was given."""

    name: str  # unique within its table
    # Numbers, booleans, datetime64, timedelta64 or objects; with levels, positions among them, -1
    # for what is missing.
    values: Array
    categorical: bool = False  # its type says that it holds categories
    levels: tuple[Any, ...] | None = None  # the categories that its type declares
    ordered: bool = False  # their order has a meaning

    def __len__(self) -> int:
        return len(self.values)

    @property
    def cells(self) -> Array:
        """The values themselves; those that are missing among ``levels`` are ``None``."""
        if self.levels is None:
            return self.values
        return objects([*self.levels, None])[self.values]

    def some(self, rows: Array) -> Self:
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
    if isinstance(X, RawTable):
        return X.columns_read
    if not hasattr(X, "iloc") and not column_labels(X):
        X = _interchanged(X)
    labels = column_labels(X)
    names = printed_names(labels)
    if hasattr(X, "iloc"):
        return [read_column(name, X.iloc[:, i]) for i, name in enumerate(names)]
    return [read_column(name, X[label]) for name, label in zip(names, labels, strict=True)]


def array_columns(X: Array) -> list[RawColumn]:
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
    given, seen = set(names), Counter[str]()
    unique: dict[str, None] = {}  # in order, and quick to look into
    for name in names:
        seen[name] += 1
        numbered = name if seen[name] == 1 else f"{name} ({seen[name]})"
        while numbered in unique or (seen[name] > 1 and numbered in given):
            seen[name] += 1
            numbered = f"{name} ({seen[name]})"
        unique[numbered] = None
    return list(unique)


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
    pandas = hasattr(column, "iloc")
    if pandas and isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufbcO":
        return RawColumn(name, column.to_numpy())
    if pandas and hasattr(column, "cat"):
        codes, levels = column.cat.codes.to_numpy(), tuple(column.cat.categories.tolist())
        return RawColumn(name, codes.astype(np.intp), True, levels, bool(column.cat.ordered))
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
    dtype = series.dtype
    if dtype == nw.Enum:
        levels = tuple(series.cat.get_categories().to_list())
        places: dict[Any, int] = {level: place for place, level in enumerate(levels)}
        positions = [places.get(cell, -1) for cell in series.to_list()]
        return RawColumn(name, np.array(positions, dtype=np.intp), True, levels, True)
    if dtype == nw.Categorical or dtype.is_nested():
        return RawColumn(name, objects(series.to_list()), categorical=dtype == nw.Categorical)
    if dtype == nw.Datetime or dtype == nw.Date:
        if getattr(dtype, "time_zone", None) is not None:
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return RawColumn(name, series.cast(nw.Datetime("us")).to_numpy().astype("datetime64[us]"))
    if dtype == nw.Duration:
        return RawColumn(name, series.to_numpy().astype("timedelta64[us]"))
    return RawColumn(name, np.asarray(series.to_numpy()))


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


def objects(cells: Sequence[Any]) -> Array:
    """A vector of these objects, lists among them too."""
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array
