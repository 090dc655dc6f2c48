"""The table of runs for git and for others: Parquet files that pandas, R and DuckDB read.

``<protocol>.parquet`` (variants of protocol paper together in ``quirks.parquet``) has the runs,
``planned.parquet`` which experiment asks for which key, ``facts.json`` the names of datasets,
learners and environments. The same runs give the same bytes.

``predictions.parquet`` has what runs predicted on their test rows, so that a new metric needs no
new run. A tree gives few different answers: what is kept of a run is a table of its different
(class, probabilities) pairs and one code per test row. In a store, every job leaves that with the
truth and its tree, packed; in an archive, there is a row for every run, and one without a key for
the truth of every protocol, dataset and trial. A regression has no classes: the table then has
numbers, the prediction and the quantiles behind it, and so has that of the truth.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Collection, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.runs.schema import COLUMNS, NAMES
from experiments.runs.store import FILE, PLANNED, Store, typed

COMMITTED = Path(__file__).resolve().parents[2] / "results" / "runs"
RUNS = ("paper", "clean")
PLAN, FACTS, PREDICTIONS = "planned.parquet", "facts.json", "predictions.parquet"
KINDS = ("dataset", "learner", "environment")
HEADLINE = ("tuned", "default", "nested")
PREDICTED_OF = (*HEADLINE, "same-story")
"""Experiments whose predictions are kept: two seeds are compared by theirs."""
HEADLINE_METHODS = ("gradtree", "cart", "gradtree-nested", "cart-nested")
"""The headline is what these experiments say of these methods."""


def file_of(protocol: str) -> str:
    """The file a protocol's runs are in."""
    if protocol in RUNS:
        return f"{protocol}.parquet"
    return "quirks.parquet" if protocol.startswith("paper-") else "other.parquet"


def read_runs(folder: Path = COMMITTED, columns: Iterable[str] | None = None) -> pd.DataFrame:
    """The runs of an archive, or some of their columns, as a frame."""
    files = [
        path for path in sorted(folder.glob("*.parquet")) if path.name not in (PLAN, PREDICTIONS)
    ]
    wanted = None if columns is None else list(columns)
    parts = [pd.read_parquet(path, columns=wanted) for path in files]
    frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    later = [name for name in wanted or NAMES if name not in frame]  # than these files
    return typed(frame.reindex(columns=[*frame.columns, *later]))


def read_plan(folder: Path = COMMITTED) -> pd.DataFrame:
    path = folder / PLAN
    return pd.read_parquet(path) if path.is_file() else pd.DataFrame(columns=list(PLANNED))


def headline(plan: pd.DataFrame) -> set[str]:
    """Keys of the headline's jobs."""
    named = plan["experiment"].isin(HEADLINE) & plan["method"].isin(HEADLINE_METHODS)
    return set(plan["key"][named])


def read_facts(folder: Path = COMMITTED) -> dict[str, dict[str, dict[str, Any]]]:
    """By kind (dataset, learner, environment) and name."""
    path = folder / FACTS
    found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {kind: found.get(kind, {}) for kind in KINDS}


def write(
    folder: Path,
    runs: pd.DataFrame,
    plan: pd.DataFrame,
    facts: dict[str, dict[str, dict[str, Any]]],
) -> None:
    """Write an archive anew, in an order that is always the same."""
    folder.mkdir(parents=True, exist_ok=True)
    place = ["protocol", "dataset", "method", "evaluation", "measured"]
    order = [*place, "params", "seed", "trial", "key"]
    runs = typed(runs)[list(NAMES)].sort_values(order, ignore_index=True)
    for name, part in runs.groupby(runs["protocol"].map(file_of)):
        _write_parquet(part.reset_index(drop=True), folder / str(name))
    plan = plan[list(PLANNED)].sort_values(list(PLANNED), ignore_index=True)
    _write_parquet(plan, folder / PLAN)
    text = json.dumps({kind: facts[kind] for kind in KINDS}, indent=1, sort_keys=True)
    (folder / FACTS).write_text(text + "\n", encoding="utf-8")


