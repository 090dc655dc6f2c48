"""Test predictions and trees, kept beside the records: a new metric then needs no new run.

While jobs run, each leaves ``predictions/<protocol>/<dataset>/<key>.npz`` with
truth, predicted classes, probabilities and its tree. A store that is made
compact keeps the predicted classes alone, one byte a row, in one
``predictions/<protocol>/<dataset>.npz``: per trial the truth, the keys, and
one row of classes per key.
"""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.core.checks import UserError
from experiments.core.files import write_whole
from experiments.core.record import RunRecord

FOLDER = "predictions"
_NO_DATE = (1980, 1, 1, 0, 0, 0)
LARGEST_FILE = LARGEST_UNPACKED = 1 << 28
"""Predictions of the suite are a few megabytes; what is larger is none of them."""
MOST_CLASSES = 256
"""One byte a row."""

Labels = NDArray[np.uint8]
Classes = NDArray[np.integer[Any]]
Arrays = dict[str, NDArray[Any]]


def pack(
    truth: NDArray[np.int64],
    predicted: NDArray[np.int64],
    proba: NDArray[np.float64],
    tree: Mapping[str, Any] | None = None,
) -> bytes:
    """Truth, predicted labels, probabilities (and the tree) of one job as a compressed ``.npz``."""
    return _zipped(
        {
            "truth": truth.astype(np.int16),
            "predicted": predicted.astype(np.int16),
            "proba": proba.astype(np.float32),
            **{f"tree_{name}": np.asarray(part) for name, part in (tree or {}).items()},
        }
    )


def path_of(folder: Path, record: RunRecord) -> Path:
    return folder / FOLDER / record.protocol / record.dataset / f"{record.key}.npz"


def save(folder: Path, record: RunRecord, packed: bytes) -> None:
    write_whole(path_of(folder, record), packed)


def load(folder: Path, record: RunRecord) -> Arrays | None:
    """All arrays of one record as its job left them, or ``None`` where they were not kept."""
    return _read(path_of(folder, record))


def classes(folder: Path, record: RunRecord) -> tuple[Classes, Classes] | None:
    """Truth and predicted classes of the test rows, from either form, or ``None``."""
    arrays = load(folder, record)
    if arrays is not None:
        return _pair(arrays.get("truth"), arrays.get("predicted"))
    path = packed_path(folder, record.protocol, record.dataset)
    kept = _read_packed(path, path.stat().st_mtime_ns) if path.is_file() else None
    keys = None if kept is None else kept.get(f"keys_{record.trial}")
    if kept is None or keys is None or keys.ndim != 1:
        return None
    rows, predicted = np.flatnonzero(keys == record.key), kept.get(f"predicted_{record.trial}")
    if predicted is None or predicted.ndim != 2 or len(rows) != 1 or rows[0] >= len(predicted):
        return None
    return _pair(kept.get(f"truth_{record.trial}"), predicted[rows[0]])


def _pair(
    truth: NDArray[Any] | None, predicted: NDArray[Any] | None
) -> tuple[Classes, Classes] | None:
    """Both sides if they are classes of the same rows; what is something else is not believed."""
    if truth is None or predicted is None or truth.ndim != 1 or truth.shape != predicted.shape:
        return None
    for side in (truth, predicted):
        if side.dtype.kind not in "iu" or not len(side) or side.min() < 0:
            return None
        if side.max() >= MOST_CLASSES:
            return None
    return truth, predicted


def copy(source: Path, target: Path, record: RunRecord) -> None:
    """Bring what is kept of one record from one store to another, if it can be read."""
    arrays = load(source, record)
    both = classes(source, record)
    if both is None:
        return
    known = arrays if arrays is not None else {"truth": both[0], "predicted": both[1]}
    save(target, record, _zipped(known))


def damaged(folder: Path) -> list[str]:
    """The files of predictions that cannot be read."""
    files = sorted(path for path in (folder / FOLDER).rglob("*.npz"))
    return [str(path.relative_to(folder)) for path in files if _read(path) is None]


def pack_all(folder: Path, records: Sequence[RunRecord]) -> None:
    """Keep the predicted classes of these records, packed by dataset, and nothing else.

    Everything is packed before anything is removed.
    """
    by_dataset: dict[tuple[str, str], list[RunRecord]] = {}
    for record in records:
        by_dataset.setdefault((record.protocol, record.dataset), []).append(record)
    packed = {
        packed_path(folder, protocol, dataset): _packed(folder, some)
        for (protocol, dataset), some in sorted(by_dataset.items())
    }
    for path, arrays in packed.items():
        if arrays:
            write_whole(path, _zipped(arrays))
    for old in packed_files(folder):
        if not packed.get(old):
            old.unlink()
    for single in (folder / FOLDER).glob("*/*/"):
        if not single.is_symlink():
            shutil.rmtree(single)


def packed_files(folder: Path) -> Iterator[Path]:
    """The packed predictions of a compact store."""
    yield from sorted(path for path in (folder / FOLDER).glob("*/*.npz") if path.is_file())


def _packed(folder: Path, records: Sequence[RunRecord]) -> Arrays:
    truths: dict[int, Labels] = {}
    rows: dict[int, dict[str, Labels]] = {}
    for record in sorted(records, key=lambda each: (each.trial, each.key)):
        both = classes(folder, record) if record.status == "ok" else None
        if both is None:
            continue
        truth, predicted = (side.astype(np.uint8) for side in both)
        if not np.array_equal(truths.setdefault(record.trial, truth), truth):
            raise UserError(
                f"{record.protocol}/{record.dataset} trial {record.trial}: two runs were scored "
                "on different test rows; the store mixes versions of the data or the protocol"
            )
        rows.setdefault(record.trial, {})[record.key] = predicted
    arrays: Arrays = {}
    for trial, truth in sorted(truths.items()):
        arrays[f"truth_{trial}"] = truth
        arrays[f"keys_{trial}"] = np.array(list(rows[trial]))
        arrays[f"predicted_{trial}"] = np.stack(list(rows[trial].values()))
    return arrays


def packed_path(folder: Path, protocol: str, dataset: str) -> Path:
    return folder / FOLDER / protocol / f"{dataset}.npz"


@lru_cache(maxsize=4)
def _read_packed(path: Path, modified: int) -> Arrays | None:
    return _read(path)


def _read(path: Path) -> Arrays | None:
    """The arrays of a file; ``None`` if there is none, or one that is none of ours."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_FILE:
            return None
        with zipfile.ZipFile(path) as archive:
            if sum(member.file_size for member in archive.infolist()) > LARGEST_UNPACKED:
                return None
        with np.load(path, allow_pickle=False) as arrays:
            return {str(name): arrays[name] for name in arrays.files}
    except Exception:  # zipfile, zlib and NumPy raise a dozen kinds for damaged bytes
        return None


def _zipped(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Like ``numpy.savez_compressed``, but equal arrays give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy", _NO_DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, member.getvalue())
    return buffer.getvalue()
