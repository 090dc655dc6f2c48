"""What the columns of a table are, and the table as numbers.

A table is coded as a matrix: numbers as they are, dates and durations in microseconds, categories
as positions among those of training; what is missing is ``nan``, and so is a category not seen.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any, Literal, Self
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from gradtree.columns.frames import RawColumn, objects, read_column
from gradtree.columns.text import READERS, is_gap, reading_of, unread, why_naming
from gradtree.typing import Array, Flags, Floats, Places

Category = str | int | float | bool
Kind = Literal["number", "category", "date", "duration"]
PLAIN = (str, bool, int, float)
CONTAINERS = "column {!r} holds lists or other containers; make columns of their parts"


@dataclass(frozen=True)
class Column:
    """One column of the table that a tree was grown on."""

    name: str
    kind: Kind = "number"
    # Those of the training rows, in order. Of numbers and dates that were written as text: the
    # texts that are neither, and count as missing.
    categories: tuple[Category, ...] = ()
    as_text: bool = False  # categories are compared as text, because they are of several types
    gaps: bool = False  # values were missing in training
    fine: bool = False  # some of its numbers differ by less than float32 can tell
    ordered: bool = False  # the order of the categories has a meaning, which splits then keep
    from_text: bool = False  # its numbers or dates were written as text
    left_out: str = ""  # why the column is not used; empty if it is

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"categories": list(self.categories)}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        return cls(**(content | {"categories": tuple(content["categories"])}))

    def some(self, chosen: Flags) -> tuple[Category, ...]:
        return tuple(c for c, taken in zip(self.categories, chosen, strict=True) if taken)

    def coded(self, values: Any) -> NDArray[np.floating[Any]]:
        """Raw values as numbers; see the module. Values of another kind are refused."""
        given = values if isinstance(values, RawColumn) else read_column(self.name, values)
        if self.left_out:
            return np.full(len(given), np.nan)
        if self.kind == "category":
            return self._positions(given)
        if self.from_text and given.values.dtype.kind in "OUT":
            given = RawColumn(self.name, self._read(given.cells))
        if self.kind == "number":
            return _numbers(given.cells, self.name)
        return _microseconds(given, self.kind)

    def _read(self, cells: Array) -> Array:
        """Numbers or dates of text; what is neither counts as missing, with a warning."""
        read = READERS[self.kind]
        known = {cell: read(cell) for cell in set(cells.tolist()) if isinstance(cell, str)}
        odd = [text for text, value in known.items() if value is None and not is_gap(text)]
        if odd and not set(odd) <= set(self.categories):
            warn(
                f"column {self.name!r}: {', '.join(map(repr, sorted(odd)[:3]))} "
                f"{'is' if len(odd) == 1 else 'are'} no {self.kind} and counts as missing",
                stacklevel=2,
            )
        return objects([known.get(cell) if isinstance(cell, str) else cell for cell in cells])

    def _positions(self, given: RawColumn) -> Floats:
        places: dict[Any, float] = {category: i for i, category in enumerate(self.categories)}
        if given.levels is None and given.values.dtype.kind != "O":
            different, inverse = np.unique(given.values, return_inverse=True)
            levels = different.tolist()
        elif given.levels is None:
            found_at: dict[Any, int] = {}
            cells = given.values.tolist()
            try:
                inverse = np.array([found_at.setdefault(c, len(found_at)) for c in cells])
            except TypeError as error:
                raise ValueError(CONTAINERS.format(self.name)) from error
            levels = list(found_at)
        else:
            levels, inverse = [*given.levels, None], given.values
        known = [level for level in levels if not is_missing(level)]
        if self.as_text:
            levels = [None if is_missing(level) else str(level) for level in levels]
        else:
            self._check_family(known)
        found = np.array([places.get(level, np.nan) for level in levels], dtype=np.float64)
        codes = found[inverse] if len(inverse) else np.empty(0)
        gaps = np.array([is_missing(level) for level in levels], dtype=bool)[inverse]
        if self.categories and np.isnan(codes).all() and not gaps.all():
            warn(
                f"column {self.name!r} holds only categories that training did not see, such as "
                f"{known[0]!r}; all rows are treated as if it were missing",
                stacklevel=2,
            )
        return codes

    def _check_family(self, known: Sequence[Any]) -> None:
        """Refuse what can be none of the categories, such as numbers where those are text."""
        trained = {_family(category) for category in self.categories}
        found = {_family(level) for level in known}
        if trained and not found <= trained:
            before, now = (" or ".join(sorted(kinds)) for kinds in (trained, found - trained))
            raise ValueError(
                f"column {self.name!r} held {before} as categories in training, but holds {now} "
                "now; convert it to what it was"
            )


def learn_columns(
    raw: Sequence[RawColumn], rows: Places, categorical: Sequence[bool]
) -> tuple[Column, ...]:
    """What the columns hold, by their types and by the rows that the tree is trained on.

    Some columns are categorical whatever their type. Numbers and dates that are written as text are
    read as such, and columns of text that differs between most rows are left out, with a warning.
    """
    columns = tuple(_learned(c, rows, chosen) for c, chosen in zip(raw, categorical, strict=True))
    told = [_told(column, given) for column, given in zip(columns, raw, strict=True)]
    done = "; ".join(words for words in told if words)
    if done:
        warn(f"{done}. Name columns in categorical_features to keep them as they are", stacklevel=7)
    if all(column.left_out for column in columns):
        raise ValueError(f"no column can be used: {done}")
    return columns


def _told(column: Column, given: RawColumn) -> str:
    """What was made of a column that its type does not say."""
    if column.left_out:
        return f"column {column.name!r} is left out ({column.left_out})"
    if not column.from_text:
        return ""
    gaps = unread(given.cells.tolist(), column.kind)
    words = f"column {column.name!r} is text and read as {column.kind}s"
    if not gaps:
        return words
    listed = ", ".join(repr(text) for text, _ in gaps.most_common(3))
    return f"{words} ({listed} as missing, in {gaps.total()} rows)"


def coded_matrix(raw: Sequence[RawColumn], columns: Sequence[Column]) -> Array:
    """A table as numbers, shape (n_rows, n_columns)."""
    coded = [column.coded(given) for given, column in zip(raw, columns, strict=True)]
    for column, numbers in zip(columns, coded, strict=True):
        # One pass over the numbers tells in most cases; only a sum that is none needs another.
        with np.errstate(over="ignore", invalid="ignore"):
            suspect = column.kind == "number" and not np.isfinite(numbers.sum())
        if suspect and np.isinf(numbers).any():
            raise ValueError(
                f"Input X contains infinity: column {column.name!r} has infinite values; "
                "replace them by nan or by a number"
            )
    matrix = np.empty((len(coded[0]), len(coded)), np.result_type(*coded), order="F")
    for place, numbers in enumerate(coded):
        matrix[:, place] = numbers
    return matrix


def _learned(column: RawColumn, rows: Places, chosen: bool) -> Column:
    kind = kind_of(column, chosen)
    if kind == "category" and not chosen and not column.categorical:
        known = [cell for cell in column.cells.tolist() if not is_missing(cell)]
        reading = reading_of(known)
        if reading is not None:
            odd = tuple(sorted(unread(known, reading)))
            read = Column(column.name, reading, odd, from_text=True)
            return replace(read, gaps=bool(np.isnan(read.coded(column.some(rows))).any()))
        why = why_naming(len(set(known)), len(known)) if column.values.dtype.kind == "O" else None
        if why is not None:
            return Column(column.name, "category", left_out=why)
    given = column.some(rows)
    if kind != "category":
        numbers = Column(column.name, kind).coded(given)
        return Column(column.name, kind, gaps=bool(np.isnan(numbers).any()))
    if column.levels is not None:
        seen = set(np.unique(given.values).tolist()) - {-1}
        known = [level for place, level in enumerate(column.levels) if place in seen]
        gaps = bool((given.values < 0).any())
    else:
        cells = given.values.tolist()
        known = [cell for cell in cells if not is_missing(cell)]
        gaps = len(known) < len(cells)
    types = {type(cell) for cell in known}
    as_text = len(types) > 1 or not all(issubclass(one, PLAIN) for one in types)
    if as_text:
        known = [str(cell) for cell in known]
    order = tuple(dict.fromkeys(known) if column.ordered else sorted(set(known)))
    return Column(column.name, "category", order, as_text, gaps, ordered=column.ordered)


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
    cells = column.values.tolist()
    types = {type(cell) for cell in cells if not is_missing(cell)}
    wholly: list[tuple[Kind, tuple[type, ...]]] = [
        ("number", (Real, Decimal)),
        ("date", (date, np.datetime64)),
        ("duration", (timedelta, np.timedelta64)),
    ]
    for name, accepted in wholly:
        if all(issubclass(t, accepted) and t not in (bool, np.bool_) for t in types):
            return name
    try:
        set(cells)
    except TypeError as error:
        raise ValueError(CONTAINERS.format(column.name)) from error
    return "category"


def is_missing(cell: Any) -> bool:
    """``None``, ``nan``, ``NaT`` and pandas' ``NA``."""
    if cell is None or type(cell).__name__ == "NAType":
        return True
    different = cell != cell
    return isinstance(different, bool | np.bool_) and bool(different)


