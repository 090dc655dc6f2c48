"""Joining jobs and records: means, gaps, reasons, partial cells, seeds, the penalty."""

from __future__ import annotations

import statistics

import pytest
from tables_support import job, runs

from experiments.analysis.grids import Attempt, collect, our_table, summarise
from experiments.analysis.paper import grids, load_paper
from experiments.analysis.settings import between_seeds, seeds_sheet
from experiments.analysis.summaries import our_penalty
from experiments.analysis.table_set import our_table_set
from experiments.core.record import RunRecord

PAPER = load_paper()
SCORES = [0.61, 0.7, 0.66]


def test_a_cell_is_the_mean_and_population_deviation_of_its_trials():
    jobs, records = runs("tuned", "iris", "cart", SCORES)
    cell = collect(jobs, records).cell("paper", "tuned", "iris", "cart", "test_f1")
    assert cell.mean == pytest.approx(statistics.mean(SCORES))
    assert cell.std == pytest.approx(statistics.pstdev(SCORES))
    assert (cell.values, cell.trials, cell.n, cell.expected) == (tuple(SCORES), (0, 1, 2), 3, 3)
    assert cell.complete
    assert not cell.partial


def test_order_and_repetition_of_jobs_do_not_matter():
    jobs, records = runs("tuned", "iris", "cart", SCORES)
    once = collect(jobs, records)
    assert collect([*reversed(jobs), *jobs], records) == once


def test_fewer_trials_than_asked_for_make_a_partial_cell():
    jobs, records = runs("tuned", "iris", "cart", SCORES, expected=10)
    cell = collect(jobs, records).cell("paper", "tuned", "iris", "cart", "test_f1")
    assert cell.partial
    assert not cell.complete
    assert (cell.n, cell.expected) == (3, 10)


def test_what_was_not_run_is_pending():
    jobs, records = runs("tuned", "iris", "cart", [], expected=10)
    results = collect(jobs, records)
    assert results.cell("paper", "tuned", "iris", "cart", "test_f1").pending
    assert results.cell("paper", "tuned", "wine", "cart", "test_f1").pending


@pytest.mark.parametrize(
    ("status", "fields", "text"),
    [
        ("skipped", {"reason": "n>12"}, "n>12"),
        ("skipped", {"reason": "pydl8.5 is not installed"}, "skipped"),
        ("timeout", {"reason": "more than 60 min"}, ">60 min"),
        ("timeout", {"extra": {"limit": 3600.0}}, ">60 min"),
        ("timeout", {"extra": {"limit": 90.0}}, ">1.5 min"),
        ("timeout", {"extra": {"limit": 20.0}}, ">20 s"),
        ("crash", {"reason": "signal 11"}, "crash"),
        ("memory", {}, "memory"),
        ("error", {}, "error"),
        ("ok", {"test_f1": 0.5}, "n/a"),
    ],
)
def test_the_reason_stands_where_no_trial_gave_the_measure(status, fields, text):
    attempts = [Attempt(0, 42, RunRecord.of(job("t", "d", "m", 0), status, **fields))]
    cell = summarise(attempts, "tree_size")
    assert (cell.mean, cell.missing) == (None, text)
    assert cell.complete


def test_a_failure_beside_open_trials_settles_nothing():
    failed = Attempt(0, 42, RunRecord.of(job("t", "d", "m", 0), "crash"))
    assert summarise([failed, Attempt(1, 42, None)], "test_f1").pending


@pytest.mark.parametrize(
    ("status", "text"), [("skipped", "n>12"), ("timeout", ">60 min"), ("memory", "memory")]
)
def test_what_a_method_cannot_do_is_settled_by_its_first_trial(status, text):
    ended = Attempt(0, 42, RunRecord.of(job("t", "d", "m", 0), status, reason="n>12"))
    cell = summarise([ended, Attempt(1, 42, None)], "test_f1")
    assert cell.missing == text


def test_protocols_and_experiments_are_kept_apart():
    jobs, records = runs("tuned", "iris", "cart", SCORES)
    more_jobs, more = runs("tuned", "iris", "cart", [0.1], protocol="clean")
    results = collect(jobs + more_jobs, records | more)
    assert results.cell("clean", "tuned", "iris", "cart", "test_f1").mean == 0.1
    assert results.cell("paper", "default", "iris", "cart", "test_f1").pending


