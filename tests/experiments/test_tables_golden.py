"""Small tables, byte for byte. After an intended change, look at what pytest shows and adopt it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tables_support import runs

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
from experiments.analysis.table_set import TableSet
from experiments.render import clean, csvfiles, latex, numbers
from experiments.render.files import macro_name, macros_latex
from experiments.render.markdown import sheet_markdown
from experiments.render.report import view

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
            SheetColumn("p", kind="p"),
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
    pair = tuple(_finished(found.table_sets[each].tables["test-f1-tuned"]) for each in scores)
    claims = [
        (Claim("best", "X is best.", "Table 1", outcome, "MRR: 1", "holds", "MRR: 2"),)
        for outcome in ("holds", "does not hold")
    ]
    return clean.clean_page([pair], {"car"}, tuple(claims))


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
    "macros.tex": lambda: macros_latex([TableSet("paper", {"small": small_table()}, {}, {})]),
    "all.tex": lambda: latex.document_latex(["paper/small", "paper/small-sheet"]),
    "clean.md": _changed_page,
}


@pytest.mark.parametrize("name", list(TEXTS))
def test_golden(name):
    assert TEXTS[name]().encode() == (GOLDEN / name).read_bytes()


@pytest.mark.parametrize(
    ("p", "text", "phrase"),
    [
        (0.0, "<0.0001", "p < 0.0001"),
        (0.00009, "<0.0001", "p < 0.0001"),
        (0.0001, "0.0001", "p = 0.0001"),
        (0.006, "0.0060", "p = 0.0060"),
    ],
)
def test_a_small_p_value_is_not_zero(p, text, phrase):
    assert numbers.p_value(p) == text
    assert numbers.p_phrase(p) == phrase


def test_every_format_prints_the_same_figures():
    sheet = Sheet(
        "s",
        "S",
        "",
        "",
        (
            SheetColumn("Method"),
            SheetColumn("change", kind="change"),
            SheetColumn("p", kind="p"),
            SheetColumn("size", 1),
        ),
        (("CART", 0.01234, 0.00001, 1234.56), ("DNDT", -0.00001, 0.5, None)),
    )
    tex = latex.sheet_latex(sheet)
    assert r"CART & +0.012 & $<$0.0001 & 1234.6 \\" in tex
    assert r"DNDT & 0.000 & 0.5000 & -- \\" in tex
    assert "| CART | +0.012 | <0.0001 | 1234.6 |\n| DNDT | 0.000 | 0.5000 | – |" in (
        sheet_markdown(sheet)
    )
    page = [
        [view.entry(value, column)[0] for value, column in zip(row, sheet.columns, strict=True)]
        for row in sheet.rows
    ]
    assert page == [["CART", "+0.012", "<0.0001", "1,234.6"], ["DNDT", "0.000", "0.5000", view.GAP]]
    assert csvfiles.sheet_csv(sheet).splitlines()[1:] == [
        "CART,0.01234,1e-05,1234.56",
        "DNDT,-1e-05,0.5,",
    ]


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
