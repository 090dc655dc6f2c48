"""Numbers as people read them: no more digits than the rows at hand need."""

from __future__ import annotations

from collections import Counter

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


def border_texts(
    borders: NDArray[np.float64], cells: NDArray[np.float64] | None, digits: int
) -> list[str]:
    """Different texts for different borders of one column, as short as can be."""
    texts = [border_text(border, cells, digits) for border in borders]
    for precision in range(digits, 18):
        doubled = [text for text, times in Counter(texts).items() if times > 1]
        texts = [
            number_text(border, precision) if text in doubled else text
            for border, text in zip(borders, texts, strict=True)
        ]
        if not doubled:
            break
    return texts


def border_text(border: float, cells: NDArray[np.float64] | None, digits: int) -> str:
    """A border with as few digits as separate the cells below from those above."""
    if cells is None or not np.isfinite(border):
        return number_text(border, digits)
    below, above = cells[cells <= border], cells[cells > border]
    low = below.max() if below.size else -np.inf
    high = above.min() if above.size else np.inf
    known = cells[~np.isnan(cells)]
    if known.size and np.all(known == np.floor(known)) and low <= np.floor(border):
        return number_text(np.floor(border), 17)
    if low <= 0 < high and abs(border) < NEXT_TO_NOTHING * np.abs(known).max():
        return "0"
    for precision in range(min(digits, 2), 17):
        text = number_text(border, precision)
        if low <= float(text) < high:
            return text
    return repr(float(border))
