"""Arrays by what they hold."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
"""Indices of classes."""
Places = NDArray[np.intp]
"""Positions of rows, columns or nodes."""

Names = Sequence[Any] | None
"""Of columns or classes."""
