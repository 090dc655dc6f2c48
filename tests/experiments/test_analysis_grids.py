"""Cells, ranks and summary lines of dataset x learner tables."""

import math
import statistics

import pandas as pd
import pytest
from analysis_support import make_runs, paper_as_ours

from experiments.analysis import grids, stats
from experiments.analysis.grids import Declared, cells, check, declare, grid, has_results, matrix
from experiments.errors import UserError

GAP = math.nan
WORKED = pd.DataFrame([[0.9, 0.8, GAP], [0.5, 0.5, 0.7]])


def cell(outcomes, metric="test_f1"):
    runs = make_runs({("paper", "tuned", "iris", "cart"): outcomes}, metric)
    return cells(runs, "paper", "tuned", metric).loc[("iris", "cart")]


def test_a_cell_is_the_mean_and_population_deviation_of_its_trials_with_a_number():
    found = cell([0.1, 0.2, 0.6])
    assert found["mean"] == math.fsum([0.1, 0.2, 0.6]) / 3
    assert found["std"] == pytest.approx(statistics.pstdev([0.1, 0.2, 0.6]))
    assert (found["n"], found["expected"], found["missing"]) == (3, 3, "")
    found = cell([0.9] * 8 + [math.nan, None])
    assert (found["n"], found["expected"], found["missing"]) == (8, 10, "")


@pytest.mark.parametrize(
    ("status", "fields", "text"),
    [
        ("skipped", {"reason": "n>12"}, "n>12"),
        ("skipped", {"reason": "a reason longer than a cell"}, "skipped"),
        ("timeout", {"limit_value": 3600.0}, ">60 min"),
        ("timeout", {"limit_value": 20.0}, ">20 s"),
        ("timeout", {}, ">60 min"),
        ("crash", {}, "crash"),
        ("ok", {"train_f1": 0.5}, "n/a"),
    ],
)
def test_the_reason_stands_where_no_trial_gave_a_number(status, fields, text):
    found = cell([{"status": status, **fields}] * 2)
    assert (found["missing"], found["n"]) == (text, 0)


def test_the_most_frequent_reason_stands_and_equals_go_by_name():
    timeout = {"status": "timeout", "limit_value": 60.0}
    assert cell([{"status": "crash"}, timeout, timeout])["missing"] == ">1 min"
    assert cell([{"status": "error"}, {"status": "crash"}])["missing"] == "crash"


def test_a_crash_beside_open_trials_settles_nothing_but_a_limit_does():
    assert cell([{"status": "crash"}, None])["missing"] == ""
    assert cell([{"status": "skipped", "reason": "n>12"}, None])["missing"] == "n>12"
    assert cell([None, None])["missing"] == ""


def test_brackets_break_ties_in_column_order_and_ties_share_the_better_rank():
    in_order, shared = (stats.ranks_of(WORKED, method=how).fillna(0) for how in ("first", "min"))
    assert in_order.to_numpy().tolist() == [[1, 2, 0], [2, 3, 1]]
    assert shared.to_numpy().tolist() == [[1, 2, 0], [2, 2, 1]]
    assert stats.ranks_of(WORKED, smaller=True, method="first").iloc[0].tolist()[:2] == [2, 1]
    # A printed rank decides between means that print alike.
    row, ties = pd.DataFrame([[0.927, 0.927]]), pd.DataFrame([[2, 1]])
    assert stats.ranks_of(row, ties=ties).to_numpy().tolist() == [[2, 1]]


def test_reciprocal_ranks_and_relative_differences_of_the_worked_example():
    assert stats.contributions(WORKED, "MRR").mean().tolist() == [0.75, 0.5, 1.0]
    behind = stats.contributions(WORKED, "MRD")
    assert behind[0].tolist() == pytest.approx([0, 0.2 / 0.5])
    assert behind[1].tolist() == pytest.approx([0.1 / 0.8, 0.2 / 0.5])
    assert stats.contributions(pd.DataFrame([[0.90049, 0.8996]]), "MRD").iloc[0].tolist() == [0, 0]
    assert stats.contributions(pd.DataFrame([[0.0, 0.5]]), "MRD").iloc[0, 0] == math.inf


