"""Numbers as people read them: no more digits than the rows at hand need."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np


def number_text(number: float, digits: int) -> str:
    """Significant digits without trailing zeros; what is next to nothing is 0."""
    if abs(number) < np.finfo(np.float32).tiny:
        return "0"
    rounded = float(f"{number:.{digits}g}")
    if 1e-4 <= abs(rounded) < 1e15:
        return np.format_float_positional(rounded, trim="-")
    return f"{number:.{digits}g}"


def distinct_text(number: float, taken: Collection[str], digits: int) -> str:
    """A number with as many digits as make it look different from others."""
    texts = (number_text(number, precision) for precision in range(digits, 18))
    return next((text for text in texts if text not in taken), repr(float(number)))
