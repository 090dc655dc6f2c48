"""Numbers as people read them: no more digits than the rows at hand need."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

# A border this small next to the values of its column is printed as 0 if the rows allow it.
NEXT_TO_NOTHING = 0.01


def number_text(number: float, digits: int) -> str:
    """Significant digits without trailing zeros; what is next to nothing is 0."""
    if abs(number) < np.finfo(np.float32).tiny:
        return "0"
    rounded = float(f"{number:.{digits}g}")
    if 1e-4 <= abs(rounded) < 1e15:
        return np.format_float_positional(rounded, trim="-")
    return f"{number:.{digits}g}"


def border_text(border: float, cells: NDArray[np.float64] | None, digits: int) -> str:
    """A border with as few digits as separate the cells below from those above."""
    if cells is None or not np.isfinite(border):
        return number_text(border, digits)
    known = cells[~np.isnan(cells)]
    low = known[known <= border].max(initial=-np.inf)
    high = known[known > border].min(initial=np.inf)
    if known.size and np.all(known == np.floor(known)) and low <= np.floor(border):
        return number_text(np.floor(border), 17)
    if low <= 0 < high and abs(border) < NEXT_TO_NOTHING * np.abs(known).max():
        return "0"
    for precision in range(min(digits, 2), 17):
        for number in (border, *_neighbours(border, precision)):
            text = number_text(number, precision)
            if low <= float(text) < high:
                return text
    return repr(float(border))


def _neighbours(number: float, digits: int) -> tuple[float, float]:
    """The numbers of so many significant digits below and above."""
    unit = 10.0 ** (np.floor(np.log10(abs(number))) - digits + 1) if number else 0.0
    return number - unit, number + unit


def distinct_text(number: float, taken: Collection[str], digits: int) -> str:
    """A number with as many digits as make it look different from others."""
    texts = (number_text(number, precision) for precision in range(digits, 18))
    return next((text for text in texts if text not in taken), repr(float(number)))
