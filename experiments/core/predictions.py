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
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.core.files import write_whole
from experiments.core.record import RunRecord

FOLDER = "predictions"
_NO_DATE = (1980, 1, 1, 0, 0, 0)

Labels = NDArray[np.uint8]
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
    path = path_of(folder, record)
    return _read(path) if path.is_file() else None


def classes(folder: Path, record: RunRecord) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Truth and predicted classes of the test rows, from either form, or ``None``."""
    arrays = load(folder, record)
    if arrays is not None and {"truth", "predicted"} <= arrays.keys():
        return arrays["truth"], arrays["predicted"]
    path = _packed_path(folder, record.protocol, record.dataset)
    if not path.is_file():
        return None
    kept = _read_packed(path, path.stat().st_mtime_ns)
    keys = kept.get(f"keys_{record.trial}")
    if keys is None or record.key not in keys:
        return None
    found = np.flatnonzero(keys == record.key)
    return kept[f"truth_{record.trial}"], kept[f"predicted_{record.trial}"][found[0]]


def copy(source: Path, target: Path, record: RunRecord) -> None:
    """Bring what is kept of one record from one store to another."""
    if path_of(source, record).is_file():
        save(target, record, path_of(source, record).read_bytes())
    elif (both := classes(source, record)) is not None:
        save(target, record, _zipped({"truth": both[0], "predicted": both[1]}))


def pack_all(folder: Path, records: Sequence[RunRecord]) -> None:
    """Keep the predicted classes of these records, packed by dataset, and nothing else."""
    by_dataset: dict[tuple[str, str], list[RunRecord]] = {}
    for record in records:
        by_dataset.setdefault((record.protocol, record.dataset), []).append(record)
    for (protocol, dataset), some in sorted(by_dataset.items()):
        packed = _packed(folder, some)
        if packed:
            write_whole(_packed_path(folder, protocol, dataset), _zipped(packed))
    for single in (folder / FOLDER).glob("*/*/"):
        shutil.rmtree(single)


def _packed(folder: Path, records: Sequence[RunRecord]) -> Arrays:
    truths: dict[int, Labels] = {}
    rows: dict[int, dict[str, Labels]] = {}
    for record in sorted(records, key=lambda each: (each.trial, each.key)):
        both = classes(folder, record)
        if both is None:
            continue
        truth, predicted = (side.astype(np.uint8) for side in both)
        if not np.array_equal(truths.setdefault(record.trial, truth), truth):
            raise ValueError(
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


def _packed_path(folder: Path, protocol: str, dataset: str) -> Path:
    return folder / FOLDER / protocol / f"{dataset}.npz"


@lru_cache(maxsize=4)
def _read_packed(path: Path, modified: int) -> Arrays:
    return _read(path)


def _read(path: Path) -> Arrays:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return dict(arrays)
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
        return {}  # a damaged file counts as predictions that were not kept


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
