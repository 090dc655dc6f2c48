"""A loaded dataset: the raw table as the record describes it, before any protocol."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from datasets.record import Record
from datasets.table import Table


@dataclass(frozen=True, eq=False)
class Dataset:
    """Raw features and class indices, verified, and where they came from.

    ``X`` holds one column per feature in the paper's order: ``float64`` numbers, or
    text categories as ``category`` columns; NaN where a value is missing. ``y`` holds
    class indices, -1 where the label is missing.
    """

    record: Record
    table: Table
    source: str

    @cached_property
    def X(self) -> pd.DataFrame:  # noqa: N802
        return self.table.frame(self.record.features)

    @property
    def y(self) -> NDArray[np.int64]:
        return self.table.y

    @property
    def categorical(self) -> tuple[str, ...]:
        return self.record.categorical

    @property
    def slug(self) -> str:
        return self.record.slug

    @property
    def content_hash(self) -> str:
        return self.record.content_hash