def test_ranks_and_summaries_are_over_what_has_run():
    jobs, records = runs("tuned", "iris", "cart", [0.9, 0.9])
    more_jobs, more = runs("tuned", "iris", "gradtree", [0.8, 1.0])
    grid = grids()["test-f1-tuned"]
    table = our_table(grid, collect(jobs + more_jobs, records | more), PAPER, "paper")
    row = table.block("multi").rows[0]
    assert row.dataset == "iris"
    assert row.ranks == (1, None, None, None, 2)
    ranks = table.block("multi").summary("MRR").statistics
    assert [each.value for each in ranks] == [1.0, None, None, None, 1.0]
    assert not table.complete


def test_a_number_that_the_paper_lacks_is_in_brackets_and_in_no_rank():
    jobs, records = runs("tuned", "splice", "dl85", [0.9, 0.8])
    more, others = runs("tuned", "splice", "cart", [0.6, 0.6])
    results = collect([*jobs, *more], {**records, **others})
    table = our_table(grids()["test-f1-tuned"], results, PAPER, "paper")
    row = next(row for row in table.block("multi").rows if row.dataset == "splice")
    at = table.column("dl85")
    assert (row.cells[at].mean, row.cells[at].missing, row.ranks[at]) == (None, "(0.850)", None)
    assert row.ranks[table.column("cart")] == 1
    elsewhere = runs("tuned", "splice", "dl85", [0.9, 0.8], protocol="clean")
    clean = our_table(grids()["test-f1-tuned"], collect(*elsewhere), PAPER, "clean")
    assert clean.cell("splice", "dl85").mean == pytest.approx(0.85)


def test_learners_beyond_the_paper_have_tables_of_their_own_once_they_ran():
    jobs, records = runs("default", "iris", "cart", [0.9], protocol="clean")
    assert our_table_set(collect(jobs, records), PAPER, "clean").beyond == {}
    more_jobs, more = runs("default", "iris", "boosting", [0.95], protocol="clean")
    table_set = our_table_set(collect(jobs + more_jobs, records | more), PAPER, "clean")
    table = table_set.beyond["beyond-test-f1"]
    assert table.block("multi").rows[0].ranks == (None, 2, None, None, 1)
    assert "boosting" not in [
        column.method for column in table_set.tables["test-f1-default"].columns
    ]


def test_seeds_are_averaged_over_trials_before_they_are_compared():
    attempts = [
        Attempt(trial, seed, RunRecord.of(job("s", "d", "m", trial), "ok", test_f1=value))
        for seed, values in ((1, (0.5, 0.7)), (2, (0.7, 0.9)))
        for trial, value in enumerate(values)
    ]
    found = between_seeds(tuple(attempts))
    assert found.value == pytest.approx(0.7)
    assert found.spread == pytest.approx(statistics.stdev([0.6, 0.8]))
    assert found.n == 2
    half_done = [*attempts, Attempt(0, 3, attempts[0].record), Attempt(1, 3, None)]
    assert between_seeds(tuple(half_done)) == found


def test_the_sheet_of_seeds_sets_them_beside_the_paper():
    jobs = [job("seeds", "iris", "gradtree", 0, seed=seed) for seed in (1042, 2042)]
    records = {
        each.key: RunRecord.of(each, "ok", test_f1=value)
        for each, value in zip(jobs, (0.8, 0.9), strict=True)
    }
    sheet = seeds_sheet(collect(jobs, records), PAPER, "paper")
    (row,) = sheet.rows
    assert row[0] == "Iris"
    assert row[2] == PAPER.cells["test-f1-tuned"]["iris", "gradtree"].mean
    assert row[3] is None
    assert row[4].value == pytest.approx(0.85)
    assert row[5] == 2


def test_the_penalty_is_a_mean_over_the_datasets_of_a_task():
    jobs, records = [], {}
    for dataset, score in (("iris", 0.4), ("wine", 0.6)):
        more_jobs, more = runs("no-penalty", dataset, "genetictree-no-penalty", [score])
        jobs += more_jobs
        records |= more
    found = our_penalty(collect(jobs, records), PAPER, "paper")
    assert found["multi", "f1", "no_penalty"].value == pytest.approx(0.5)
    assert found["multi", "f1", "no_penalty"].n == 2
    assert found["binary", "f1", "no_penalty"].value is None
