"""The table of runs for git and for others: Parquet files that pandas, R and DuckDB read.

``<protocol>.parquet`` (variants of protocol paper together in ``quirks.parquet``) has the runs,
``planned.parquet`` which experiment asks for which key, ``facts.json`` the names of datasets,
learners and environments, ``predictions.parquet`` what was predicted on the test rows.
The same runs give the same bytes.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.runs.schema import COLUMNS, NAMES
from experiments.runs.store import PLANNED, typed

COMMITTED = Path(__file__).resolve().parents[2] / "results" / "runs"
RUNS = ("paper", "clean")
PLAN, FACTS, PREDICTIONS = "planned.parquet", "facts.json", "predictions.parquet"
KINDS = ("dataset", "learner", "environment")
HEADLINE = ("tuned", "default", "nested")
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
