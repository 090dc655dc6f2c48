"""Verdicts: the paper's numbers are exact everywhere, the test is Welch's, gaps are missing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tables_support import paper_as_ours, spread_values

from experiments.analysis.definitions import grids
from experiments.analysis.findings import findings_of
from experiments.analysis.grids import paper_table
from experiments.analysis.judging import agreements, judge_table, welch
from experiments.analysis.model import Cell, Table
from experiments.analysis.paper import load_paper
from experiments.render.terminal import verdict_lines

PAPER = load_paper()
GRID = grids()["test-f1-tuned"]
PRINTED = paper_table(GRID, PAPER)


@pytest.fixture(scope="module")
def found():
    return findings_of(*paper_as_ours(PAPER), paper=PAPER)


def _cell(mean: float, std: float, n: int = 10, expected: int = 10) -> Cell:
    return Cell(mean, std, n, expected)


def _with_cell(dataset: str, method: str, cell: Cell, table: Table = PRINTED) -> Table:
    at = table.column(method)
    blocks = tuple(
        replace(
            block,
            rows=tuple(
                replace(row, cells=(*row.cells[:at], cell, *row.cells[at + 1 :]))
                if row.dataset == dataset
                else row
                for row in block.rows
            ),
        )
        for block in table.blocks
    )
    return replace(table, blocks=blocks)


def _verdict(dataset: str, method: str, cell: Cell, table: str = GRID.name):
    grid = grids()[table]
    printed = paper_table(grid, PAPER)
    verdicts = judge_table(grid, _with_cell(dataset, method, cell, printed), printed, PAPER)
    return next(each for each in verdicts if (each.dataset, each.method) == (dataset, method))


def test_the_papers_own_numbers_are_exact_everywhere(found):
    assert {verdict.outcome for verdict in found.verdicts} == {"exact"}
    assert len(found.verdicts) == 5 * 180 + 2 * 108


def test_the_papers_own_numbers_give_its_summaries(found):
    for name, table in found.books["paper"].tables.items():
        for block in table.blocks:
            printed = found.printed.tables[name].block(block.task)
            for mine, theirs in zip(block.summaries, printed.summaries, strict=True):
                for a, b in zip(mine.statistics, theirs.statistics, strict=True):
                    assert a.value == pytest.approx(b.value, abs=1e-5)
                    assert a.spread == pytest.approx(b.spread, abs=1e-5)
                    assert a.rank == b.rank


def test_lines_count_exact_cells_per_method(found):
    lines = verdict_lines(found.verdicts)
    assert lines.count("  CART: 36/36 exact") == 5
    assert "  DNDT: 16/16 exact" in lines
    assert "  DL8.5: 35/35 exact" in lines


def test_exact_needs_the_deviation_too():
    assert _verdict("iris", "cart", _cell(0.938, 0.2)).outcome != "exact"


def test_exact_needs_all_trials():
    paper = PAPER.cells["test-f1-tuned"]["iris", "cart"]
    verdict = _verdict("iris", "cart", _cell(paper.mean, paper.std, n=4))
    assert verdict.outcome == "consistent"
    assert verdict.note == "4 of 10 trials"


@pytest.mark.parametrize("nudge", [-0.0005, -0.00049, 0.0005])
def test_what_rounds_to_the_printed_digits_is_exact(nudge):
    paper = PAPER.cells["test-f1-tuned"]["adult", "cart"]
    assert _verdict("adult", "cart", _cell(paper.mean + nudge, paper.std)).outcome == "exact"
    beyond = _cell(paper.mean + 3 * nudge, paper.std)
    assert _verdict("adult", "cart", beyond).outcome == "consistent"


@pytest.mark.parametrize(
    ("shift", "outcome"), [(0.2, "better"), (-0.2, "worse"), (0.02, "consistent")]
)
def test_a_significant_difference_has_a_direction(shift, outcome):
    paper = PAPER.cells["test-f1-tuned"]["iris", "gradtree"]
    verdict = _verdict("iris", "gradtree", _cell(paper.mean + shift, paper.std))
    assert verdict.outcome == outcome
    assert verdict.difference == pytest.approx(shift)


def test_smaller_trees_are_better():
    cell = _cell(20.0, 2.0)
    assert _verdict("blood-transfusion", "cart", cell, "tree-size-tuned").outcome == "better"


@pytest.mark.parametrize(
    ("std", "outcome"), [(-0.0051, "exact"), (-0.0056, "consistent"), (0.0051, "exact")]
)
def test_sizes_were_rounded_to_three_decimals_before_two(std, outcome):
    paper = PAPER.cells["tree-size-tuned"]["car", "genetictree"]
    cell = _cell(paper.mean, paper.std + std)
    assert _verdict("car", "genetictree", cell, "tree-size-tuned").outcome == outcome


def test_without_a_result_it_is_missing_and_says_why():
    assert _verdict("iris", "cart", Cell(expected=10)).note == "not run"
    crashed = _verdict("iris", "cart", Cell(expected=10, missing="crash"))
    assert (crashed.outcome, crashed.note) == ("missing", "crash")


def test_a_result_where_the_paper_has_none_is_missing_there():
    verdict = _verdict("splice", "dl85", _cell(0.9, 0.01))
    assert (verdict.outcome, verdict.note) == ("missing", "the paper prints >60 min")


def test_the_papers_misprint_on_splice_is_accepted():
    grid = grids()["tree-size-tuned"]
    printed = paper_table(grid, PAPER)
    for text in (">60 min", "n>12"):
        ours = _with_cell("splice", "dl85", Cell(expected=10, missing=text), printed)
        verdicts = judge_table(grid, ours, printed, PAPER)
        assert verdicts[-2].dataset == "splice"
        assert verdicts[-2].outcome == "exact"


def test_many_cells_are_corrected_for():
    paper = PAPER.cells["test-f1-tuned"]["iris", "gradtree"]
    verdict = _verdict("iris", "gradtree", _cell(paper.mean - 0.07, paper.std))
    assert verdict.p_value < 0.05 < verdict.p_adjusted
    assert verdict.outcome == "consistent"


@pytest.mark.parametrize("n", [2, 5, 10])
def test_welch_is_scipys_but_for_the_rounding_of_the_printed_figures(n):
    ours, theirs = _cell(0.62, 0.05, n), _cell(0.7, 0.03)
    reference = stats.ttest_ind_from_stats(
        ours.mean,
        ours.std * np.sqrt(n / (n - 1)),
        n,
        theirs.mean,
        theirs.std * np.sqrt(10 / 9),
        10,
        equal_var=False,
    ).pvalue
    assert welch(ours, theirs, decimals=12, std_decimals=12) == pytest.approx(reference)
    assert welch(ours, theirs, decimals=3, std_decimals=3) > reference


def test_few_trials_spread_at_least_as_much_as_the_papers():
    paper = PAPER.cells["test-f1-tuned"]["iris", "gradtree"]
    pair = _cell(paper.mean + paper.std, 0.0, n=2, expected=2)
    assert _verdict("iris", "gradtree", pair).outcome == "consistent"
    same = _cell(paper.mean, paper.std, n=2, expected=2)
    assert _verdict("iris", "gradtree", same).note == "2 of 10 trials"
    assert _verdict("iris", "gradtree", same).outcome == "consistent"


def test_a_single_trial_is_judged_with_the_papers_spread():
    near = welch(_cell(0.72, 0.0, n=1), _cell(0.7, 0.03), 3, 3)
    far = welch(_cell(0.95, 0.0, n=1), _cell(0.7, 0.03), 3, 3)
    assert far < 0.001 < 0.3 < near


def test_equal_constant_cells_do_not_divide_by_zero():
    assert welch(_cell(1.0, 0.0), _cell(1.0, 0.0), 3, 3) == 1.0


def test_the_share_of_false_alarms_is_at_most_the_level():
    rng = np.random.default_rng(7)
    alarms = 0
    for _ in range(2000):
        mine, theirs = rng.normal(0.8, 0.05, (2, 10))
        printed = _cell(round(theirs.mean(), 3), round(theirs.std(), 3))
        alarms += welch(_cell(mine.mean(), mine.std()), printed, 3, 3) < 0.05
    assert 0.02 < alarms / 2000 < 0.06


def test_agreement_sees_a_shift_that_no_cell_shows():
    table = PRINTED
    for row in [row for block in PRINTED.blocks for row in block.rows]:
        cell = row.cells[0]
        table = _with_cell(row.dataset, "gradtree", _cell(cell.mean - 0.002, cell.std), table)
    verdicts = judge_table(GRID, table, PRINTED, PAPER)
    found = {each.method: each for each in agreements(verdicts)}
    assert found["gradtree"].counts["consistent"] == 36
    assert found["gradtree"].mean_difference == pytest.approx(-0.002)
    assert found["gradtree"].p_value < 0.001
    assert found["cart"].mean_difference == 0
    assert found["cart"].p_value == 1


def test_helper_values_have_the_moments_they_are_made_for():
    values = np.array(spread_values(0.7, 0.05))
    assert values.mean() == pytest.approx(0.7)
    assert values.std() == pytest.approx(0.05)
