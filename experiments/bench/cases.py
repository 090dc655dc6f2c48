"""The problem sizes that are timed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

Axis = Literal["depth", "features", "samples", "classes"]
AXES: tuple[Axis, ...] = ("depth", "features", "samples", "classes")


@dataclass(frozen=True)
class Case:
    """One problem size.

    Attributes
    ----------
    name : what tables call it.
    depth, features, samples, classes : its size; ``samples`` counts training rows.
    valid_samples : rows on which the loss is evaluated after every epoch.
    epochs : epochs per fit, the same for every engine.
    batch_size : rows per batch, the same for every engine.
    """

    name: str
    depth: int
    features: int
    samples: int
    classes: int
    valid_samples: int
    epochs: int = 4
    batch_size: int = 128

    def size(self, axis: Axis) -> int:
        """How large the case is along an axis."""
        return int(getattr(self, axis))


NAMED = {
    "banknote": Case("Banknote size", 10, 4, 823, 2, 274),
    "spambase": Case("Spambase size", 10, 57, 2761, 2, 920),
}
"""Training and validation rows as in the paper's splits of the two datasets, at depth 10."""

_BASE = Case("base", 6, 20, 2_000, 2, 500)
_SIZES: dict[Axis, tuple[int, ...]] = {
    "depth": (2, 4, 6, 8, 10, 12),
    "features": (4, 10, 30, 100, 300, 1_000),
    "samples": (1_000, 10_000, 100_000, 1_000_000),
    "classes": (2, 4, 8, 16, 26),
}
_QUICK_SIZES: dict[Axis, tuple[int, ...]] = {
    "depth": (2, 4, 6, 8),
    "features": (4, 20, 100),
    "samples": (1_000, 5_000, 20_000),
    "classes": (2, 8, 26),
}


def along(axis: Axis, sizes: Sequence[int]) -> tuple[Case, ...]:
    """The base case with one of its sizes varied."""
    cases = (replace(_BASE, name=f"{axis} {size:,}", **{axis: size}) for size in sizes)
    return tuple(replace(case, valid_samples=case.samples // 4) for case in cases)


def grid(axis: Axis, *, quick: bool = False) -> tuple[Case, ...]:
    """The cases of an axis, smallest first."""
    return along(axis, (_QUICK_SIZES if quick else _SIZES)[axis])
