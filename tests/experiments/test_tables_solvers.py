"""DL8.5 by our kernels beside the library: the sheet, and the committed records themselves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tables_support import runs

from experiments.analysis.grids import collect
from experiments.analysis.paper import load_paper
from experiments.analysis.solvers import (
    LIBRARY,
    OURS,
    pairs_of,
    solver_times_sheet,
    solvers_sheet,
    times_sentence,
)
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


def alone(errors: dict[str, int], seconds: dict[str, float]) -> tuple[list, dict[str, RunRecord]]:
    jobs, records = [], {}
    for method, count in errors.items():
        some, outcomes = runs("solvers-alone", "iris", method, [0.9], protocol="clean")
        jobs += some
        for key, record in outcomes.items():
            records[key] = replace(
                record, cpu_seconds=seconds[method], extra={"errors": count}, measured="alone"
            )
    return jobs, records


def test_solvers_that_ran_alone_are_timed_beside_ours():
    seconds = {OURS: 0.5, LIBRARY: 4.0, "dl85-streed": 1.0}
    jobs, records = alone(dict.fromkeys(seconds, 7), seconds)
    (row,) = solver_times_sheet(collect(jobs, records), PAPER, "clean").rows
    assert row == ("Iris", "Multi-class", 7, "yes", 0.5, 4.0, None, 1.0, 8.0, None, 2.0)


def test_a_sentence_says_how_much_longer_the_others_take():
    seconds = {OURS: 0.5, LIBRARY: 4.0, "dl85-streed": 1.0}
    jobs, records = alone(dict.fromkeys(seconds, 7), seconds)
    told = times_sentence(collect(jobs, records), PAPER)
    assert "agree on its errors on 1 of 1 datasets" in told
    assert told.endswith("pydl8.5 8.0 [8.0, 8.0] on 1, DL8.5 by STreeD 2.0 [2.0, 2.0] on 1.")
    jobs, records = alone({OURS: 7}, seconds)
    assert times_sentence(collect(jobs, records), PAPER) is None, "nobody to compare with"


def test_a_solver_with_other_errors_is_told():
    jobs, records = alone({OURS: 7, LIBRARY: 8}, {OURS: 1.0, LIBRARY: 1.0})
    (row,) = solver_times_sheet(collect(jobs, records), PAPER, "clean").rows
    assert row[3] == "no"
