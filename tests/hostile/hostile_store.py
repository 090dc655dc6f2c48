"""A small real store to be attacked: committed records of two datasets, with their plan."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

from experiments.analysis.grids import Address, collect
from experiments.analysis.model import Cell
from experiments.core import manifest
from experiments.core.files import content_of, replace_lines
from experiments.core.job import Job
from experiments.core.planned import PACKED_PLAN, read_plan, superseded
from experiments.core.store import COMMITTED, Store, resolve

DATASETS = ("iris", "zoo")
MEASURES = ("test_f1", "train_f1", "tree_size", "wall_seconds")
TRIALS_KEPT = (0, 1)

Cells = dict[tuple[Address, str], Cell]


def copy_store(target: Path, trials: Collection[int] = TRIALS_KEPT) -> Path:
    """Committed records of some trials that the plan asks for, and what lies beside them.

    Lines are as they are; superseded ones, which every verb tells of, are left out.
    """
    plan = [line for line in _lines(COMMITTED / PACKED_PLAN) if line["dataset"] in DATASETS]
    shorter = [
        {**line, "trials": [trial for trial in line["trials"] if trial in trials]} for line in plan
    ]
    replace_lines(target / "planned.jsonl", shorter)
    asked = {job.key for job in read_plan(target)}
    for protocol in ("paper", "clean"):
        for dataset in DATASETS:
            lines = _lines(COMMITTED / protocol / f"{dataset}.jsonl.gz")
            kept = [line for line in lines if line["trial"] in trials and line["key"] in asked]
            replace_lines(target / protocol / f"{dataset}.jsonl", kept)
    for name in ("datasets", "learners", "environments"):
        (target / f"{name}.jsonl").write_bytes((COMMITTED / f"{name}.jsonl").read_bytes())
    manifest.write_hashes(target)
    return target


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content_of(path).splitlines()]


def cells_of(folder: Path) -> tuple[Cells, list[str], int]:
    """Every table cell that follows from a store, and what the store says of itself.

    Records that the plan no longer asks for, and plans that later ones replace, are named by
    ``status`` and ``tables``.
    """
    contents = Store(folder).contents()
    replaced: list[Job] = []
    plan, records = read_plan(folder, replaced=replaced), resolve(contents.history)
    results = collect(plan, records)
    cells = {
        (address, measure): results.cell(*address, measure)  # type: ignore[arg-type]
        for address in results.attempts
        for measure in MEASURES
    }
    told = [*contents.problems, *superseded(plan, records.values())]
    return cells, [*told, *map(str, replaced)], contents.torn


def first_record(folder: Path, **wanted: Any) -> tuple[Path, int, dict[str, Any]]:
    """The first record with these fields: its file, its line number from 1, its fields."""
    for path in sorted(folder.glob("*/*.jsonl")):
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            values = json.loads(line)
            if all(values.get(name) == value for name, value in wanted.items()):
                return path, number, values
    raise LookupError(f"no record with {wanted}")


def change_line(path: Path, number: int, line: str | bytes) -> None:
    lines = path.read_bytes().split(b"\n")
    lines[number - 1] = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
    path.write_bytes(b"\n".join(lines))


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        os.path.relpath(path, folder): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
