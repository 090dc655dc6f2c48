"""The canonical table: the same bytes for one dataset, whatever source it was read from.

A table is written as one line of JSON (row count and, per feature, ``null`` for a
number or the sorted categories), then the columns as little-endian arrays: ``float64``
for numbers (NaN = missing), ``int32`` category codes (-1 = missing), and last the
``int32`` class indices (-1 = missing label). In a regression, where the line also says
``"target":"number"``, these are ``float64`` instead. The SHA-256 of these bytes is the
content hash of the dataset; the cache stores the very bytes, so one check serves both.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from datasets.record import Record
from datasets.split import Target

_NUMBER: np.dtype[Any] = np.dtype("<f8")
_CODE: np.dtype[Any] = np.dtype("<i4")


@dataclass(frozen=True, eq=False)
class Table:
    """Feature columns, numbers or categories, and class indices or the numbers to predict."""

    columns: tuple[NDArray[np.float64] | pd.Categorical, ...]  # one per feature
    y: Target  # class index of each row, -1 where the label is missing; or float64 numbers

    def frame(self, names: Sequence[str]) -> pd.DataFrame:
        """The features as a data frame with the given column names."""
        return pd.DataFrame(dict(zip(names, self.columns, strict=True)))

    def to_bytes(self) -> bytes:
        header: dict[str, Any] = {
            "rows": len(self.y),
            "columns": [
                list(column.categories) if isinstance(column, pd.Categorical) else None
                for column in self.columns
            ],
        }
        numbers = self.y.dtype.kind == "f"
        if numbers:
            header["target"] = "number"
        parts = [json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"]
        for column in (*self.columns, self.y) if numbers else self.columns:
            if isinstance(column, pd.Categorical):
                parts.append(column.codes.astype(_CODE).tobytes())
            else:
                parts.append(canonical_numbers(column).astype(_NUMBER).tobytes())
        if not numbers:
            parts.append(self.y.astype(_CODE).tobytes())
        return b"".join(parts)

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """Inverse of :meth:`to_bytes`; the caller has verified the hash of ``content``."""
        line, _, body = content.partition(b"\n")
        header = json.loads(line)
        rows = int(header["rows"])
        kinds = [_CODE if levels is not None else _NUMBER for levels in header["columns"]]
        target = _NUMBER if header.get("target") == "number" else _CODE
        sizes = [rows * kind.itemsize for kind in (*kinds, target)]
        offsets = np.cumsum([0, *sizes])
        columns: list[NDArray[np.float64] | pd.Categorical] = []
        for levels, kind, offset in zip(header["columns"], kinds, offsets, strict=False):
            values = np.frombuffer(body, kind, rows, int(offset))
            if levels is None:
                columns.append(values.astype(np.float64))
            else:
                codes = values.astype(np.int32)
                columns.append(
                    pd.Categorical.from_codes(codes, categories=pd.Index(levels, dtype=object))
                )
        y = np.frombuffer(body, target, rows, int(offsets[-2]))
        return cls(tuple(columns), y.astype(np.int64 if target == _CODE else np.float64))

    @cached_property
    def content_hash(self) -> str:
        return hashlib.sha256(self.to_bytes()).hexdigest()


def canonical_numbers(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """One bit pattern per value: a single NaN, no negative zero."""
    clean = values + 0.0
    clean[np.isnan(clean)] = np.nan
    return clean


@dataclass(frozen=True, eq=False)
class Dataset:
    """Raw features and labels, verified, and where they came from.

    ``X`` holds one column per feature in the paper's order: ``float64`` numbers, or
    text categories as ``category`` columns; NaN where a value is missing. ``y`` holds
    class indices, -1 where the label is missing, or the numbers of a regression.
    """

    record: Record
    table: Table
    source: str

    @cached_property
    def X(self) -> pd.DataFrame:  # noqa: N802
        return self.table.frame(self.record.features)

    @property
    def y(self) -> Target:
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
