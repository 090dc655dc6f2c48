"""One way to say a number: CSV, LaTeX, Markdown, HTML and the terminal all ask here.

Each of them adds its own marks (bold, a sign for a gap, escapes), none of
them decides on digits. CSV keeps every digit, so that numbers read back
unchanged.
"""

from __future__ import annotations

import math

from experiments.analysis.model import Entry, SheetColumn, Statistic
from experiments.analysis.statistics import Contrast, Interval

P_DECIMALS = 4
SMALLEST_P = 10.0**-P_DECIMALS
NOT_A_NUMBER = "not a number"


def fixed(value: float, decimals: int, grouped: bool = False) -> str:
    """A number to so many digits; what rounds to nothing has no sign."""
    if not math.isfinite(value):
        return NOT_A_NUMBER
    text = f"{value:,.{decimals}f}" if grouped else f"{value:.{decimals}f}"
    return text.removeprefix("-") if not text.strip("-0.,") else text


def signed(value: float, decimals: int, grouped: bool = False) -> str:
    """A difference with its sign; what rounds to nothing has none."""
    text = fixed(value, decimals, grouped)
    return f"+{text}" if value > 0 and text.strip("0.,") and math.isfinite(value) else text


def p_value(value: float) -> str:
    """A p-value; a small one is not zero."""
    if 0 <= value < SMALLEST_P:
        return f"<{SMALLEST_P:.{P_DECIMALS}f}"
    return fixed(value, P_DECIMALS)


def p_phrase(value: float) -> str:
    """``p = 0.0123`` or ``p < 0.0001``, for a sentence."""
    text = p_value(value)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def interval(value: Interval, decimals: int = 3) -> str:
    """``+0.013 [-0.009, +0.036]``: a difference with the limits of its interval."""
    low, high = (signed(limit, decimals) for limit in (value.low, value.high))
    return f"{signed(value.estimate, decimals)} [{low}, {high}]"


def contrast(value: Contrast, decimals: int = 3) -> str:
    """An interval with wins, ties and losses, and the corrected p-value."""
    difference = interval(value.difference, decimals)
    return f"{difference}, {value.signs}, {p_phrase(value.p_adjusted)}"


def statistic(value: Statistic, decimals: int, grouped: bool = False) -> tuple[str, str]:
    """A summary figure and its spread; an empty text where there is none."""
    if value.value is None:
        return "", ""
    spread = "" if value.spread is None else fixed(value.spread, decimals, grouped)
    return fixed(value.value, decimals, grouped), spread


def entry(value: Entry, column: SheetColumn, grouped: bool = False) -> tuple[str, str]:
    """A field of a sheet as text, with the spread of a statistic beside it; empty for a gap."""
    if value is None:
        return "", ""
    if isinstance(value, Statistic):
        return statistic(value, column.decimals, grouped)
    if isinstance(value, str):
        return value, ""
    if column.kind == "p":
        return p_value(value), ""
    if column.kind == "change":
        return signed(value, column.decimals, grouped), ""
    if isinstance(value, int):
        return (f"{value:,}" if grouped else str(value)), ""
    return fixed(value, column.decimals, grouped), ""


def exact(value: str | float | None) -> str:
    """Every digit, for files that programs read; nothing for a gap."""
    return "" if value is None else str(value)
