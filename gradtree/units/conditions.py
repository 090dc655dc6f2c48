"""What a split says about one column of a table, in words a person can check.

A condition is one side of a split: an interval of a numeric column or a set of
categories. Conditions on the same column can be joined with ``&``, printed
with ``str`` and evaluated on raw values with ``holds``.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Longer category lists are printed by what they leave out, or cut off.
LISTED = 6

# A side of a split that no raw value can take.
NOTHING = "nothing that occurs"


@dataclass(frozen=True)
class Interval:
    """``low < x <= high`` in a numeric column.

    Attributes
    ----------
    column : str
        Name of the column.
    low, high : float
        Exact bounds; infinite where there is none.
    low_text, high_text : str
        The bounds as printed, which may be rounded.
    missing : bool
        Whether a missing value fulfils the condition.
    tell_missing : bool
        Whether the text should say what happens to missing values.
    """

    column: str
    low: float = -np.inf
    high: float = np.inf
    low_text: str = ""
    high_text: str = ""
    missing: bool = False
    tell_missing: bool = False

    def holds(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Which of the raw values fulfil the condition."""
        numbers = as_numbers(values)
        inside = (numbers > self.low) & (numbers <= self.high)
        return np.where(np.isnan(numbers), self.missing, inside)

    def __and__(self, other: Interval) -> Interval:
        low, high = self, self
        if other.low > self.low:
            low = other
        if other.high < self.high:
            high = other
        return replace(
            self,
            low=low.low,
            low_text=low.low_text,
            high=high.high,
            high_text=high.high_text,
            missing=self.missing and other.missing,
            tell_missing=self.tell_missing or other.tell_missing,
        )

    def __str__(self) -> str:
        if np.isfinite(self.low) and np.isfinite(self.high):
            between = f"{self.low_text} < {self.column} <= {self.high_text}"
            return f"{between} or missing" if self._adds_missing else between
        verb = "" if np.isfinite([self.low, self.high]).any() else "is "
        return f"{self.column} {verb}{self.brief}"

    @property
    def brief(self) -> str:
        """The condition without the name of the column."""
        if self.low == np.inf or self.high == -np.inf:
            return "missing" if self.missing else NOTHING
        upper = f"<= {self.high_text}" if np.isfinite(self.high) else ""
        lower = f"> {self.low_text}" if np.isfinite(self.low) else ""
        if not upper and not lower:
            return "anything" if self.missing else "known"
        text = f"{lower} and {upper}" if upper and lower else upper or lower
        return f"{text} or missing" if self._adds_missing else text

    @property
    def _adds_missing(self) -> bool:
        return self.missing and self.tell_missing