def _write_parquet(frame: pd.DataFrame, path: Path) -> None:
    """Beside first, then in place, so that no reader sees half a file."""
    texts = {c.name: "string" for c in COLUMNS if c.type is str and c.name in frame}
    beside = path.with_suffix(".part")
    frame.astype(texts).to_parquet(beside, index=False, compression="zstd", compression_level=9)
    beside.replace(path)


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The runs of a frame as plain rows, with ``None`` for what is missing."""
    blank = [c.name for c in COLUMNS if c.type is str and not c.needed and c.name in frame]
    plain = frame.astype(object).where(frame.notna(), None)
    plain[blank] = plain[blank].where(plain[blank] != "", None)
    return [dict(zip(plain, row, strict=True)) for row in zip(*map(plain.get, plain), strict=True)]


# Predictions.

LARGEST_UNPACKED = 1 << 28
"""Bytes. Predictions of the suite are a few megabytes; what is larger is none of them."""
NO_PROBABILITIES = "no_probabilities"
"""In ``extra`` of a run: why there are none."""
PREDICTED = ("protocol", "dataset", "trial", "key", "classes", "probabilities", "codes")
Place = tuple[str, str, int]
"""Protocol, dataset and trial."""


def why_no_probabilities(extra: str) -> str:
    """Why a run has no score that takes probabilities; empty if its learner gives them."""
    return str(json.loads(extra).get(NO_PROBABILITIES, "")) if NO_PROBABILITIES in extra else ""


@dataclass(frozen=True, eq=False)
class Prediction:
    """Test rows of one run: true and predicted classes, and probabilities where there are any.

    ``truth`` and ``predicted`` have shape (rows,), ``proba`` has shape (rows, n_classes). In a
    regression, they are numbers, and ``proba`` has the predicted quantiles, if any.
    """

    truth: NDArray[Any]
    predicted: NDArray[Any]
    proba: NDArray[np.float64] | None = None

    @property
    def of_numbers(self) -> bool:
        return self.truth.dtype.kind == "f"

    def coded(self) -> tuple[NDArray[np.int16] | None, NDArray[np.float64] | None, NDArray[Any]]:
        """Classes and probabilities of the different answers, and which one each row got."""
        parts = [self.predicted[:, None].astype(np.float64)]
        if self.proba is not None:
            parts.append(self.proba)
        answers, codes = np.unique(np.hstack(parts), axis=0, return_inverse=True)
        codes = codes.ravel().astype(np.uint16 if len(answers) <= 1 << 16 else np.uint32)
        if self.of_numbers:
            return None, answers, codes
        table = None if self.proba is None else answers[:, 1:]
        return answers[:, 0].astype(np.int16), table, codes

    @classmethod
    def decoded(cls, truth: Any, classes: Any, table: Any, codes: Any) -> Prediction | None:
        """What ``coded`` took apart; ``None`` where the parts do not fit together."""
        truth, codes = np.asarray(truth), np.asarray(codes)
        if truth.ndim != 1 or truth.shape != codes.shape or not len(truth):
            return None
        many = int(codes.max()) + 1 if codes.dtype.kind == "u" else 0
        if classes is None:
            answers = np.asarray(table)
            if not many or {truth.dtype.kind, answers.dtype.kind} != {"f"} or answers.size % many:
                return None
            answers = answers.reshape(many, -1)[codes]
            return cls(truth, answers[:, 0], answers[:, 1:] if answers.shape[1] > 1 else None)
        classes, proba = np.asarray(classes), None
        whole = {truth.dtype.kind, classes.dtype.kind} <= set("iu") and classes.ndim == 1
        if not whole or not 0 < many <= len(classes) or min(truth.min(), classes.min()) < 0:
            return None
        if table is not None:
            answers = np.asarray(table, dtype=np.float64).reshape(len(classes), -1)
            if answers.shape[1] <= max(truth.max(), classes.max()):
                return None
            proba = answers[codes]
        return cls(truth.astype(np.int64), classes.astype(np.int64)[codes], proba)


def pack(prediction: Prediction, tree: Any = None) -> bytes:
    """One job's predictions and its tree as an ``.npz``; equal arrays give equal bytes."""
    classes, table, codes = prediction.coded()
    truth = prediction.truth
    arrays: dict[str, Any] = {"truth": truth if prediction.of_numbers else truth.astype(np.int16)}
    arrays |= {"classes": classes, "probabilities": table, "codes": codes}
    if tree is not None:
        parts = {f"tree_{part.name}": getattr(tree, part.name) for part in fields(tree)}
        # What is no numbers, such as the columns of a table, could not be read again.
        arrays |= {name: part for name, part in parts.items() if np.asarray(part).dtype != object}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **{name: part for name, part in arrays.items() if part is not None})
    return buffer.getvalue()


def unpack(packed: bytes) -> Prediction | None:
    """What ``pack`` packed; ``None`` for anything else."""
    arrays = _arrays(packed)
    try:
        return Prediction.decoded(
            *(arrays.get(name) for name in ("truth", "classes", "probabilities", "codes"))
        )
    except (TypeError, ValueError):
        return None