def _family(category: Any) -> str:
    """The kind of things that a category may be equal to others of."""
    if isinstance(category, str):
        return "text"
    if isinstance(category, bool | np.bool_):
        return "truth values"
    if isinstance(category, Real | Decimal):
        return "numbers"
    return type(category).__name__


def _numbers(cells: Array, name: str) -> NDArray[np.floating[Any]]:
    if cells.dtype == np.float32:
        return cells
    if cells.dtype.kind in "iuf":
        return cells.astype(np.float64, copy=False)
    try:
        others = (str, bool, np.bool_)
        if cells.dtype.kind == "O" and not any(isinstance(cell, others) for cell in cells.tolist()):
            known = [np.nan if is_missing(cell) else float(cell) for cell in cells.tolist()]
            return np.array(known, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(
        f"column {name!r} held numbers in training, but holds {cells.dtype} now; convert it, for "
        "example with pandas.to_numeric or astype(float)"
    )


def _microseconds(given: RawColumn, kind: str) -> Floats:
    cells, code = given.cells, "datetime64[us]" if kind == "date" else "timedelta64[us]"
    if cells.dtype.kind in "fO" and all(map(is_missing, cells.tolist())):
        return np.full(len(cells), np.nan)
    if kind_of(replace(given, values=cells, levels=None, categorical=False)) != kind:
        raise ValueError(
            f"column {given.name!r} held {kind}s in training, but holds {cells.dtype} now; "
            "convert it, for example with pandas.to_datetime or pandas.to_timedelta"
        )
    if cells.dtype.kind == "O":
        plain = [None if is_missing(cell) else _without_zone(cell) for cell in cells.tolist()]
        cells = np.array(plain, dtype=code)
    moments = cells.astype(code)
    numbers = moments.astype(np.int64).astype(np.float64)
    numbers[np.isnat(moments)] = np.nan
    return numbers


def _without_zone(moment: Any) -> Any:
    if isinstance(moment, datetime) and moment.tzinfo is not None:
        return moment.astimezone(UTC).replace(tzinfo=None)
    return moment
