"""Test predictions and trees, kept beside the records: a new metric then needs no new run."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.core.record import RunRecord

FOLDER = "predictions"


def pack(
    truth: NDArray[np.int64],
    predicted: NDArray[np.int64],
    proba: NDArray[np.float64],
    tree: Mapping[str, Any] | None = None,
) -> bytes:
    """Truth, predicted labels, probabilities (and the tree) of one job as a compressed ``.npz``."""
    arrays: dict[str, NDArray[np.generic]] = {
        "truth": truth.astype(np.int16),
        "predicted": predicted.astype(np.int16),
        "proba": proba.astype(np.float32),
    }
    for name, part in (tree or {}).items():
        arrays[f"tree_{name}"] = np.asarray(part)
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
