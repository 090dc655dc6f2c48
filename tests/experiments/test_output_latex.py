"""LaTeX that an author can \\input."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from output_samples import NAMES, grid, table

from experiments.analysis.answer import Format
from experiments.output import latex


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a_b & 5 % of #1 {x} $", r"a\_b \& 5 \% of \#1 \{x\} \$"),
        ("~ ^", r"\textasciitilde{} \textasciicircum{}"),
        ("\\", r"\textbackslash{}"),
        ("0.5 ± .1 (1)", r"0.5 $\pm$ .1 (1)"),
        ("[-0.012, +0.012]", "[$-$0.012, +0.012]"),
        ("10-0-12, pre-2024, paper-x", "10-0-12, pre-2024, paper-x"),
        ("<0.0001, n>12", r"$<$0.0001, n$>$12"),
        ("MRR ↑", r"MRR~$\uparrow$"),
        ("“it’s” – …", r"``it's'' -- \ldots{}"),
        ("https://example.org/a_b%20c", r"\urlstyle{same}\url{https://example.org/a_b%20c}"),
    ],
)
def test_text_is_printed_as_it_stands(text: str, escaped: str) -> None:
    assert latex.escape(text) == escaped


def test_a_grid_for_a_two_column_paper() -> None:
    text = latex.grid_latex(grid(), NAMES, "binary")
    assert text.startswith("\\providecommand{\\resultstable}{table*}\n\\begin{\\resultstable}")
    assert "resizebox" not in text
    assert text.index(r"\end{tabular}") < text.index(r"\caption{")
    assert r"\caption{\textbf{Test F1, tuned hyperparameters, binary.} Macro F1" in text
    assert r"\textbf{0.750 $\pm$ .034 (1)}" in text
    assert r"Mean Reciprocal Rank (MRR)~$\uparrow$ & 0.500" in text
    assert r"\label{tab:paper-test-f1-tuned-binary}" in text
    assert not re.search(r"\\midrule\s*\\bottomrule", text)
    assert not re.search(r"\\midrule\s*\\midrule", text)


def test_the_note_says_what_marks_mean() -> None:
    frame = grid().frame.assign(stable_trials=4, refitted_trials=10)
    frame.loc[0, "n"] = 7
    frame.loc[1, ["mean", "missing"]] = [float("nan"), ""]
    text = latex.grid_latex(grid(frame=frame), NAMES)
    for told in (
        "where fewer than 10",
        "--: not run",
        r"$^{\dagger}$: a rounding",
        r"$^{7\dagger}$",
    ):
        assert told in text
    plain = latex.grid_latex(grid(), NAMES)
    assert "Exponents" not in plain
    assert "not run" not in plain
    assert "dagger" not in plain


def test_tables_have_thousands_groups_and_one_label_each() -> None:
    text = latex.table_latex(table(notes=("A note.",)))
    assert "1,372" in text
    assert r"$<$0.0001" in text
    assert r"\multicolumn{1}{c}{Sizes}" in text
    assert text.count(r"\label{") == text.count(r"\begin{\resultstable}") == 1
    assert "Mean difference of test F1. A note." in text


def sizes(text: str) -> list[int]:
    """Columns of every tabular."""
    return [
        len(re.sub(r">\{[^}]*\}p\{[^}]*\}", "l", each))
        for each in re.findall(r"\\begin\{tabular\}\{(.*)\}\n", text)
    ]


def test_what_is_too_wide_is_continued_with_its_labels() -> None:
    frame = pd.DataFrame({"Dataset": ["Iris"] * 3})
    for number in range(30):
        frame[f"Group {number // 10}: column {number}"] = [0.123456] * 3
    text = latex.table_latex(table(frame=frame, formats={}))
    assert len(sizes(text)) > 1
    assert sum(sizes(text)) == 30 + len(sizes(text))
    assert text.count("GradTree against CART, continued.") == len(sizes(text)) - 1
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert len(set(labels)) == len(labels) == len(sizes(text))
    assert text.count("Iris &") == 3 * len(sizes(text))


def test_what_is_too_tall_is_continued() -> None:
    frame = pd.DataFrame({"Dataset": [f"Dataset {n}" for n in range(150)], "F1": [0.5] * 150})
    text = latex.table_latex(table(frame=frame, formats={"F1": Format()}))
    assert len(sizes(text)) == 4
    assert all(f"Dataset {n} &" in text for n in range(150))


def test_long_texts_wrap_instead_of_leaving_the_page() -> None:
    frame = pd.DataFrame({"Claim": ["many words " * 30], "Outcome": ["holds " * 40], "n": [3]})
    text = latex.table_latex(table(frame=frame, formats={}))
    widths = [int(width) for width in re.findall(r"p\{(\d+)pt\}", text)]
    assert len(widths) == 2
    assert sum(widths) <= latex.WIDTH
    assert sizes(text) == [3]


def test_macros_are_letters_and_unique() -> None:
    text = latex.macros([grid(), grid(protocol="clean")], NAMES, {("Cells", "dl8.5"): 1234})
    names = re.findall(r"\\newcommand\{\\(\w+)\}", text)
    assert len(set(names)) == len(names) == 2 * 8 + 1
    assert all(name.isalpha() for name in names)
    assert r"\newcommand{\TestFOneTunedBinaryMRRCART}{1.000}" in text
    assert r"\newcommand{\CleanTestFOneTunedMultiMRRGradTree}{0.500}" in text
    assert r"\newcommand{\CellsDlEightFive}{1,234}" in text
