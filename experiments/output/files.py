"""Answers as files: every table as CSV and LaTeX, verdicts and claims, figures; and stored trees,
one JSON file per dataset, drawn without data or learners.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.analysis.answer import Answer, Grid, Table
from experiments.analysis.runs import Runs
from experiments.errors import UserError
from experiments.output import latex
from experiments.text import NO_NEW_ROW

TABLES, FIGURES, TREES = "tables", "figures", "trees"
FORMATS = ("svg", "pdf", "png")
BESIDE_TABLES = ("verdicts", "claims")
"""Tables that are files beside the folder of tables, and CSV alone."""
TREE_FORMAT = "gradtree-report-trees/1"
CODES = (
    "Conditions are those for new rows. Training rows have codes of their own: the mean label of "
    "the other rows in their category, which depends on their own label. So the counts are not "
    f"always those of the rows that fulfil the conditions, and a branch marked “{NO_NEW_ROW}” was "
    "taken by training rows alone."
)
MOST_LINES = 200
"""A longer table is data, for CSV alone."""
WHOLE = ("n", "expected", "rank", "paper_rank", "stable_trials", "refitted_trials", "ours_n")


def csv_text(frame: pd.DataFrame, counts: Iterable[str] = ()) -> str:
    """Every digit, so that numbers read back unchanged; nothing for a gap; whole numbers whole."""
    numbers = [name for name in frame.select_dtypes("float") if name in (*WHOLE, *counts)]
    whole = [name for name in numbers if (frame[name].dropna() % 1 == 0).all()]
    return frame.astype(dict.fromkeys(whole, "Int64")).to_csv(index=False, lineterminator="\n")


def table_files(answers: Iterable[Answer], names: Runs) -> dict[str, str]:
    """The text of every file by its path below the folder of results."""
    files: dict[str, str] = {}
    tables: dict[str, Table | Grid] = {}
    for table in [table for answer in answers for table in answer.tables]:
        stem = "/".join(part for part in (TABLES, table.protocol, table.name) if part)
        if tables.setdefault(stem, table) is not table:
            raise UserError(f"two tables are called {stem}\nRename that of your plug-in.")
    for stem, table in tables.items():
        if isinstance(table, Grid):
            files |= grid_files(table, names, stem)
        elif table.name in BESIDE_TABLES and not table.protocol:
            files[f"{table.name}.csv"] = csv_text(table.frame)
        elif len(table.frame):
            counts = [name for name, how in table.formats.items() if how.kind == "count"]
            files[f"{stem}.csv"] = csv_text(table.frame, counts)
            if len(table.frame) <= MOST_LINES:
                files[f"{stem}.tex"] = latex.table_latex(table)
    inputs = [name[len(TABLES) + 1 : -4] for name in files if name.endswith(".tex")]
    grids = [table for table in tables.values() if isinstance(table, Grid)]
    files[f"{TABLES}/all.tex"] = latex.document(inputs)
    files[f"{TABLES}/macros.tex"] = latex.macros(grids, names, _counts(tables.values()))
    return files


def grid_files(grid: Grid, names: Runs, stem: str) -> dict[str, str]:
    """Cells and summary as CSV; LaTeX in one file, or in one per task as the paper has it."""
    made = {f"{stem}.csv": csv_text(grid.frame), f"{stem}-summary.csv": csv_text(grid.summary)}
    tasks = grid.frame["task"].unique() if grid.split_by_task else [""]
    parts = {f"{stem}-{task}".rstrip("-"): task for task in tasks}
    return made | {f"{n}.tex": latex.grid_latex(grid, names, task) for n, task in parts.items()}


def _counts(tables: Iterable[Table | Grid]) -> Mapping[tuple[str, ...], int]:
    """How many cells of the paper's tables, and how many claims, have which outcome."""
    found = Counter[tuple[str, ...]]()
    wanted = {"claims": ["Claims", "outcome"], "verdicts": ["Cells", "table", "method", "outcome"]}
    for table in tables:
        if table.name in wanted and "outcome" in table.frame:
            word, *columns = wanted[table.name]
            found.update((word, *row) for row in table.frame[columns].to_numpy().tolist())
    return found


def put(path: Path, content: bytes) -> Path:
    """Write a file beside its place and rename it, so that it is never there in part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.part")
    beside.write_bytes(content)
    return beside.replace(path)


def write(folder: Path, files: Mapping[str, str], *, keep: bool = False) -> list[str]:
    """Write files and, unless told to ``keep`` them, remove and return tables nobody owns."""
    for name, text in files.items():
        put(folder / name, text.encode())
    removed = [] if keep else unowned(folder, files)
    for name in removed:
        (folder / name).unlink()
    return removed


def unowned(folder: Path, files: Iterable[str]) -> list[str]:
    """Files below the folder of tables that are none of these."""
    paths = [path for kind in ("csv", "tex") for path in (folder / TABLES).rglob(f"*.{kind}")]
    return sorted({path.relative_to(folder).as_posix() for path in paths} - {*files})


def save(figure: Any, stem: Path) -> list[Path]:
    """Write ``stem.svg``, ``.pdf`` and ``.png``; nothing where they look so already, which the SVG
    tells: whatever changes the look changes its bytes, and it is drawn ten times as fast.
    """
    from experiments.analysis.drawing import render

    paths = {kind: stem.with_name(f"{stem.name}.{kind}") for kind in FORMATS}
    drawn = render(figure, "svg")
    if stale(figure, stem) or paths["svg"].read_bytes() != drawn:
        for kind, path in paths.items():
            put(path, drawn if kind == "svg" else render(figure, kind))
    return list(paths.values())


def stale(figure: Any, stem: Path) -> list[str]:
    """The files of a figure that are missing or show other data."""
    from experiments.analysis.drawing import data_hash  # imports Matplotlib

    wanted, found = data_hash(figure).encode(), []
    for path in [stem.with_name(f"{stem.name}.{kind}") for kind in FORMATS]:
        if not path.is_file():
            found.append(f"{path.name} is missing")
        elif wanted not in path.read_bytes():
            found.append(f"{path.name} shows other data than the runs give")
    return found


def write_trees(folder: Path, dataset: str, entries: Iterable[Mapping[str, Any]]) -> Path:
    """Write the file of one dataset. Of an entry, ``tree`` is the tree as learned, on preprocessed
    columns; ``splits`` says for each inner node which raw column it tests and what sends a row left
    or right: ``{"0": ["petal width", "≤ 0.8", "> 0.8"], ...}``.
    """
    content = {"format": TREE_FORMAT, "dataset": dataset, "trees": list(entries)}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return put(folder / f"{dataset}.json", f"{text}\n".encode())


def read_trees(folder: Path, dataset: str) -> list[dict[str, Any]]:
    """The stored trees of a dataset; none if it has no file."""
    path = folder / f"{dataset}.json"
    if not path.is_file():
        return []
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] == TREE_FORMAT:
            return list(content["trees"])
    except (ValueError, KeyError, TypeError):
        pass
    remedy = f"write it again with `python -m experiments trees --dataset {dataset}`"
    raise UserError(f"{path} holds no trees of format {TREE_FORMAT!r}; {remedy}")


def codes_note(dataset: Mapping[str, Any], protocol: str) -> str:
    """What codes the training rows of a dataset have, where they differ from those of new rows."""
    return CODES if dataset.get("categorical") and protocol.startswith("paper") else ""
