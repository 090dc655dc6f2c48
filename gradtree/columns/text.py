"""Numbers and dates that are written as text, and text that only names rows."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from numbers import Real
from typing import Any, Literal

import numpy as np

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
# A number is not written so, but the code of a place or a product is.
CODE = re.compile(r"[+-]?0\d+")
DATES = (
    (re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d.*)?"), None),
    (re.compile(r"\d{4}/\d\d/\d\d"), "%Y/%m/%d"),
    (re.compile(r"\d\d\.\d\d\.\d{4}"), "%d.%m.%Y"),
)
"""Dates whose day and month cannot be confused; others stay text."""

# What people write where a value is missing.
GAPS = frozenset(["", "?", "-", "na", "n/a", "nan", "null", "none", "unknown", "missing", "nat"])
# A column is one of numbers or dates if at least so many different values are, and of the others
# there is one, or no more than this share, words for gaps not counted.
LEAST_READ, MOST_OTHERS = 3, 0.05

# Text with more values than this share of the rows names rows and says nothing of others.
NAMING_SHARE = 0.5
NAMING_LEVELS = 20


def number_of(text: str) -> float | None:
    text = text.strip()
    return float(text) if NUMBER.fullmatch(text) else None


def date_of(text: str) -> datetime | None:
    text = text.strip()
    for shape, order in DATES:
        if shape.fullmatch(text):
            try:
                return datetime.strptime(text, order) if order else datetime.fromisoformat(text)
            except ValueError:
                return None
    return None


def is_gap(text: str) -> bool:
    """Whether a text says that a value is missing."""
    return text.strip().lower() in GAPS


READERS: dict[str, Callable[[str], Any]] = {"number": number_of, "date": date_of}


def reading_of(cells: Iterable[Any]) -> Literal["number", "date"] | None:
    """What all but a few of the cells are, some as text, ``None`` if they are just text."""
    different = set(cells)
    texts = {cell for cell in different if isinstance(cell, str)}
    if any(CODE.fullmatch(text.strip()) for text in texts):
        return None
    kinds: tuple[Literal["number", "date"], ...] = ("number", "date")
    for kind in kinds:
        if not all(_is_already(kind, cell) for cell in different - texts):
            continue
        others = [text for text in texts if READERS[kind](text) is None]
        words = [text for text in others if not is_gap(text)]
        enough = len(different) - len(others) >= LEAST_READ
        if enough and len(words) <= max(1, MOST_OTHERS * len(different)):
            return kind
    return None


def _is_already(kind: str, cell: Any) -> bool:
    """Whether a cell that is no text is a number, or a date."""
    if kind == "date":
        return isinstance(cell, date | np.datetime64)
    return isinstance(cell, Real | Decimal) and not isinstance(cell, bool | np.bool_)


def unread(cells: Sequence[Any], kind: str) -> Counter[str]:
    """Texts that are no numbers, or no dates, and how many rows have them."""
    read = READERS[kind]
    different = Counter(cell for cell in cells if isinstance(cell, str))
    return Counter({text: n for text, n in different.items() if read(text) is None})


def why_naming(levels: int, rows: int) -> str | None:
    """Why a column of text cannot help with new rows, ``None`` if it may."""
    if levels > max(NAMING_LEVELS, NAMING_SHARE * rows):
        return f"text that differs between most rows, {levels} values"
    return None
