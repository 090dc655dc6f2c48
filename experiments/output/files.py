"""Answers as files: every table as CSV and LaTeX, verdicts and claims, figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from experiments.analysis.answer import Answer, Figure, Grid, Table
from experiments.analysis.runs import Runs
from experiments.output import latex

TABLES, FIGURES = "tables", "figures"
BESIDE_TABLES = ("verdicts", "claims")
"""Tables that are files beside the folder of tables, and CSV alone."""
MOST_LINES = 200
"""A longer table is data, for CSV alone."""
WHOLE = ("n", "expected", "rank", "paper_rank", "stable_trials", "refitted_trials", "ours_n")


def csv_text(frame: pd.DataFrame, counts: Iterable[str] = ()) -> str:
    """Every digit, so that numbers read back unchanged; nothing for a gap; whole numbers whole."""
    whole = [name for name in (*WHOLE, *counts) if name in frame and _whole(frame[name])]
    return frame.astype(dict.fromkeys(whole, "Int64")).to_csv(index=False, lineterminator="\n")


def _whole(column: pd.Series[float]) -> bool:
    return pd.api.types.is_float_dtype(column) and bool((column.dropna() % 1 == 0).all())


def tables_of(answers: Iterable[Answer]) -> list[Table | Grid]:
    """Every table once; two that would be the same file are a mistake."""
    found: dict[str, Table | Grid] = {}
    for answer in answers:
        for table in answer.tables:
            stem = stem_of(table)
            if found.setdefault(stem, table) is not table:
                raise ValueError(
                    f"two tables are called {stem}; the second is of {answer.question}"
                )
    return list(found.values())


def table_files(answers: Sequence[Answer], names: Runs) -> dict[str, str]:
    """The text of every file by its path below the folder of results."""
    files: dict[str, str] = {}
    tables = tables_of(answers)
    for table in tables:
        if isinstance(table, Table) and table.name in BESIDE_TABLES and not table.protocol:
            files[f"{table.name}.csv"] = csv_text(table.frame)
            continue
        if isinstance(table, Grid):
            files |= grid_files(table, names)
        elif len(table.frame):
            stem = stem_of(table)
            counts = [name for name, how in table.formats.items() if how.kind == "count"]
            files[f"{stem}.csv"] = csv_text(table.frame, counts)
            if len(table.frame) <= MOST_LINES:
                files[f"{stem}.tex"] = latex.table_latex(table)
    inputs = [name[len(TABLES) + 1 : -4] for name in files if name.endswith(".tex")]
    files[f"{TABLES}/all.tex"] = latex.document(inputs)
    grids = [table for table in tables if isinstance(table, Grid)]
    files[f"{TABLES}/macros.tex"] = latex.macros(grids, names, _counts(tables))
    return files


def stem_of(table: Table | Grid) -> str:
    return "/".join(part for part in (TABLES, table.protocol, table.name) if part)


def grid_files(grid: Grid, names: Runs) -> dict[str, str]:
    """Cells and summary as CSV; LaTeX in one file, or in one per task as the paper has it."""
    stem = stem_of(grid)
    made = {f"{stem}.csv": csv_text(grid.frame), f"{stem}-summary.csv": csv_text(grid.summary)}
    tasks = list(dict.fromkeys(grid.frame["task"])) if grid.split_by_task else []
    if not tasks:
        return {**made, f"{stem}.tex": latex.grid_latex(grid, names)}
    return made | {f"{stem}-{task}.tex": latex.grid_latex(grid, names, task) for task in tasks}


def _counts(tables: Iterable[Table | Grid]) -> Mapping[tuple[str, ...], int]:
    """How many cells of the paper's tables, and how many claims, have which outcome."""
    found: Counter[tuple[str, ...]] = Counter()
    for table in tables:
        if table.name not in BESIDE_TABLES or "outcome" not in table.frame:
            continue
        if table.name == "claims":
            found.update(("Claims", str(outcome)) for outcome in table.frame["outcome"])
        else:
            columns = zip(
                *(table.frame[name] for name in ("table", "method", "outcome")), strict=True
            )
            found.update(("Cells", str(a), str(b), str(c)) for a, b, c in columns)
    return found


def write(folder: Path, files: Mapping[str, str], *, keep: bool = False) -> list[str]:
    """Write files beside and rename them; remove tables that no answer owns any more.

    Parameters
    ----------
    keep : remove nothing.

    Returns
    -------
    list of str
        The files that were removed, all below the folder of tables.
    """
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f"{path.name}.part")
        beside.write_text(text, encoding="utf-8", newline="")
        beside.replace(path)
    removed = [] if keep else unowned(folder, files)
    for name in removed:
        (folder / name).unlink()
    return removed


def unowned(folder: Path, files: Iterable[str]) -> list[str]:
    """Files below the folder of tables that are none of these."""
    owned = set(files)
    paths = sorted((folder / TABLES).rglob("*.*"))
    names = [path.relative_to(folder).as_posix() for path in paths if path.is_file()]
    return [name for name in names if name not in owned and name.endswith((".csv", ".tex", ".md"))]


def figures_of(answers: Iterable[Answer]) -> list[Figure]:
    return [figure for answer in answers for figure in answer.figures]


def write_figures(answers: Iterable[Answer], folder: Path) -> list[Path]:
    """Every figure as PNG, SVG and PDF."""
    from experiments.output import figures

    found: list[Path] = []
    for figure in figures_of(answers):
        found += figures.save(figure.draw(), folder / figure.name)
    return found