def summary(table, task, statistic):
    lines = table.summary
    lines = lines[(lines["task"] == task) & (lines["statistic"] == statistic)]
    return lines.set_index("method")


def test_other_tables_compare_on_shared_datasets_and_name_the_rest():
    """Mean 0.852 of four datasets is not above 0.715 of fourteen."""
    runs = make_runs(
        {
            ("clean", "default", "adult", "gradtree"): [0.6],
            ("clean", "default", "titanic", "gradtree"): [0.9],
            ("clean", "default", "adult", "cart-pruned"): [0.7],
        }
    )
    table = grid(runs, "beyond-test-f1", "clean")
    found = summary(table, "binary", "Mean")
    assert found.loc["gradtree", ["value", "n", "rank"]].tolist() == [0.6, 1, 2]
    assert found.loc["cart-pruned", ["value", "n", "rank"]].tolist() == [0.7, 1, 1]
    assert "titanic" in table.caption.lower()
    assert "adult" not in table.caption.lower()


def test_the_papers_numbers_as_runs_give_the_papers_tables():
    runs = paper_as_ours()
    for name in ("test-f1-tuned", "tree-size-tuned", "ablation-default"):
        mine, theirs = grid(runs, name), grids.printed_grid(name)
        pd.testing.assert_frame_equal(matrix(mine), matrix(theirs), rtol=1e-12)
        if name != "tree-size-tuned":  # which misprints a reason
            assert mine.frame["missing"].tolist() == theirs.frame["missing"].tolist()


def test_new_datasets_and_learners_have_tables_once_they_ran():
    runs = make_runs(
        {
            ("clean", "mine", "fresh", "cart"): [0.5, 0.7],
            ("clean", "mine", "fresh", "own-learner"): [0.8, 0.8],
            ("clean", "mine", "iris", "cart"): [0.5, 0.7],
            ("clean", "seeds", "fresh", "cart"): [0.5],
        }
    )
    (table,) = grids.other_grids(runs, "clean")
    assert table.name == "others-mine-test-f1"
    assert table.methods == ("cart", "own-learner")
    assert table.frame["dataset"].unique().tolist() == ["fresh"]
    assert table.frame["rank"].tolist() == [2, 1]
    assert grids.other_grids(runs, "paper") == []


def test_a_declared_table_shows_what_was_planned_in_order():
    table = Declared(name="own", title="Own", experiment="mine", metric="test_log_loss")
    runs = make_runs(
        {
            ("clean", "mine", "new", "own-learner"): [0.5],
            ("clean", "mine", "fresh", "cart"): [0.5],
            ("clean", "mine", "iris", "cart"): [0.4],
        },
        "test_log_loss",
    )
    found = grids.own_grid(runs, table, "clean")
    assert found.smaller_is_better
    assert found.methods == ("cart", "own-learner")
    assert found.frame["dataset"].unique().tolist() == ["fresh", "iris", "new"]
    assert not has_results(grids.own_grid(runs, table, "paper"))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"methods": ["carrt"]}, "unknown method 'carrt'; did you mean cart"),
        ({"experiment": "tunde"}, "unknown experiment 'tunde'; did you mean tuned"),
        ({"metric": "tst_f1"}, "unknown metric 'tst_f1'; did you mean test_f1"),
        ({"protocols": ["clena"]}, "unknown protocol 'clena'; did you mean clean"),
        ({"datasets": ["iris"]}, "unknown key 'datasets'"),
        ({"summaries": ["MMR"]}, "unknown summary 'MMR'; known are Mean"),
        ({"metric": ""}, "lacks its metric"),
        ({"methods": "cart"}, "methods is 'cart'\nWrite .*\\[str"),
        ({"title": 3}, "title is 3\nWrite str"),
    ],
)
def test_a_typo_in_a_table_is_an_error_that_says_what_may_be_meant(changes, told):
    entry = {"name": "own", "title": "Own", "experiment": "tuned", "metric": "test_f1", **changes}
    with pytest.raises(UserError, match=told):
        check(declare(entry), make_runs({("clean", "tuned", "iris", "cart"): [0.5]}))
