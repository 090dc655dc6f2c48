"""From ``ReportData`` to the bytes of one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from experiments.analysis.model import SheetColumn
from experiments.core.files import write_files
from experiments.render.report import view
from experiments.render.report.headline import headline, matrix, primary
from experiments.render.report.model import ComparedTable, DatasetPage, Failure, ReportData
from experiments.render.report.payload import CELL_COMMAND, payload
from experiments.render.wording import MEANINGS

HERE = Path(__file__).parent
STYLES = ("base", "summary", "tables", "datasets")
SCRIPTS = ("core", "theme", "strip", "popover", "csv", "tables", "tree", "datasets")

COMMANDS = (
    ("make reproduce", "Run all jobs that are not done yet; write this page to .runs/report."),
    (
        CELL_COMMAND.format(experiment="tuned", protocol="paper", dataset="iris", method="cart"),
        "Repeat one cell, here CART on Iris; add --trial 0 for a single trial.",
    ),
    (".venv/bin/python -m experiments status", "Count the jobs that are done and to do."),
    (
        ".venv/bin/python -m experiments report",
        "Write this page from your runs in .runs; `make report` uses the committed records.",
    ),
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
        f"small numbers are ranks, bold is best.{_daggers(compared)}",
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
    return f" {view.FRAGILE}: a rounding error in the training rows changes a trial of the cell."


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
    return f"{listed}. Failures are listed with their reason and never count as a result."


def ranges(trials: Iterable[int]) -> str:
    """``0, 2-5, 9``: runs of neighbouring numbers drawn together."""
    ordered = sorted(trials)
    pieces = []
    for _, run in groupby(enumerate(ordered), key=lambda pair: pair[1] - pair[0]):
        members = [trial for _, trial in run]
        first, last = members[0], members[-1]
        pieces.append(str(first) if first == last else f"{first}-{last}")
    return ", ".join(pieces)
