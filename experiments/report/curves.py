"""Training histories kept for the figure of training curves: one JSON file for all of them.

``<folder>/curves.json`` is a list of runs as in :class:`experiments.figures.training.Curve`,
in the order in which they are drawn. Losses are kept to five significant digits.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from experiments.figures.training import Curve
from experiments.tables.files import write_files

FILE = "curves.json"
DIGITS = 5


def write_curves(folder: Path, curves: Sequence[Curve]) -> Path:
    content = [asdict(_rounded(curve)) for curve in curves]
    write_files(folder, {FILE: json.dumps(content, separators=(",", ":"), allow_nan=False) + "\n"})
    return folder / FILE


def read_curves(folder: Path) -> list[Curve]:
    """The stored histories; none if there is no such file."""
    path = folder / FILE
    if not path.exists():
        return []
    return [Curve(**run) for run in json.loads(path.read_text(encoding="utf-8"))]


def _rounded(curve: Curve) -> Curve:
    return replace(curve, train=_short(curve.train), valid=_short(curve.valid))


def _short(losses: Sequence[float]) -> list[float]:
    return [float(f"{loss:.{DIGITS}g}") for loss in losses]
