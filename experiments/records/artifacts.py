"""Test predictions and trees, kept beside the records: a new metric then needs no new run."""

from __future__ import annotations

import io
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from experiments.records.record import RunRecord
from experiments.running.measure import Measurement

if TYPE_CHECKING:
    from gradtree.trees.tree import Tree

FOLDER = "predictions"


def pack(measurement: Measurement, tree: Tree | None) -> bytes:
    """Truth, predicted labels, probabilities (and the tree) of one job as a compressed ``.npz``."""
    arrays: dict[str, NDArray[np.generic]] = {
        "truth": measurement.truth.astype(np.int16),
        "predicted": measurement.predicted.astype(np.int16),
        "proba": measurement.proba.astype(np.float32),
    }
    if tree is not None:
        for part in fields(tree):
            value = getattr(tree, part.name)
            if value is not None:
                arrays[f"tree_{part.name}"] = np.asarray(value)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def path_of(folder: Path, record: RunRecord) -> Path:
    return folder / FOLDER / record.protocol / record.dataset / f"{record.key}.npz"


def save(folder: Path, record: RunRecord, packed: bytes) -> None:
    """Write beside, then rename: a file that is there is whole."""
    path = path_of(folder, record)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part")
    beside.write_bytes(packed)
    beside.replace(path)


def load(folder: Path, record: RunRecord) -> dict[str, NDArray[np.generic]] | None:
    """The arrays of one record, or ``None`` where they were not kept."""
    path = path_of(folder, record)
    if not path.exists():
        return None
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def load_tree(folder: Path, record: RunRecord) -> Tree | None:
    """The canonical tree of one record, where it was kept."""
    from gradtree.trees.tree import Tree

    arrays = load(folder, record) or {}
    parts = {
        name.removeprefix("tree_"): value
        for name, value in arrays.items()
        if name.startswith("tree_")
    }
    if not parts:
        return None
    parts["n_features"] = int(parts["n_features"])  # type: ignore[assignment]
    return Tree(**parts)  # type: ignore[arg-type]