@dataclass(frozen=True)
class Membership:
    """``x`` is one of some categories.

    Attributes
    ----------
    column : str
        Name of the column.
    members, others : tuple
        Known categories inside and outside, in printing order.
    missing : bool
        Whether a missing value fulfils the condition.
    unseen : bool
        Whether categories unknown in training fulfil it.
    tell_missing : bool
        Whether the text should count ``missing`` as a category.
    """

    column: str
    members: tuple[Hashable, ...]
    others: tuple[Hashable, ...]
    missing: bool = False
    unseen: bool = False
    tell_missing: bool = False

    def holds(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Which of the raw values fulfil the condition."""
        answers = dict.fromkeys(self.members, True) | dict.fromkeys(self.others, False)
        cells = np.asarray(values, dtype=object)
        return np.array(
            [
                self.missing if is_missing(cell) else answers.get(cell, self.unseen)
                for cell in cells
            ],
            dtype=bool,
        )

    def __and__(self, other: Membership) -> Membership:
        members = tuple(m for m in self.members if m in other.members)
        outside = (*self.others, *(m for m in self.members if m not in members))
        return replace(
            self,
            members=members,
            others=outside,
            missing=self.missing and other.missing,
            unseen=self.unseen and other.unseen,
            tell_missing=self.tell_missing or other.tell_missing,
        )

    def __str__(self) -> str:
        inside, outside = self._names()
        if not inside or (not outside and self._takes_all):
            return f"{self.column} is {self.brief}"
        if len(inside) == 1:
            return f"{self.column} = {inside[0]}"
        if len(inside) > LISTED > len(outside):
            return f"{self.column} {self.brief}"
        return f"{self.column} in {braces(inside)}"

    @property
    def brief(self) -> str:
        """The condition without the name of the column."""
        inside, outside = self._names()
        if not inside:
            beyond = "a new category" if self.unseen else NOTHING
            return "missing" if self.missing else beyond
        if not outside and self._takes_all:
            return "anything"
        if len(inside) > LISTED > len(outside):
            return f"not in {braces(outside)}" if len(outside) != 1 else f"is not {outside[0]}"
        return inside[0] if len(inside) == 1 else ", ".join(shortened(inside))

    @property
    def _takes_all(self) -> bool:
        return self.missing and self.unseen and not self.others

    def _names(self) -> tuple[list[str], list[str]]:
        """Categories inside and outside, as printed."""
        inside = [as_text(member) for member in self.members]
        outside = [as_text(member) for member in self.others]
        if self.tell_missing:
            (inside if self.missing else outside).append("missing")
        return inside, outside


Condition = Interval | Membership


@dataclass(frozen=True)
class Split:
    """Both sides of an inner node of a tree."""

    left: Condition
    right: Condition

    @property
    def column(self) -> str:
        return self.left.column

    @property
    def border(self) -> tuple[float, str] | None:
        """Exact and printed border of a numeric split."""
        if isinstance(self.left, Membership):
            return None
        if np.isfinite(self.left.high):
            return self.left.high, self.left.high_text
        return (self.left.low, self.left.low_text) if np.isfinite(self.left.low) else None

    def printed(self, text: str) -> Split:
        """The same numeric split with its border printed in another way."""
        return Split(_printed(self.left, text), _printed(self.right, text))


def _printed(side: Condition, text: str) -> Condition:
    if isinstance(side, Membership):
        return side
    low_text = text if np.isfinite(side.low) else side.low_text
    return replace(
        side, low_text=low_text, high_text=text if np.isfinite(side.high) else side.high_text
    )


def numeric_split(
    column: str,
    threshold: float,
    text: str,
    *,
    missing_left: bool = False,
    tell_missing: bool = False,
) -> Split:
    """Values up to a threshold to the left, larger ones to the right."""
    side = Interval(column, tell_missing=tell_missing)
    return Split(
        left=replace(side, high=threshold, high_text=text, missing=missing_left),
        right=replace(side, low=threshold, low_text=text, missing=not missing_left),
    )


def category_split(
    column: str,
    left: tuple[Hashable, ...],
    right: tuple[Hashable, ...],
    *,
    missing_left: bool,
    unseen_left: bool,
    tell_missing: bool,
) -> Split:
    """Some categories to the left, the others to the right."""
    return Split(
        left=Membership(column, left, right, missing_left, unseen_left, tell_missing),
        right=Membership(column, right, left, not missing_left, not unseen_left, tell_missing),
    )


def as_numbers(values: Any) -> NDArray[np.float64]:
    """``float64`` with ``nan`` for what is missing, also from pandas' nullable columns."""
    if hasattr(values, "to_numpy"):
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(values, dtype=np.float64)


def is_missing(cell: Any) -> bool:
    """``None``, ``nan``, ``NaT`` and pandas' ``NA``."""
    return cell is None or type(cell).__name__ == "NAType" or cell != cell


def as_text(category: Hashable) -> str:
    """A category as people write it: whole numbers without a decimal point, no edge blanks."""
    if isinstance(category, float | np.floating) and float(category).is_integer():
        return str(int(category))
    return str(category).strip() or repr(str(category))


def shortened(names: list[str]) -> list[str]:
    return names if len(names) <= 2 * LISTED else [*names[: 2 * LISTED], "…"]


def braces(names: list[str]) -> str:
    return "{" + ", ".join(shortened(names)) + "}"
