"""What the columns of a raw table are, and the table as preprocessing wants it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

# Text with more values than this share of the rows names rows and says nothing of others.
NAMING_SHARE = 0.5
NAMING_LEVELS = 20


@dataclass(frozen=True)
class TableColumns:
    """Kinds of columns, as learned from a training table.

    Attributes
    ----------
    numbers, categories : tuple of str
        Columns in use.
    mixed : frozenset of str
        Categories of several types, which are turned into text.
    left_out : mapping
        Other columns, and why they are not used.
    """

    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    mixed: frozenset[str]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def tidy(self, table: pd.DataFrame) -> pd.DataFrame:
        """The columns in use: numbers as ``float64``, categories as objects, gaps as ``nan``."""
        import pandas as pd

        names = [*self.numbers, *self.categories]
        missing = [name for name in names if name not in getattr(table, "columns", ())]
        if missing:
            raise ValueError(
                f"the table lacks columns that the tree was trained on: {', '.join(missing)}"
            )
        tidied = {name: _numbers(table[name]) for name in self.numbers}
        tidied |= {name: _categories(table[name], name in self.mixed) for name in self.categories}
        return pd.DataFrame(tidied, index=table.index)


def learn_columns(table: Any, categorical: Sequence[str] | None = None) -> TableColumns:
    """Sort columns by kind."""
    if not hasattr(table, "iloc") or not hasattr(table, "columns"):
        raise TypeError(
            f"a pandas DataFrame is needed, not {type(table).__name__}; wrap arrays as "
            "pandas.DataFrame(X), or use GradTreeClassifier for matrices of numbers"
        )
    chosen = set(categorical or ())
    unknown = sorted(chosen - set(table.columns))
    if unknown:
        raise ValueError(f"categorical names columns that are not there: {', '.join(unknown)}")
    numbers, categories, mixed = [], [], set()
    left_out: dict[str, str] = {}
    for name in table.columns:
        column = table[name]
        reason = _useless(column, name in chosen)
        if reason:
            left_out[name] = reason
        elif name in chosen or not _is_numeric(column):
            categories.append(name)
            if len({type(value) for value in column.dropna()}) > 1:
                mixed.add(name)
        else:
            numbers.append(name)
    if not numbers and not categories:
        raise ValueError(f"no column of the table can be used: {left_out}")
    return TableColumns(tuple(numbers), tuple(categories), frozenset(mixed), left_out)


def _is_numeric(column: pd.Series) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return is_numeric_dtype(column.dtype) and not is_bool_dtype(column.dtype)


def _useless(column: pd.Series, chosen: bool) -> str | None:
    from pandas.api.types import is_datetime64_any_dtype, is_timedelta64_dtype

    if is_datetime64_any_dtype(column.dtype) or is_timedelta64_dtype(column.dtype):
        return "dates; turn them into numbers, such as days since an event"
    levels = column.nunique(dropna=True)
    if levels + bool(column.isna().any()) < 2:
        return "the same in every row"
    if chosen:
        return None
    if _is_numeric(column):
        return "it only numbers the rows" if _numbers_rows(column) else None
    if levels > NAMING_LEVELS and levels > NAMING_SHARE * column.count():
        return f"text that differs between most rows, {levels} values"
    return None


def _numbers_rows(column: pd.Series) -> bool:
    """Whether a column counts: whole numbers, each once, without holes."""
    from pandas.api.types import is_integer_dtype

    if not is_integer_dtype(column.dtype) or column.isna().any() or len(column) <= NAMING_LEVELS:
        return False
    return bool(column.is_unique and column.max() - column.min() == len(column) - 1)


def _numbers(column: pd.Series) -> pd.Series:
    if not _is_numeric(column):
        raise ValueError(
            f"column {column.name!r} held numbers in training, but holds {column.dtype} now; "
            "convert it with pandas.to_numeric"
        )
    numbers = column.astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
    if np.isinf(numbers).any():
        raise ValueError(f"column {column.name!r} has infinite values; replace them by nan")
    import pandas as pd

    return pd.Series(numbers, index=column.index)


def _categories(column: pd.Series, as_text: bool) -> pd.Series:
    cells = column.astype(object)
    if as_text:
        cells = cells.map(str, na_action="ignore")
    return cells.where(column.notna(), np.nan)
