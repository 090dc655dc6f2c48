"""What the page's script needs to know, as one small JSON document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from experiments.report.headline import primary
from experiments.report.model import ComparedTable, DatasetPage, ReportData
from experiments.report.trees import for_page
from experiments.report.view import GLYPHS
from experiments.tables.model import Cell
from experiments.tables.outcomes import Verdict

RUN = ".venv/bin/python -m experiments run --experiment {experiment} --protocol {protocol}"
CELL_COMMAND = f"{RUN} --dataset {{dataset}} --method {{method}}"
DATASET_COMMAND = f"{RUN} --dataset {{dataset}}"
DIGITS = 6


def payload(data: ReportData) -> str:
    """JSON that can stand inside a ``<script>`` element: no ``<`` in it."""
    first = primary(data)
    content = {
        "tables": {table.name: _table(table) for table in data.tables},
        "datasets": {page.slug: _dataset(page, data.method_names) for page in data.datasets},
        "methods": dict(data.method_names),
        "glyphs": GLYPHS,
        "primary": first.name if first else None,
        "command": CELL_COMMAND + data.run_options,
        "datasetCommand": DATASET_COMMAND + data.run_options,
    }
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _table(compared: ComparedTable) -> dict[str, Any]:
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
                _cell(cell, compared.verdict(row.dataset, column.method))
                for column, cell in zip(table.columns, row.cells, strict=True)
            ]
            for block in table.blocks
            for row in block.rows
        },
    }


def _cell(cell: Cell, verdict: Verdict | None) -> dict[str, Any]:
    content: dict[str, Any] = {
        "mean": short(cell.mean),
        "std": short(cell.std),
        "n": cell.n,
        "expected": cell.expected,
        "missing": cell.missing or None,
        "values": [short(value) for value in cell.values] or None,
        "trials": list(cell.trials) or None,
    }
    if verdict is not None:
        content |= {
            "outcome": verdict.outcome,
            "paper": [verdict.paper.mean, verdict.paper.std] if verdict.paper.n else None,
            "paperMissing": verdict.paper.missing or None,
            "difference": short(verdict.difference),
            "pAdjusted": short(verdict.p_adjusted),
            "note": verdict.note or None,
        }
    return {name: value for name, value in content.items() if value is not None}


def _dataset(page: DatasetPage, names: Mapping[str, str]) -> dict[str, Any]:
    return {"name": page.name, "trees": [for_page(tree, names) for tree in page.trees]}


def short(value: float | None) -> float | None:
    """Enough digits to show and to sort by, not more than the page needs."""
    return None if value is None else float(f"{value:.{DIGITS}g}")
