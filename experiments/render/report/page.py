"""From ``ReportData`` to the bytes of one HTML file that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from experiments.analysis.model import Cell, SheetColumn, Verdict
from experiments.core.files import write_files
from experiments.render.report import view
from experiments.render.report.headline import headline, matrix, primary
from experiments.render.report.model import ComparedTable, DatasetPage, Failure, ReportData
from experiments.render.report.stored import for_page
from experiments.render.report.view import GLYPHS
from experiments.render.tally_text import MEANINGS

RUN = ".venv/bin/python -m experiments run --experiment {experiment} --protocol {protocol}"
CELL_COMMAND = f"{RUN} --dataset {{dataset}} --method {{method}}"
DATASET_COMMAND = f"{RUN} --dataset {{dataset}}"
DIGITS = 6


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
    return None if value is None else float(f"{value:.{DIGITS}g}")


HERE = Path(__file__).parent
STYLES = ("base", "summary", "tables", "datasets")
SCRIPTS = ("core", "theme", "strip", "popover", "csv", "tables", "tree", "datasets")

COMMANDS = (
    ("make reproduce", "Run everything, as far as it is not done, and rebuild this page."),
    (
        CELL_COMMAND.format(experiment="tuned", protocol="paper", dataset="iris", method="cart"),
        "Repeat one cell, here CART on Iris; add --trial 0 for a single trial.",
    ),
    (".venv/bin/python -m experiments status", "What is done, what is open."),
    (".venv/bin/python -m experiments report", "Rebuild this page from the records."),
)


def render(data: ReportData) -> str:
    """The page as text; equal data give equal text."""
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["groupwise"] = groupwise
    return environment.get_template("page.html.j2").render(context(data))


def write(data: ReportData, path: Path) -> Path:
    """Write the page so that no reader sees half of it."""
    write_files(path.parent, {path.name: render(data)})
    return path


def context(data: ReportData) -> dict[str, Any]:
    """Everything the templates refer to."""
    sections = [*data.sections, *([data.first] if data.first else [])]
    in_sections = {name for section in sections for name in section.figures}
    return {
        "data": data,
        "view": view,
        "css": Markup(_joined("css", STYLES)),
        "js": Markup(_joined("js", SCRIPTS)),
        "payload": Markup(payload(data)),
        "navigation": _navigation(data),
        "glyphs": view.GLYPHS,
        "meanings": MEANINGS,
        "headline": headline(data),
        "matrix": matrix(data),
        "tables": [_table(table) for table in data.tables],
        "tab_groups": _tab_groups(data),
        "figures_by_name": {figure.name: figure for figure in data.figures},
        "gallery": [figure for figure in data.figures if figure.name not in in_sections],
        "datasets": [_dataset(data, page) for page in data.datasets],
        "failures": _failures(data),
        "badge_table": _badge_table(data),
        "failure_sentence": _failure_sentence(data),
        "commands": COMMANDS,
    }


def groupwise(columns: Iterable[SheetColumn]) -> list[tuple[str, int]]:
    """Names printed above neighbouring columns, with how many they span."""
    return [(name, len(list(run))) for name, run in groupby(columns, key=lambda c: c.group)]


def _joined(suffix: str, names: Iterable[str]) -> str:
    texts = ((HERE / "assets" / f"{name}.{suffix}").read_text(encoding="utf-8") for name in names)
    return "\n".join(text.strip() for text in texts)


def _navigation(data: ReportData) -> list[tuple[str, str]]:
    fixed_before = [("summary", "Summary"), ("claims", "Claims"), ("tables", "Tables")]
    if data.first is not None:
        fixed_before.insert(0, (data.first.slug, "Against CART"))
    sections = [(section.slug, section.title) for section in data.sections]
    fixed_after = [
        ("figures", "Figures"),
        ("datasets", "Datasets"),
        ("failures", "Failures"),
        ("rerun", "Run it"),
    ]
    return fixed_before + sections + fixed_after


def _table(compared: ComparedTable) -> dict[str, Any]:
    table = compared.ours
    spans = [(name, len(list(run))) for name, run in groupby(table.columns, key=lambda c: c.group)]
    return {
        "name": compared.name,
        "title": _title(compared),
        "caption": f"{table.caption}. Mean ± standard deviation over {table.trials} trials; "
        f"small figures are ranks, bold is best.{_daggers(compared)}",
        "incomplete": _gaps(compared),
        "judged": bool(compared.verdicts),
        "columns": table.columns,
        "groups": spans if any(name for name, _ in spans) else [],
        "blocks": view.table_blocks(compared),
    }


def _daggers(compared: ComparedTable) -> str:
    cells = [c for block in compared.ours.blocks for row in block.rows for c in row.cells]
    if not any(cell.fragile for cell in cells):
        return ""
    return f" {view.FRAGILE}: a trial of the cell changes if training rows move by a rounding."


def _title(compared: ComparedTable) -> str:
    suffix = "" if compared.verdicts else f" (protocol {compared.ours.source})"
    return compared.ours.title + suffix


def _gaps(compared: ComparedTable) -> str:
    cells = [c for block in compared.ours.blocks for row in block.rows for c in row.cells]
    pending = sum(cell.pending for cell in cells)
    partial = sum(cell.partial for cell in cells)
    parts = []
    if pending:
        parts.append(f"{pending} of {len(cells)} cells not run yet")
    if partial:
        parts.append(f"{partial} from fewer trials")
    return ", ".join(parts)


def _tab_groups(data: ReportData) -> list[tuple[str, list[dict[str, str]]]]:
    def tab(name: str, title: str) -> dict[str, str]:
        short = title.replace(" hyperparameters", "").removeprefix("Hyperparameters of ")
        return {"name": name, "title": short}

    groups = [
        ("As in the paper", [tab(t.name, t.ours.title) for t in data.tables if t.verdicts]),
        ("Protocol clean", [tab(t.name, t.ours.title) for t in data.tables if not t.verdicts]),
        *(
            (group.title, [tab(sheet.name, sheet.title) for sheet in group.sheets])
            for group in data.sheet_groups
        ),
    ]
    return [(name, tabs) for name, tabs in groups if tabs]


def _dataset(data: ReportData, page: DatasetPage) -> dict[str, Any]:
    return {
        "slug": page.slug,
        "name": page.name,
        "shape": _shape(page),
        "marks": _marks(data, page),
    }


def _shape(page: DatasetPage) -> str:
    sizes = f"{page.rows:,} rows × {page.features} features"
    if len(page.class_counts) == 2:
        return f"{sizes}, classes {' / '.join(f'{count:,}' for count in page.class_counts)}"
    return f"{sizes}, {len(page.class_counts)} classes"


def _marks(data: ReportData, page: DatasetPage) -> list[dict[str, str]]:
    table = primary(data)
    marks = []
    for column in table.ours.columns if table else ():
        verdict = table.verdict(page.slug, column.method) if table else None
        if verdict is not None:
            title = f"{column.name}: {verdict.outcome}"
            glyph = view.GLYPHS[verdict.outcome]
            marks.append(
                {
                    "outcome": verdict.outcome,
                    "glyph": glyph,
                    "title": title,
                    "method": column.name,
                }
            )
    return marks


def _badge_table(data: ReportData) -> str:
    table = primary(data)
    return "" if table is None else table.ours.title[:1].lower() + table.ours.title[1:]


def _failures(data: ReportData) -> list[dict[str, str]]:
    """One line per learner and reason: what a learner cannot do is told once, with a count."""
    names = {page.slug: page.name for page in data.datasets}
    grouped: dict[tuple[str, str, str], list[Failure]] = {}
    for failure in data.failures:
        grouped.setdefault((failure.status, failure.method, failure.reason), []).append(failure)
    return [
        {
            "method": data.method_names.get(method, method),
            "status": status,
            "reason": reason,
            "count": f"{sum(len(each.trials) for each in some):,}",
            "datasets": ", ".join(dict.fromkeys(names.get(f.dataset, f.dataset) for f in some)),
            "experiments": ", ".join(dict.fromkeys(f"{f.protocol}/{f.experiment}" for f in some)),
            "detail": next((each.detail for each in some if each.detail), ""),
            "trials": "; ".join(dict.fromkeys(ranges(each.trials) for each in some)),
        }
        for (status, method, reason), some in grouped.items()
    ]


def _failure_sentence(data: ReportData) -> str:
    counts: dict[str, int] = {}
    for failure in data.failures:
        counts[failure.status] = counts.get(failure.status, 0) + len(failure.trials)
    listed = ", ".join(f"{count:,} {status}" for status, count in sorted(counts.items()))
    return f"{listed}. A failure is shown with its reason and is never counted as a result."


def ranges(trials: Iterable[int]) -> str:
    """``0, 2-5, 9``: runs of neighbouring numbers drawn together."""
    ordered = sorted(trials)
    pieces = []
    for _, run in groupby(enumerate(ordered), key=lambda pair: pair[1] - pair[0]):
        members = [trial for _, trial in run]
        first, last = members[0], members[-1]
        pieces.append(str(first) if first == last else f"{first}-{last}")
    return ", ".join(pieces)
