"""What the page's script draws: cells and trees; trees and training curves are kept for the report.

Trees and curves are drawn without data or a learner's library. One JSON file per dataset,
``<folder>/<slug>.json``::

    {"format": "gradtree-report-trees/1",
     "dataset": "iris",
     "trees": [{"method": "cart", "experiment": "tuned", "protocol": "paper", "trial": 0,
                "seed": 42, "test_f1": 0.93, "class_names": [...],
                "tree": <Tree.to_dict()>,
                "splits": {"0": ["petal width", "≤ 0.8", "> 0.8"], ...}}]}

``tree`` is the tree as learned, on preprocessed columns; ``splits`` says for
each inner node which raw column it tests and what sends a row left or right.
``curves.json`` is a list of runs in the order in which they are drawn, losses to five
significant digits.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from experiments.analysis.model import Cell, Verdict
from experiments.core.files import write_files
from experiments.render.figures.trees import Curve
from experiments.render.report.headline import primary
from experiments.render.report.model import ComparedTable, DatasetPage, ReportData
from experiments.render.report.view import GLYPHS

FORMAT = "gradtree-report-trees/1"
NO_NEW_ROW = "no new row"
"""Stands on a branch that no raw value takes, though rows of training did."""
LEAK_NOTE = (
    f"Only training rows take a branch marked “{NO_NEW_ROW}”: their encoded value depends on their "
    "own label."
)


def write_trees(folder: Path, dataset: str, entries: Iterable[Mapping[str, Any]]) -> Path:
    """Write the file of one dataset; entries come from :func:`describe_tree`."""
    content = {"format": FORMAT, "dataset": dataset, "trees": list(entries)}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    write_files(folder, {f"{dataset}.json": text + "\n"})
    return folder / f"{dataset}.json"


def read_trees(folder: Path, dataset: str) -> tuple[dict[str, Any], ...]:
    """The stored trees of a dataset; none if it has no file."""
    path = folder / f"{dataset}.json"
    if not path.exists():
        return ()
    content = json.loads(path.read_text(encoding="utf-8"))
    if content.get("format") != FORMAT:
        raise ValueError(
            f"{path} has format {content.get('format')!r}, expected {FORMAT!r}: "
            "write it again with `python -m experiments trees`"
        )
    return tuple(content["trees"])


def for_page(entry: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """What the page draws: ``nodes`` are ``[left, right, column, condition, condition]`` or
    ``[class, probability, rows]`` for leaves.
    """
    nodes = [_node(entry, index) for index in range(len(entry["tree"]["feature"]))]
    name = names.get(entry["method"], entry["method"])
    return {
        "label": f"{name}, {entry['experiment']}",
        "caption": _caption(entry, nodes),
        "classes": entry["class_names"],
        "nodes": nodes,
    }


def _node(entry: Mapping[str, Any], index: int) -> list[Any]:
    tree = entry["tree"]
    if tree["children_left"][index] >= 0:
        column, left, right = entry["splits"][str(index)]
        children = [tree["children_left"][index], tree["children_right"][index]]
        return [*children, column, left, right]
    shares = tree["value"][index]
    best = max(range(len(shares)), key=shares.__getitem__)
    rows = tree["n_node_samples"][index] if tree.get("n_node_samples") else None
    return [best, round(shares[best], 4), rows]


def _caption(entry: Mapping[str, Any], nodes: list[list[Any]]) -> str:
    size = "1 node" if len(nodes) == 1 else f"{len(nodes)} nodes"
    score = "" if entry["test_f1"] is None else f", test F1 {entry['test_f1']:.3f}"
    leaks = any(NO_NEW_ROW in node for node in nodes)
    return (
        f"Trial {entry['trial']} of protocol {entry['protocol']}: {size}{score}. "
        "A leaf shows its class, the share of that class and the number of training rows."
        + (f" {LEAK_NOTE}" if leaks else "")
    )


CURVES = "curves.json"
CURVE_DIGITS = 5


def write_curves(folder: Path, curves: Sequence[Curve]) -> Path:
    content = [asdict(_rounded(curve)) for curve in curves]
    write_files(
        folder, {CURVES: json.dumps(content, separators=(",", ":"), allow_nan=False) + "\n"}
    )
    return folder / CURVES


def read_curves(folder: Path) -> list[Curve]:
    """The stored histories; none if there is no such file."""
    path = folder / CURVES
    if not path.exists():
        return []
    return [Curve(**run) for run in json.loads(path.read_text(encoding="utf-8"))]


def _rounded(curve: Curve) -> Curve:
    return replace(curve, train=_short(curve.train), valid=_short(curve.valid))


def _short(losses: Sequence[float]) -> list[float]:
    return [float(f"{loss:.{CURVE_DIGITS}g}") for loss in losses]


RUN = ".venv/bin/python -m experiments run --experiment {experiment} --protocol {protocol}"
CELL_COMMAND = f"{RUN} --dataset {{dataset}} --method {{method}}"
DATASET_COMMAND = f"{RUN} --dataset {{dataset}}"
CELL_DIGITS = 6


def payload(data: ReportData) -> str:
    """JSON that can stand inside a ``<script>`` element: no ``<`` in it."""
    first = primary(data)
    content = {
        "tables": {table.name: _table_data(table) for table in data.tables},
        "datasets": {page.slug: _dataset_data(page, data.method_names) for page in data.datasets},
        "methods": dict(data.method_names),
        "glyphs": GLYPHS,
        "primary": first.name if first else None,
        "command": CELL_COMMAND + data.run_options,
        "datasetCommand": DATASET_COMMAND + data.run_options,
    }
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _table_data(compared: ComparedTable) -> dict[str, Any]:
    table = compared.ours
    return {
        "title": table.title,
        "protocol": table.source,
        "experiment": table.experiment,
        "decimals": table.decimals,
        "stdDecimals": table.std_decimals,
        "methods": [column.method for column in table.columns],
        "names": [column.name for column in table.columns],
        "cells": {
            row.dataset: [
                _cell_data(cell, compared.verdict(row.dataset, column.method))
                for column, cell in zip(table.columns, row.cells, strict=True)
            ]
            for block in table.blocks
            for row in block.rows
        },
    }


def _cell_data(cell: Cell, verdict: Verdict | None) -> dict[str, Any]:
    content: dict[str, Any] = {
        "mean": short(cell.mean),
        "std": short(cell.std),
        "n": cell.n,
        "expected": cell.expected if cell.partial else None,
        "missing": cell.missing or None,
        "values": [short(value) for value in cell.values] or None,
        "trials": None if cell.trials == tuple(range(cell.n)) else list(cell.trials) or None,
    }
    if verdict is not None:
        content |= {
            "outcome": verdict.outcome,
            "paper": [verdict.paper.mean, verdict.paper.std] if verdict.paper.n else None,
            "paperMissing": verdict.paper.missing or None,
            "difference": short(verdict.difference),
            "pAdjusted": short(verdict.p_adjusted),
            "pEquivalent": short(verdict.p_equivalent),
            "note": verdict.note or None,
        }
    return {name: value for name, value in content.items() if value is not None}


def _dataset_data(page: DatasetPage, names: Mapping[str, str]) -> dict[str, Any]:
    return {"name": page.name, "trees": [for_page(tree, names) for tree in page.trees]}


def short(value: float | None) -> float | None:
    """Enough digits to show and to sort by, not more than the page needs."""
    return None if value is None else float(f"{value:.{CELL_DIGITS}g}")
