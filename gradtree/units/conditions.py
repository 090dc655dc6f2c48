"""What a split says about one column of a table, in words a person can check.

A condition is one side of a split: an interval of a column of numbers or dates, or a
set of categories. Conditions on the same column can be joined with ``&``, printed
with ``str`` and evaluated on raw values with ``holds``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradtree.columns.coding import Category, Column
from gradtree.typing import Flags

# Longer category lists are printed by what they leave out, or cut off in drawings and text.
LISTED = 6
# Categories of these names are quoted, to tell them from what the words mean here.
TAKEN = ("missing", "anything", "known", "a new category")

# A side of a split that no raw value can take.
NOTHING = "nothing that occurs"


@dataclass(frozen=True)
class Interval:
    """``low < x <= high`` in a column of numbers or dates; infinite where there is no bound."""

    source: Column
    low: float = -np.inf
    high: float = np.inf
    low_text: str = ""  # the bounds as printed
    high_text: str = ""
    missing: bool = False  # a missing value fulfils the condition

    @property
    def column(self) -> str:
        return self.source.name

    def holds(self, values: Any) -> Flags:
        """Which of the raw values fulfil the condition."""
        numbers = self.source.coded(values)
        number = numbers.dtype.type
        with np.errstate(over="ignore"):
            inside = ~(numbers <= number(self.low)) & (numbers <= number(self.high))
        return np.where(np.isnan(numbers), self.missing, inside)

    def __and__(self, other: Interval) -> Interval:
        low = other if other.low > self.low else self
        high = other if other.high < self.high else self
        missing = self.missing and other.missing
        return Interval(self.source, low.low, high.high, low.low_text, high.high_text, missing)

    def __str__(self) -> str:
        if np.isfinite([self.low, self.high]).all():
            return f"{self.low_text} < {self.column} <= {self.high_text}{self._or_missing}"
        verb = "" if np.isfinite([self.low, self.high]).any() else "is "
        return f"{self.column} {verb}{self.brief}"

    short = property(__str__)
    """The condition as a line of text shows it."""

    @property
    def brief(self) -> str:
        """The condition without the name of the column."""
        if self.low >= self.high:
            return "missing" if self.missing else NOTHING
        lower = [f"> {self.low_text}"] if np.isfinite(self.low) else []
        upper = [f"<= {self.high_text}"] if np.isfinite(self.high) else []
        if not lower and not upper:
            return "anything" if self.missing else "known"
        return " and ".join(lower + upper) + self._or_missing

    @property
    def _or_missing(self) -> str:
        return " or missing" if self.missing and self.source.gaps else ""


@dataclass(frozen=True)
class Membership:
    """``x`` is one of some categories."""

    source: Column
    members: tuple[Category, ...]  # that fulfil the condition, in printing order
    possible: tuple[Category, ...]  # that may come at all, given the conditions above
    missing: bool = False  # a gap fulfils it, or a category that training did not see
    missing_possible: bool = True  # such values may come at all

    @property
    def column(self) -> str:
        return self.source.name

    def holds(self, values: Any) -> Flags:
        """Which of the raw values fulfil the condition."""
        codes = self.source.coded(values)
        answers = np.array([*(c in self.members for c in self.source.categories), self.missing])
        return answers[np.where(np.isnan(codes), len(answers) - 1, codes).astype(np.intp)]

    def __and__(self, other: Membership) -> Membership:
        return replace(
            other,
            members=tuple(m for m in other.members if m in self.members),
            possible=tuple(m for m in other.possible if m in self.members),
            missing=self.missing and other.missing,
            missing_possible=self.missing,
        )

    def __str__(self) -> str:
        return self._told(len(self.possible) + 1)

    @property
    def short(self) -> str:
        """The condition as a line of text shows it: of many categories, the first."""
        return self._told(2 * LISTED)

    def _told(self, most: int) -> str:
        inside, outside = self._names()
        if not inside or not outside:
            return f"{self.column} is {self.brief}"
        if len(inside) == 1:
            return f"{self.column} = {inside[0]}"
        if len(inside) > LISTED > len(outside):
            return f"{self.column} {self.brief}"
        return f"{self.column} in {{{_listed(inside, most)}}}"

    @property
    def brief(self) -> str:
        """The condition without the name of the column."""
        inside, outside = self._names()
        if not inside:
            return "a new category" if self.missing else NOTHING
        if not outside:
            return "anything"
        if len(inside) > LISTED > len(outside) > 1:
            return f"not in {{{', '.join(outside)}}}"
        if len(inside) > LISTED > len(outside):
            return f"is not {outside[0]}"
        return _listed(inside, 2 * LISTED)

    def _names(self) -> tuple[list[str], list[str]]:
        inside = [as_text(member) for member in self.members]
        outside = [as_text(other) for other in self.possible if other not in self.members]
        if self.source.gaps and self.missing_possible:
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


def number_split(source: Column, threshold: float, text: str, missing_left: bool) -> Split:
    """Values up to a threshold to the left, larger ones to the right."""
    return Split(
        Interval(source, high=threshold, high_text=text, missing=missing_left),
        Interval(source, low=threshold, low_text=text, missing=not missing_left),
    )


def category_split(source: Column, left: Flags, missing_left: bool) -> Split:
    every, goes = source.categories, left[: len(source.categories)]
    return Split(
        Membership(source, source.some(goes), every, missing_left),
        Membership(source, source.some(~goes), every, not missing_left),
    )


def joined(above: Condition | None, condition: Condition) -> Condition:
    """A condition under another one on the same column."""
    return condition if above is None else above & condition  # type: ignore[operator]


def alone(condition: Condition) -> Condition:
    """A condition that is printed without those above it."""
    if isinstance(condition, Interval):
        return condition
    return replace(condition, possible=condition.source.categories, missing_possible=True)


def as_text(category: Category) -> str:
    """A category as people write it: whole numbers without a decimal point, no edge blanks.

    Quoted where it would be read as something else.
    """
    if isinstance(category, float) and category.is_integer():
        return str(int(category))
    text = str(category).strip()
    return repr(str(category)) if not text or text in TAKEN or ", " in text else text


def _listed(names: list[str], most: int) -> str:
    shown = names if len(names) <= most else [*names[:most], f"… {len(names) - most} more"]
    return ", ".join(shown)
