"""Small tables, byte for byte. After an intended change, look at what pytest shows and adopt it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tables_support import runs

from experiments.analysis.clean_effect import changes
from experiments.analysis.findings import findings_of
from experiments.analysis.model import (
    Block,
    Cell,
    Claim,
    Column,
    Row,
    Sheet,
    SheetColumn,
    Statistic,
    Summary,
    Table,
)
from experiments.analysis.paper import load_paper
from experiments.analysis.ranking import bracket_ranks, mean_reciprocal_rank, wins
from experiments.analysis.table_set import Book
from experiments.render import csvfiles, latex
from experiments.render.macros import macro_name, macros_latex
from experiments.render.protocol_page import protocol_page

GOLDEN = Path(__file__).with_name("golden_tables")


def _cell(mean: float, std: float, n: int = 10) -> Cell:
    return Cell(mean, std, n, 10)


def small_table() -> Table:
    """Every kind of cell: best, tied, partial, refused, timed out, not run yet."""
    cells = {
        "first": (_cell(0.9, 0.0125), _cell(0.85, 0.1), Cell(expected=10, missing="n>12")),
        "second": (_cell(0.75, 0.05, 3), _cell(0.75, 0.05), Cell(expected=10, missing=">60 min")),
        "third": (Cell(expected=10), _cell(2 / 3, 1 / 30), _cell(1.0, 0.0)),
    }
    rows = tuple(
        Row(slug, f"{slug.capitalize()} & Co", line, bracket_ranks(line))
        for slug, line in cells.items()
    )
    lines = [row.cells for row in rows]
    summaries = (
        Summary("MRR", tuple(mean_reciprocal_rank(lines))),
        Summary("Wins", tuple(wins(lines)), decimals=0, in_paper=False),
    )
    return Table(
        name="small",
        title="Small",
        caption="A small table",
        measure="test_f1",
        experiment="tuned",
        source="paper",
        columns=(
            Column("gradtree", "GradTree", "Gradient-based"),
            Column("dndt", "DNDT", "Gradient-based"),
            Column("dl85", "DL8.5", "Non-greedy"),
        ),
        blocks=(Block("binary", rows[:2], ()), Block("multi", rows, summaries)),
    )


def small_sheet() -> Sheet:
    return Sheet(
        name="small-sheet",
        title="Small sheet",
        caption="Numbers, text and gaps",
        source="paper",
        columns=(
            SheetColumn("Method"),
            SheetColumn("nodes", 0, "min", "Size"),
            SheetColumn("leaves", 1, group="Size"),
            SheetColumn("F1", 3, "max"),
            SheetColumn("p", 4),
        ),
        rows=(
            ("CART_1", 10.4, 5, Statistic(0.5, 0.25, 4), 0.05),
            ("100 %", 9.6, None, Statistic(0.75, None, 4), 0.00001),
        ),
        notes=("A note.",),
    )


def _changed_page() -> str:
    """Two methods on two datasets under both protocols; the lead changes."""
    jobs, records = [], {}
    scores = {
        "paper": {"iris": (0.9, 0.8), "car": (0.5, 0.4)},
        "clean": {"iris": (0.91, 0.95), "car": (0.5, 0.85)},
    }
    for protocol, rows in scores.items():
        for dataset, values in rows.items():
            for method, value in zip(("gradtree", "cart"), values, strict=True):
                more_jobs, more = runs("tuned", dataset, method, [value], protocol=protocol)
                jobs += more_jobs
                records |= more
    found = findings_of(jobs, records, paper=load_paper())
    pair = tuple(_finished(found.books[each].tables["test-f1-tuned"]) for each in scores)
    claims = [
        (Claim("best", "X is best.", "Table 1", outcome, "MRR: 1", "holds", "MRR: 2"),)
        for outcome in ("holds", "does not hold")
    ]
    return protocol_page(
        {"test-f1-tuned": pair}, {"test-f1-tuned": changes(*pair, {"car"})}, tuple(claims)
    )


def _finished(table: Table) -> Table:
    """Without the columns that have no results."""
    keep = [table.column(method) for method in ("gradtree", "cart")]
    return Table(
        **{
            **vars(table),
            "columns": tuple(table.columns[at] for at in keep),
            "blocks": tuple(
                Block(
                    block.task,
                    tuple(
                        Row(
                            row.dataset,
                            row.name,
                            tuple(row.cells[at] for at in keep),
                            tuple(row.ranks[at] for at in keep),
                        )
                        for row in block.rows
                    ),
                    (),
                )
                for block in table.blocks
            ),
        }
    )


TEXTS = {
    "small.csv": lambda: csvfiles.table_csv(small_table()),
    "small-summary.csv": lambda: csvfiles.summary_csv(small_table()),
    "small.tex": lambda: latex.table_latex(small_table()),
    "small-multi.tex": lambda: latex.table_latex(small_table(), "multi"),
    "small-sheet.csv": lambda: csvfiles.sheet_csv(small_sheet()),
    "small-sheet.tex": lambda: latex.sheet_latex(small_sheet()),
    "macros.tex": lambda: macros_latex([Book("paper", {"small": small_table()}, {}, {})]),
    "all.tex": lambda: latex.document_latex(["paper/small", "paper/small-sheet"]),
    "clean.md": _changed_page,
}


@pytest.mark.parametrize("name", list(TEXTS))
def test_golden(name):
    assert TEXTS[name]().encode() == (GOLDEN / name).read_bytes()


def test_csv_reads_back_unchanged():
    lines = csvfiles.table_csv(small_table()).splitlines()
    third = next(line for line in lines if line.startswith("multi,third,dndt")).split(",")
    assert float(third[3]) == 2 / 3


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("n>12", "n$>$12"),
        ("50 % & more_or#less", r"50 \% \& more\_or\#less"),
        ("a\\b{c}~^$", r"a\textbackslash{}b\{c\}\textasciitilde{}\textasciicircum{}\$"),
    ],
)
def test_special_characters_are_escaped(text, printed):
    assert latex.escape(text) == printed


def test_macro_names_are_letters_only():
    assert macro_name("clean", "test-f1-tuned", "DL8.5") == "CleanTestFOneTunedDLEightFive"
