"""Where to cut a column of numbers or dates so that the cut reads well, and numbers as printed.

A cut between two values of a table is the shortest decimal number near their middle, or the
roundest date: what is printed is what is compared.
"""

from datetime import timedelta

import numpy as np

from gradtree.columns.coding import Kind

DAY = 86_400_000_000
# Of predicted numbers, and of thresholds over a plain matrix.
DIGITS = 4
# Microseconds of the units that a date may be rounded to: days, hours, minutes, ...
ROUND_DATES = (DAY, DAY // 24, DAY // 1440, 1_000_000, 1_000, 1)


def cut_between(low: float, high: float, kind: Kind = "number") -> float:
    """A number ``t`` with ``low <= t < high`` that takes few characters to print.

    Where ``float32`` can tell the two ends apart, it can tell them apart by ``t`` too.
    """
    if kind == "number":
        return _short_number(low, high)
    middle = low / 2 + high / 2
    for unit in ROUND_DATES:
        moment = np.floor(middle / unit) * unit
        if low <= moment < high:
            return float(moment)
    return low


def cut_text(cut: float, kind: Kind = "number") -> str:
    """A cut as it is printed, exactly."""
    if kind == "date":
        moment = np.datetime64(int(cut), "us")
        whole = cut % DAY == 0
        return str(moment.astype("datetime64[D]")) if whole else _clock(str(moment))
    if kind == "duration":
        return str(timedelta(microseconds=int(cut)))
    if cut == 0 or 1e-4 <= abs(cut) < 1e15:
        return np.format_float_positional(cut, trim="-")
    return repr(float(cut))


def _clock(text: str) -> str:
    day, time = text.split("T")
    return f"{day} {time.rstrip('0').rstrip('.') if '.' in time else time}"


def _short_number(low: float, high: float) -> float:
    middle = low / 2 + high / 2
    if low == np.floor(low) and high == np.floor(high) and low <= np.floor(middle) < high:
        return float(np.floor(middle))
    for may_be_fine in (False, True):
        for digits in range(1, 18):
            short = float(f"{middle:.{digits}g}")
            if low < short < high and (may_be_fine or not too_fine(low, short, high)):
                return short
    return middle if low <= middle < high else low


def too_fine(low: float, cut: float, high: float) -> bool:
    """Whether ``float32`` loses the difference between the sides of a cut."""
    with np.errstate(over="ignore"):
        ends = np.array([low, cut, high]).astype(np.float32)
    return not (np.isfinite(ends).all() and ends[0] <= ends[1] < ends[2])


def number_text(number: float, digits: int = DIGITS) -> str:
    """Significant digits without trailing zeros; what is next to nothing is 0."""
    if abs(number) < np.finfo(np.float32).tiny:
        return "0"
    rounded = float(f"{number:.{digits}g}")
    if 1e-4 <= abs(rounded) < 1e15:
        return np.format_float_positional(rounded, trim="-")
    return f"{number:.{digits}g}"
