"""Scopes of the tests over datasets, and the comparison of the two protocols."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tables_support import runs

from experiments.analysis.findings import findings_of
from experiments.analysis.paper import load_paper
from experiments.analysis.sensitivity import changes, method_changes, ranking_change
from experiments.analysis.significance import (
    comparisons,
    intervals,
    intervals_sheet,
    pairs_sheet,
    ranks_sheet,
)
from experiments.analysis.table_set import paper_table_set

PAPER = load_paper()
TABLE = paper_table_set(PAPER).tables["test-f1-tuned"]


def _under(protocol: str, scores: dict[str, dict[str, float]]):
    """Jobs and records of the tuned experiment: dataset -> method -> score."""
    jobs, records = [], {}
    for dataset, row in scores.items():
        for method, score in row.items():
            more_jobs, more = runs("tuned", dataset, method, [score], protocol=protocol)
            jobs += more_jobs
            records |= more
    return jobs, records


def test_scopes_are_the_tasks_all_datasets_and_those_of_dndt():
    found = {each.scope: each for each in comparisons(TABLE)}
    assert [(scope, len(each.datasets)) for scope, each in found.items()] == [
        ("binary", 22),
        ("multi", 13),
        ("all", 35),
        ("dndt", 16),
    ]
    assert found["multi"].left_out == ("splice",)
    assert "dndt" not in found["all"].ranks.methods
    assert "dndt" in found["dndt"].ranks.methods


def test_on_the_papers_numbers_gradtree_leads_the_binary_datasets():
    binary = comparisons(TABLE)[0]
    ranks = dict(zip(binary.ranks.methods, binary.ranks.average_ranks, strict=True))
    assert min(ranks, key=ranks.__getitem__) == "gradtree"
    assert binary.ranks.friedman.p_value < 0.001
    assert len(binary.pairs) == 6


def test_intervals_hold_the_papers_estimates():
    found = {(each.task, each.method): each for each in intervals(TABLE)}
    gradtree = found["binary", "gradtree"]
    assert gradtree.mrr.estimate == pytest.approx(0.758, abs=5e-4)
    assert gradtree.mrr.low < 0.758 < gradtree.mrr.high
    assert gradtree.mean.estimate == pytest.approx(0.771, abs=5e-4)
    assert found["binary", "dndt"].n == 9


def test_too_few_datasets_give_no_comparison():
    jobs, records = _under("paper", {"iris": {"cart": 0.9, "gradtree": 0.8, "dl85": 0.7}})
    table = findings_of(jobs, records, paper=PAPER).table_sets["paper"].tables["test-f1-tuned"]
    assert comparisons(table) == []
    assert intervals(table) == []
    for sheet in (pairs_sheet(table, []), ranks_sheet(table, []), intervals_sheet(table)):
        assert sheet.rows == ()


def test_sheets_have_one_row_per_pair_scope_and_method():
    found = comparisons(TABLE)
    assert len(pairs_sheet(TABLE, found).rows) == 6 + 6 + 6 + 10
    assert len(ranks_sheet(TABLE, found).rows) == 4
    assert len(intervals_sheet(TABLE).rows) == 10


@pytest.fixture
def both():
    jobs, records = _under(
        "paper", {"car": {"cart": 0.4, "gradtree": 0.6}, "iris": {"cart": 0.9, "gradtree": 0.8}}
    )
    more_jobs, more = _under(
        "clean", {"car": {"cart": 0.8, "gradtree": 0.62}, "iris": {"cart": 0.9}}
    )
    table_sets = findings_of(jobs + more_jobs, records | more, paper=PAPER).table_sets
    return table_sets["paper"].tables["test-f1-tuned"], table_sets["clean"].tables["test-f1-tuned"]


def test_changes_are_clean_minus_paper_where_both_have_run(both):
    found = {(each.dataset, each.method): each for each in changes(*both, {"car"})}
    assert found["car", "cart"].difference == pytest.approx(0.4)
    assert found["car", "cart"].categorical
    assert not found["iris", "cart"].categorical
    assert found["iris", "gradtree"].difference is None
    assert found["wine", "cart"].difference is None


def test_methods_gain_and_lose_beyond_a_trifle(both):
    found = {each.method: each for each in method_changes(changes(*both, {"car"}))}
    assert set(found) == {"cart", "gradtree"}
    assert (found["cart"].n, found["cart"].gains, found["cart"].losses) == (2, 1, 0)
    assert found["cart"].mean == pytest.approx(0.2)
    assert found["gradtree"].mean == pytest.approx(0.02)


def test_a_ranking_needs_rows_complete_under_both(both):
    assert ranking_change(*both, "multi") is None
    pair = [_only(table, ("gradtree", "cart")) for table in both]
    change = ranking_change(*pair, "multi")
    assert change.datasets == 1
    assert (change.before[0][0], change.after[0][0]) == ("gradtree", "cart")
    assert not change.leader_survives
    assert not change.order_survives
    assert ranking_change(pair[0], pair[0], "multi").order_survives


def _only(table, methods):
    keep = [table.column(method) for method in methods]
    blocks = tuple(
        replace(
            block,
            rows=tuple(
                replace(row, cells=tuple(row.cells[at] for at in keep)) for row in block.rows
            ),
        )
        for block in table.blocks
    )
    return replace(table, columns=tuple(table.columns[at] for at in keep), blocks=blocks)
