"""How numbers and tables are shown."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from output_samples import NAMES, grid, table

from experiments.analysis.answer import Format
from experiments.output import formats


@pytest.mark.parametrize(
    ("value", "decimals", "shown"),
    [
        (0.12345, 3, "0.123"),
        (0.0, 3, "0.000"),
        (-0.0, 3, "0.000"),
        (1e-17, 3, "0.000"),
        (0.0004, 3, "0.0004"),
        (0.0000004, 3, "0.000"),
        (-0.0004, 3, "-0.0004"),
        (12345.678, 1, "12,345.7"),
        (math.inf, 3, "not a number"),
    ],
)
def test_a_number(value: float, decimals: int, shown: str) -> None:
    assert formats.number(value, decimals) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0131, "+0.013"),
        (-0.0131, "-0.013"),
        (0.0, "0.000"),
        (-1e-15, "0.000"),
        (-0.0002, "-0.0002"),
        (0.0000001, "+0.000"),
        (-0.0000001, "-0.000"),
    ],
)
def test_a_change_keeps_its_sign(value: float, shown: str) -> None:
    assert formats.change(value) == shown


def test_a_p_value_is_never_zero() -> None:
    shown = [formats.show(p, Format(kind="p")) for p in (0.0, 1e-300, 0.00123, 0.0412, 1.0)]
    assert shown == ["<0.0001", "<0.0001", "0.0012", "0.041", "1.000"]


@pytest.mark.parametrize(
    ("value", "how", "shown"),
    [
        (None, Format(), ""),
        (math.nan, Format(), ""),
        (pd.NA, Format(), ""),
        ("n>12", Format(), "n>12"),
        (True, Format(), "yes"),
        (45211, Format(), "45,211"),
        (np.int64(45211), Format(), "45,211"),
        (45211.0, Format(kind="count"), "45,211"),
        (7.25, Format(kind="count", decimals=1), "7.2"),
        (0.5, Format(2), "0.50"),
    ],
)
def test_a_field(value: object, how: Format, shown: str) -> None:
    assert formats.show(value, how) == shown


def test_a_table_joins_limits_and_spreads_and_marks_the_best() -> None:
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


def test_limits_beside_a_mean_are_called_an_interval() -> None:
    frame = pd.DataFrame({"X": ["a"], "F1: mean": [0.5], "F1: low": [0.4], "F1: high": [0.6]})
    found = formats.shown(table(frame=frame, formats={}))
    assert found.headers == ("X", "mean", "95 % interval")
    assert found.groups == ("", "F1", "F1")


def test_the_best_of_a_row_is_among_the_columns_that_compete() -> None:
    frame = pd.DataFrame({"Setting": ["a"], "x": [0.5], "y": [0.6], "beside": [0.9]})
    one = table(frame=frame, formats={}, best_in_row="max")
    assert [c.text for c in formats.shown(one).lines[0].cells if c.bold] == ["0.900"]
    few = replace(one, formats=dict.fromkeys(("x", "y"), Format(best="max")))
    assert [c.text for c in formats.shown(few).lines[0].cells if c.bold] == ["0.600"]


def test_a_grid_is_laid_out_as_in_the_paper() -> None:
    found = formats.shown_grid(grid(), NAMES)
    assert found.headers == ("Dataset", "GradTree", "CART")
    assert found.spans(range(3)) == [("", 1), ("Gradient-based", 1), ("Greedy", 1)]
    lines = [[cell.text for cell in line.cells] for line in found.lines]
    assert lines[0] == ["Binary"]
    assert lines[1] == ["Blood", "0.710 ± .034 (2)", "0.750 ± .034 (1)"]
    assert lines[3] == ["Mean Reciprocal Rank (MRR) ↑", "0.500 ± .100 (2)", "1.000 ± .100 (1)"]
    assert lines[6] == ["Zoo", "0.720 ± .034 (2)", "n>12"]
    assert [found.lines[1].cells[at].bold for at in (1, 2)] == [False, True]
    assert not any("Mean ↑" in line[0] for line in lines)  # the paper does not print it there


def test_marks_of_a_cell() -> None:
    frame = grid().frame.assign(stable_trials=4, refitted_trials=10)
    frame.loc[0, "n"] = 7
    frame.loc[1, ["missing", "rank"]] = ["(0.893)", None]  # ours, where the paper has no number
    cells = formats.shown_grid(grid(frame=frame), NAMES, "binary").lines[0].cells
    assert cells[1].mark == "7†"
    assert (cells[2].text, cells[2].bold, cells[2].mark) == ("(0.893)", False, "")
