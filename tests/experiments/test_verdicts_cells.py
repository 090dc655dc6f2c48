"""Verdicts: exact, equivalent, undecided, better, worse; what may be claimed from how many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from tables_support import paper_as_ours, runs, spread_values

from experiments.analysis.findings import findings_of
from experiments.analysis.grids import collect, paper_table
from experiments.analysis.judging import agreements, equivalence, judge_table, margin, welch
from experiments.analysis.model import Cell, Table
from experiments.analysis.paper import grids, load_paper
from experiments.analysis.verifying import tally
from experiments.render import wording
from experiments.render.wording import verdict_lines

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
    for name, table in found.table_sets["paper"].tables.items():
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
    assert verdict.outcome == "undecided"
    assert verdict.note == "4 of 10 trials"


@pytest.mark.parametrize("nudge", [-0.0005, -0.00049, 0.0005])
def test_what_rounds_to_the_printed_digits_is_exact(nudge):
    paper = PAPER.cells["test-f1-tuned"]["adult", "cart"]
    assert _verdict("adult", "cart", _cell(paper.mean + nudge, paper.std)).outcome == "exact"
    beyond = _cell(paper.mean + 3 * nudge, paper.std)
    assert _verdict("adult", "cart", beyond).outcome == "equivalent"


@pytest.mark.parametrize(
    ("shift", "outcome"), [(0.2, "better"), (-0.2, "worse"), (0.02, "undecided")]
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
    ("std", "outcome"), [(-0.0051, "exact"), (-0.0056, "undecided"), (0.0051, "exact")]
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
    assert verdict.outcome == "undecided"


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
    assert _verdict("iris", "gradtree", pair).outcome == "undecided"
    same = _cell(paper.mean, paper.std, n=2, expected=2)
    assert _verdict("iris", "gradtree", same).note == "2 of 10 trials"
    assert _verdict("iris", "gradtree", same).outcome == "undecided"


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
    assert found["gradtree"].counts["equivalent"] + found["gradtree"].counts["undecided"] == 36
    assert found["gradtree"].counts["worse"] == 0
    assert found["gradtree"].mean_difference == pytest.approx(-0.002)
    assert found["gradtree"].p_value < 0.001
    assert found["cart"].mean_difference == 0
    assert found["cart"].p_value == 1


@pytest.mark.parametrize(
    ("shift", "std", "outcome"),
    [(-0.05, 0.01, "worse"), (0.002, 0.01, "equivalent"), (0.002, 0.2, "undecided")],
)
def test_a_known_difference_is_judged_as_what_it_is(shift, std, outcome):
    """Every cell of GradTree printed with this spread, and ours off by the same amount."""
    table, printed = PRINTED, PRINTED
    for row in [row for block in PRINTED.blocks for row in block.rows]:
        printed = _with_cell(row.dataset, "gradtree", _cell(0.7, std), printed)
        table = _with_cell(row.dataset, "gradtree", _cell(0.7 + shift, std), table)
    verdicts = judge_table(GRID, table, printed, PAPER)
    assert {each.outcome for each in verdicts if each.method == "gradtree"} == {outcome}


def test_equivalence_is_two_one_sided_tests_against_the_margin():
    ours, theirs = _cell(0.705, 0.01), _cell(0.7, 0.01)
    grid = replace(GRID, decimals=12, std_decimals=12)
    error = np.sqrt(2 * 0.01**2 / 9)
    lower = stats.t.sf((0.005 + 0.02) / error, 18)
    upper = stats.t.cdf((0.005 - 0.02) / error, 18)
    assert equivalence(ours, theirs, grid) == pytest.approx(max(lower, upper))
    assert equivalence(ours, theirs, GRID) > max(lower, upper)  # printed digits are taken farther
    assert equivalence(theirs, ours, grid) == equivalence(ours, theirs, grid)


def test_the_share_of_false_equivalence_is_at_most_the_level():
    rng = np.random.default_rng(7)
    false = 0
    for _ in range(2000):
        mine, theirs = rng.normal(0.82, 0.01, 10), rng.normal(0.8, 0.01, 10)
        printed = _cell(round(theirs.mean(), 3), round(theirs.std(), 3))
        false += equivalence(_cell(mine.mean(), mine.std()), printed, GRID) < 0.05
    assert 0.01 < false / 2000 < 0.06


def test_the_margin_of_a_size_is_a_tenth_of_it():
    assert margin(_cell(50.0, 2.0), grids()["tree-size-tuned"]) == 5.0
    assert margin(_cell(0.5, 0.1), GRID) == 0.02


@pytest.mark.parametrize("cell", [_cell(float("nan"), 0.1), _cell(0.9, float("nan"))])
def test_what_is_not_a_number_never_passes(cell):
    verdict = _verdict("iris", "cart", cell)
    assert (verdict.outcome, verdict.note) == ("missing", "not a number")


def test_a_trial_that_is_not_a_number_does_not_count():
    jobs, records = runs("tuned", "iris", "cart", [0.9] * 9 + [float("nan")])
    cell = collect(jobs, records).cell("paper", "tuned", "iris", "cart", "test_f1")
    assert (cell.mean, cell.n, cell.partial) == (pytest.approx(0.9), 9, True)


def test_the_default_column_is_also_set_beside_the_published_run():
    """The paper prints that column twice; its ablation table is the run that was published."""
    jobs, records = (part.copy() for part in paper_as_ours(PAPER))
    for job in jobs:
        if (job.experiment, job.method) == ("default", "gradtree"):
            value = PAPER.cells["ablation-default"][job.dataset, "gradtree"]
            records[job.key] = replace(
                records[job.key], test_f1=spread_values(value.mean, value.std)[job.trial]
            )
    lines = verdict_lines(findings_of(jobs, records, paper=PAPER).verdicts)
    at = lines.index("\nTest F1, default hyperparameters") + 1
    assert lines[at].startswith("  GradTree: ")
    assert "mean difference -0.0" in lines[at]
    assert lines[at + 1] == ("    against the paper's ablation table, ST Entmax: 36/36 exact")


def _three_trials():
    """The paper's numbers, from three trials that were all that was asked for."""
    jobs, records = paper_as_ours(PAPER)
    few = [job for job in jobs if job.trial < 3]
    return findings_of(few, {job.key: records[job.key] for job in few}, paper=PAPER)


