"""DL8.5 by our kernels beside the library: the sheet, and the committed records themselves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tables_support import runs

from experiments.analysis.costs import LIBRARY, OURS, pairs_of, solvers_sheet
from experiments.analysis.grids import collect
from experiments.analysis.paper import load_paper
from experiments.core.record import RunRecord
from experiments.core.store import Store
from experiments.runner.catalogue import jobs_of

PAPER = load_paper()
RECORDS = Path(__file__).resolve().parents[2] / "results" / "records"


def both(ours: list[float], library: list[float]) -> tuple[list, dict[str, RunRecord]]:
    jobs, records = [], {}
    for method, values, seconds in ((OURS, ours, 0.5), (LIBRARY, library, 10.0)):
        some, outcomes = runs("solvers", "iris", method, values, expected=10)
        jobs += some
        records.update({k: replace(r, cpu_seconds=seconds) for k, r in outcomes.items()})
    return jobs, records


def test_only_trials_that_both_finished_are_compared():
    sheet = solvers_sheet(collect(*both([0.9, 0.8, 0.7], [0.9, 0.5])), PAPER, "paper")
    ((name, _, score, trials, same, ours, library, ratio),) = sheet.rows
    assert (name, trials, same) == ("Iris", 2, 1)
    assert score == pytest.approx(0.8)
    assert (ours, library, ratio) == pytest.approx((1.0, 20.0, 20.0))


def test_seconds_of_two_machines_are_not_divided():
    jobs, records = both([0.9], [0.9])
    first = next(key for key, record in records.items() if record.method == OURS)
    records[first] = replace(records[first], environment="another")
    sheet = solvers_sheet(collect(jobs, records), PAPER, "paper")
    ((*_, ours, library),) = sheet.rows
    assert (ours, library) == (0.5, 10.0)
    assert "ratio" not in [column.name for column in sheet.columns]


def test_another_size_is_another_tree():
    jobs, records = both([0.9], [0.9])
    first = next(key for key, record in records.items() if record.method == OURS)
    records[first] = replace(records[first], tree_size=7)
    assert [pair.same for pair in pairs_of(collect(jobs, records), "paper", "iris")] == [False]


def test_a_library_that_ran_out_of_time_is_shown_as_such():
    jobs, _ = runs("solvers", "splice", LIBRARY, [0.0])
    late = RunRecord.of(jobs[0], "timeout", reason="3600 s", extra={"limit": 3600.0})
    sheet = solvers_sheet(collect(jobs, {late.key: late}), PAPER, "paper")
    assert sheet.rows == (("Splice", "Multi-class", None, 0, None, None, ">60 min"),)


def test_without_runs_of_the_library_there_is_no_row():
    jobs, records = runs("solvers", "iris", OURS, [0.9])
    assert solvers_sheet(collect(jobs, records), PAPER, "paper").rows == ()


def test_the_committed_runs_of_both_ended_alike():
    results = collect(jobs_of("solvers", "paper"), Store(RECORDS).latest())
    pairs = [pair for each in PAPER.datasets for pair in pairs_of(results, "paper", each.slug)]
    assert len(pairs) > 250
    assert all(pair.same for pair in pairs)
