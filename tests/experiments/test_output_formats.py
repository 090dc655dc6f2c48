r"""How numbers and tables are shown, and LaTeX that an author can \input."""

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from output_samples import NAMES, grid, table

from experiments.analysis.answer import Format
from experiments.output import formats, latex


@pytest.mark.parametrize(
    ("how", "values", "shown"),
    [
        (Format(), (0.12345, 0.0, -0.0, 1e-17), "0.123 0.000 0.000 0.000"),
        (Format(), (0.0004, 0.0000004, -0.0004), "0.0004 0.000 -0.0004"),
        (Format(1), (12345.678, 7.25), "12,345.7 7.2"),
        (Format(kind="change"), (0.0131, -0.0131, 0.0, -1e-15), "+0.013 -0.013 0.000 0.000"),
        (Format(kind="change"), (-0.0002, 0.0000001, -0.0000001), "-0.0002 +0.000 -0.000"),
        (Format(kind="p"), (0.0, 1e-300, 0.00123), "<0.0001 <0.0001 0.0012"),
        (Format(kind="p"), (0.0412, 1.0), "0.041 1.000"),
        (Format(), ("n>12", 45211, np.int64(45211)), "n>12 45,211 45,211"),
        (Format(1, kind="count"), (45211.0, 7.25), "45,211 7.2"),
    ],
)
def test_changes_keep_their_sign_and_p_values_are_never_zero(how, values, shown):
    assert " ".join(formats.show(value, how) for value in values) == shown


def test_a_gap_is_empty_and_what_is_endless_no_number():
    assert [formats.show(gap) for gap in (None, math.nan, pd.NA)] == [""] * 3
    assert formats.show(math.inf) == "not a number"


def test_a_table_joins_limits_and_spreads_and_marks_the_best():
    found = formats.shown(table())
    assert found.headers == ("Learner", "datasets", "difference", "95 % interval", "p", "ours")
    assert found.groups == ("", "", "", "", "", "Sizes")
    assert found.numeric == (False, True, True, True, True, True)
    texts = [[cell.text for cell in line.cells] for line in found.lines]
    assert texts[0] == [
        *("GradTree", "1,372", "-0.0002", "[-0.012,\u00a0+0.012]", "<0.0001", "55.0 ± 3.0")
    ]
    assert texts[1][-1] == "7.2"
    bold = [[cell.bold for cell in line.cells] for line in found.lines]
    assert np.argwhere(bold).tolist() == [[1, 5]]


def test_the_best_of_a_row_is_among_the_columns_that_compete():
    frame = pd.DataFrame({"Setting": ["a"], "x": [0.5], "y": [0.6], "beside": [0.9]})
    one = table(frame=frame, formats={}, best_in_row="max")
    assert [c.text for c in formats.shown(one).lines[0].cells if c.bold] == ["0.900"]
    few = replace(one, formats=dict.fromkeys(("x", "y"), Format(best="max")))
    assert [c.text for c in formats.shown(few).lines[0].cells if c.bold] == ["0.600"]


def test_marks_of_a_cell():
    frame = grid().frame.assign(stable_trials=4, refitted_trials=10)
    frame.loc[0, "n"] = 7
    frame.loc[1, ["missing", "rank"]] = ["(0.893)", None]  # ours, where the paper has no number
    cells = formats.shown_grid(grid(frame=frame), NAMES, "binary").lines[0].cells
    assert cells[1].mark == "7†"
    assert (cells[2].text, cells[2].bold, cells[2].mark) == ("(0.893)", False, "")


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
def test_text_is_printed_as_it_stands(text, escaped):
    assert latex.escape(text) == escaped


def test_a_grid_for_a_two_column_paper():
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


def sizes(text: str) -> list[int]:
    """Columns of every tabular."""
    return [
        len(re.sub(r">\{[^}]*\}p\{[^}]*\}", "l", each))
        for each in re.findall(r"\\begin\{tabular\}\{(.*)\}\n", text)
    ]


def test_what_is_too_wide_is_continued_with_its_labels():
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


def test_macros_are_letters_and_unique():
    text = latex.macros([grid(), grid(protocol="clean")], NAMES, {("Cells", "dl8.5"): 1234})
    names = re.findall(r"\\newcommand\{\\(\w+)\}", text)
    assert len(set(names)) == len(names) == 2 * 8 + 1
    assert all(name.isalpha() for name in names)
    assert r"\newcommand{\TestFOneTunedBinaryMRRCART}{1.000}" in text
    assert r"\newcommand{\CleanTestFOneTunedMultiMRRGradTree}{0.500}" in text
    assert r"\newcommand{\CellsDlEightFive}{1,234}" in text