def test_three_trials_never_claim_a_headline():
    found = _three_trials()
    counts = tally(found.verdicts)
    assert counts.measured == 852
    assert not counts.claims
    text = "\n".join(verdict_lines(found.verdicts))
    assert text.startswith("Measured with 3 trials: too few to judge the paper’s numbers")
    assert "852 numbers" not in text
    assert "ten trials" not in text
    assert "36/36" not in text
    assert "from 3 trials, not judged" in text


def test_ten_trials_count_every_verdict_apart(found):
    counts = tally(found.verdicts)
    assert counts.claims
    assert wording.title(counts) == "Of the paper’s 852 numbers, 852 are exact and 0 equivalent"
    mixed = replace(
        counts, counts={**counts.counts, "exact": 800, "undecided": 50, "better": 2, "worse": 0}
    )
    assert "50 are undecided: 10 trials show neither" in wording.sentence(mixed)
    assert "2 differ significantly (2 better, 0 worse)." in wording.sentence(mixed)


def test_part_of_the_paper_is_held_against_that_part():
    jobs, records = runs("tuned", "iris", "cart", [0.9] * 10)
    counts = tally(findings_of(jobs, records, paper=PAPER).verdicts)
    assert wording.title(counts).startswith("Of 1 numbers measured so far, out of the paper’s")


def test_helper_values_have_the_moments_they_are_made_for():
    values = np.array(spread_values(0.7, 0.05))
    assert values.mean() == pytest.approx(0.7)
    assert values.std() == pytest.approx(0.05)