def tree_parts(packed: bytes) -> dict[str, Any] | None:
    """What ``gradtree.trees.tree.Tree`` takes to make the tree a job left; ``None`` without one."""
    found = _arrays(packed).items()
    parts: dict[str, Any] = {name[5:]: part for name, part in found if name.startswith("tree_")}
    return {**parts, "n_features": int(parts["n_features"])} if parts else None


def _arrays(packed: bytes) -> dict[str, NDArray[Any]]:
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as file:
            if sum(member.file_size for member in file.infolist()) > LARGEST_UNPACKED:
                return {}
        with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
            return {str(name): arrays[name] for name in arrays.files}
    except Exception:  # zipfile, zlib and NumPy raise a dozen kinds for damaged bytes
        return {}


def prediction_of(source: Store | Path, key: str) -> Prediction | None:
    """What a run of a store, or of an archive's folder, predicted; ``None`` if it is not kept."""
    if isinstance(source, Store):
        packed = source.predictions(key)
        return None if packed is None else unpack(packed)
    return read_predictions(source).get(key)


def read_predictions(folder: Path, keys: Collection[str] | None = None) -> Mapping[str, Prediction]:
    """Predictions of an archive by key: all, or those of some runs."""
    path, wanted = folder / PREDICTIONS, None if keys is None else frozenset(keys)
    return _predictions(path, path.stat().st_mtime_ns, wanted) if path.is_file() else {}


def predictions_of(folder: Path, keys: Collection[str]) -> Mapping[str, Prediction]:
    """Those of some runs of a store or an archive, as far as they are kept."""
    if not (folder / FILE).is_file():
        return read_predictions(folder, keys)
    with closing(Store(folder)) as store:
        found = {key: prediction_of(store, key) for key in keys}
    return {key: each for key, each in found.items() if each is not None}


@lru_cache(maxsize=2)
def _predictions(path: Path, changed: int, keys: frozenset[str] | None) -> dict[str, Prediction]:
    import pyarrow.parquet as pq

    wanted = None if keys is None else [("key", "in", {"", *keys})]
    frame = pq.read_table(path, columns=list(PREDICTED), filters=wanted).to_pandas()
    rows = list(frame.itertuples(index=False, name=None))
    truths = {
        tuple(row[:3]): row[6] if row[5] is None else row[5][row[6]] for row in rows if not row[3]
    }
    found = {}
    for *place, key, kept, table, codes in rows:
        if key and tuple(place) in truths:
            prediction = Prediction.decoded(truths[tuple(place)], kept, table, codes)
            if prediction is not None:
                found[key] = prediction
    return found


def write_predictions(folder: Path, kept: Iterable[tuple[Place, str, Prediction]]) -> Path:
    """Write an archive's predictions anew; the same ones give the same bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    truths: dict[Place, NDArray[Any]] = {}
    parts: list[tuple[Place, str, tuple[Any, Any, Any]]] = []
    for place, key, prediction in kept:
        if not np.array_equal(truths.setdefault(place, prediction.truth), prediction.truth):
            raise ValueError(f"{place}: two runs were scored on different test rows")
        parts.append((place, key, prediction.coded()))
    for place, truth in truths.items():
        alone = Prediction(truth, truth)
        classes = (None, None, truth.astype(np.uint16))
        parts.append((place, "", alone.coded() if alone.of_numbers else classes))
    rows = [
        (*place, key, answers, None if table is None else table.ravel(), codes)
        for place, key, (answers, table, codes) in parts
    ]
    rows.sort(key=lambda row: row[:4])
    kinds = [pa.string(), pa.string(), pa.int16(), pa.string()]
    kinds += [pa.list_(kind) for kind in (pa.int16(), pa.float64(), pa.uint16())]
    made = [dict(zip(PREDICTED, row, strict=True)) for row in rows]
    schema = pa.schema(list(zip(PREDICTED, kinds, strict=True)))
    folder.mkdir(parents=True, exist_ok=True)
    beside, how = folder / f"{PREDICTIONS}.part", {"compression": "zstd", "compression_level": 19}
    pq.write_table(pa.Table.from_pylist(made, schema), beside, **how)
    return beside.replace(folder / PREDICTIONS)


def kept_predictions(store: Store, runs: pd.DataFrame) -> Iterable[tuple[Place, str, Prediction]]:
    """What ``write_predictions`` takes, of those successful runs whose predictions a store has."""
    kept = store.predicted_keys()
    good = runs[(runs["status"] == "ok") & runs["key"].isin(kept)]
    for row in good[["protocol", "dataset", "trial", "key"]].itertuples(index=False):
        prediction = prediction_of(store, row.key)
        if prediction is not None:
            yield (row.protocol, row.dataset, int(row.trial)), row.key, prediction
