"""Scores with our search's hyperparameters beside those with the published ones."""

from __future__ import annotations

from tables_support import runs

from experiments.analysis.grids import Results, collect
from experiments.analysis.paper import load_paper
from experiments.analysis.settings import CANDIDATES, SEARCHED, searched_scores, searched_sheet

PAPER = load_paper()


def scores(published: list[float], ours: list[float], expected: int = 2) -> Results:
    jobs, records = runs("tuned", "iris", "cart", published, expected=expected)
    more, found = runs(SEARCHED, "iris", "cart", ours, expected=expected)
    return collect([*jobs, *more], {**records, **found})


def test_both_means_stand_side_by_side():
    searched = {"cart": {"iris": {"max_depth": 7, CANDIDATES: 100}}}
    sheet = searched_sheet(scores([0.8, 0.9], [0.7, 0.7]), PAPER, "paper", searched)
    ((name, task, candidates, published, ours),) = sheet.rows
    assert (name, task, candidates) == ("Iris", "Multi-class", 100)
    assert (round(published, 6), round(ours, 6)) == (0.85, 0.7)
    assert [column.group for column in sheet.columns[3:]] == ["CART", "CART"]


def test_incomplete_trials_are_not_compared():
    assert not list(searched_scores(scores([0.8, 0.9], [0.7]), PAPER, "paper"))
    assert not list(searched_scores(scores([0.8], [0.7, 0.7]), PAPER, "paper"))


def test_without_a_search_there_is_no_row():
    jobs, records = runs("tuned", "iris", "cart", [0.8, 0.9])
    assert searched_sheet(collect(jobs, records), PAPER, "paper", {}).rows == ()
