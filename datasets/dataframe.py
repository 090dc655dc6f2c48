"""A dataset from a table that the caller has, instead of from a record and its sources."""

import difflib
from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from datasets.protocols.declared import HELD_OUT_SHARE
from datasets.record import ClassLabel, Layout, Record
from datasets.record_file import SLUG
from datasets.table import Dataset, Table, canonical_numbers

MOST_CLASSES = 100
FEWEST_ROWS = 10


def from_table(slug: str, name: str, table: pd.DataFrame, target: Hashable) -> Dataset:
    """Make a dataset of a table, for every protocol and learner of the suite.

    Parameters
    ----------
    slug : what jobs, stores and files call it: lower-case words joined by hyphens.
    name : what tables and pictures call it.
    table : one row per sample; text is welcome, and so are gaps (NaN, None, NA), which protocol
        ``paper`` fills with the mean of numbers and the most frequent of categories. Columns that
        hold anything but numbers and truth values are categories.
    target : the column with the classes; rows without a class are kept, the protocols decide.

    Returns
    -------
    Dataset
        whose ``record`` holds its facts; the content hash is that of the values.

    Raises
    ------
    ValueError
        that names the column at fault and says what to do.
    """
    if not SLUG.fullmatch(slug):
        raise ValueError(f"slug {slug!r} must be lower-case words joined by hyphens")
    columns = _named_columns(table)
    label = _spelled(target)
    if label not in columns:
        near = difflib.get_close_matches(label, columns, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(columns)}"
        raise ValueError(f"no column {label!r}; {hint}")
    features = tuple(column for column in columns if column != label)
    if not features:
        raise ValueError(f"the table has no column besides the target {label!r}")
    classes, y = _classes(columns[label])
    values = tuple(_column(feature, columns[feature]) for feature in features)
    gaps = any(bool(pd.isna(value).any()) for value in values)
    made = Table(values, y)
    record = Record(
        slug=slug,
        name=name,
        task="binary" if len(classes) == 2 else "multi",
        n_rows=len(y),
        n_features=len(features),
        content_hash=made.content_hash,
        missing="mean" if gaps else "none",
        label=label,
        features=features,
        categorical=tuple(
            feature
            for feature, value in zip(features, values, strict=True)
            if isinstance(value, pd.Categorical)
        ),
        classes=classes,
        files={},
        layout=Layout(columns=tuple(columns)),
        sources=(),
        citation="",
        licence="",
        link="",
    )
    return Dataset(record, made, "table")


def _named_columns(table: pd.DataFrame) -> dict[str, pd.Series]:
    """The columns by name; names that are no text become text."""
    if not isinstance(table, pd.DataFrame):
        raise ValueError(f"a pandas DataFrame is expected, not {type(table).__name__}")
    if table.columns.nlevels > 1:
        raise ValueError("the table has column names of several levels: join them first")
    names = [_spelled(name) for name in table.columns]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"several columns are called {', '.join(repeated)}: rename them")
    if len(table) < FEWEST_ROWS:
        raise ValueError(f"{len(table)} rows are too few; {FEWEST_ROWS} are needed at least")
    return {name: table.iloc[:, place] for place, name in enumerate(names)}


def _classes(target: pd.Series) -> tuple[tuple[ClassLabel, ...], NDArray[np.int64]]:
    """The classes in the order of their values, and the class index of each row."""
    known = target[target.notna()]
    if pd.api.types.is_float_dtype(target.dtype) and not (known % 1 == 0).all():
        raise ValueError(
            f"the target {target.name!r} holds fractions: this is about classes; cut it into "
            "ranges, or turn it into text if each number is a class"
        )
    distinct = known.unique().tolist()
    try:
        distinct.sort()
    except TypeError:  # values of several types
        distinct.sort(key=str)
    names = [_spelled(value) for value in distinct]
    if len(set(names)) < len(names):
        raise ValueError(f"the target {target.name!r} has different values that read the same")
    if not 2 <= len(names) <= MOST_CLASSES:
        raise ValueError(
            f"the target {target.name!r} has {len(names)} classes; 2 to {MOST_CLASSES} are possible"
        )
    if int(HELD_OUT_SHARE * len(known)) < len(names):
        raise ValueError(
            f"{len(known)} rows with a class are too few for {len(names)} classes: "
            "each part should be able to have every class"
        )
    y = target.map(dict(zip(distinct, range(len(distinct)), strict=True)))
    indices = np.asarray(y.astype("Float64").fillna(-1), dtype=np.int64)
    counts = np.bincount(indices[indices >= 0], minlength=len(names))
    counts[counts.argmax()] += int((indices < 0).sum())  # as records count missing labels
    labels = tuple(
        ClassLabel(name, (name,), int(rows)) for name, rows in zip(names, counts, strict=True)
    )
    return labels, indices


def _column(name: str, column: pd.Series) -> NDArray[np.float64] | pd.Categorical:
    """Numbers with NaN, or categories as text, as the canonical table has them."""
    if not _holds_numbers(name, column):
        texts = column.astype(object).map(_spelled, na_action="ignore")
        texts = texts.where(texts.notna(), None)
        levels = sorted({text for text in texts if text is not None})
        return pd.Categorical(texts, categories=pd.Index(levels, dtype=object))
    numbers = pd.to_numeric(column).to_numpy(dtype=np.float64, na_value=np.nan)
    if np.isinf(numbers).any():
        raise ValueError(f"column {name!r} holds infinite values: replace them or leave them out")
    return canonical_numbers(numbers)


def _holds_numbers(name: str, column: pd.Series) -> bool:
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind in ("datetime64", "datetime", "date", "timedelta64", "timedelta", "time", "period"):
        raise ValueError(f"column {name!r} holds {kind} values: turn them into numbers first")
    if kind in ("complex", "bytes", "interval"):
        raise ValueError(f"column {name!r} holds {kind} values, which no learner understands")
    if isinstance(column.dtype, pd.CategoricalDtype):
        return False
    numbers = ("integer", "floating", "mixed-integer-float", "decimal", "boolean", "empty")
    return kind in numbers


def _spelled(value: Any) -> str:
    """One spelling per value: the number 8 is "8", whether stored as 8 or as 8.0."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).encode("utf-8", "backslashreplace").decode()  # files hold no lone surrogates
