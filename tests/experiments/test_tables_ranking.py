"""Ranks, MRR, MRD, wins and means: worked examples, and what must hold for any numbers."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.analysis import ranking
from experiments.analysis.model import Cell

WORKED = [
    [Cell(mean=0.9), Cell(mean=0.8), Cell()],
    [Cell(mean=0.5), Cell(mean=0.5), Cell(mean=0.7)],
]

values = st.one_of(st.none(), st.integers(1, 1000).map(lambda each: each / 1000))
rows = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.lists(values.map(lambda mean: Cell(mean=mean)), min_size=width, max_size=width),
        min_size=1,
        max_size=8,
    )
)
quietly = settings(max_examples=200)


def test_brackets_break_ties_in_column_order_and_leave_gaps_unranked():
    assert ranking.bracket_ranks(WORKED[0]) == (1, 2, None)
    assert ranking.bracket_ranks(WORKED[1]) == (2, 3, 1)


def test_ties_share_the_better_rank():
    assert ranking.shared_ranks(WORKED[1]) == (2, 2, 1)
    assert ranking.shared_ranks([Cell(mean=1.0), Cell(mean=1.0), Cell(mean=0.5)]) == (1, 1, 3)


def test_smaller_can_be_better():
    assert ranking.bracket_ranks(WORKED[0], smaller_is_better=True) == (2, 1, None)


def test_a_printed_rank_decides_between_means_that_print_alike():
    row = [Cell(mean=0.927, printed_rank=2), Cell(mean=0.927, printed_rank=1)]
    assert ranking.shared_ranks(row) == ranking.bracket_ranks(row) == (2, 1)


def test_mean_reciprocal_rank_of_the_worked_example():
    first, second, third = ranking.mean_reciprocal_rank(WORKED)
    assert (first.value, second.value, third.value) == (0.75, 0.5, 1.0)
    assert first.spread == pytest.approx(statistics.stdev([1, 0.5]))
    assert (third.spread, third.n, third.rank) == (None, 1, 1)


def test_mean_relative_difference_divides_by_the_method_itself():
    first, second, third = ranking.mean_relative_difference(WORKED)
    assert first.value == pytest.approx((0 + 0.2 / 0.5) / 2)
    assert second.value == pytest.approx((0.1 / 0.8 + 0.2 / 0.5) / 2)
    assert third.value == 0
    assert [each.rank for each in (first, second, third)] == [2, 3, 1]


def test_mean_relative_difference_uses_rounded_means():
    row = [Cell(mean=0.90049), Cell(mean=0.8996)]
    assert [each.value for each in ranking.mean_relative_difference([row])] == [0, 0]


def test_a_score_of_zero_is_infinitely_far_from_the_best():
    found = ranking.mean_relative_difference([[Cell(mean=0.0), Cell(mean=0.5)]])
    assert found[0].value == math.inf


def test_wins_count_shared_firsts_for_each():
    tied = [Cell(mean=1.0), Cell(mean=1.0), Cell()]
    assert [each.value for each in ranking.wins([*WORKED, tied])] == [2.0, 1.0, 1.0]


def test_mean_over_datasets_takes_either_spread():
    table = [[Cell(mean=0.2, std=0.1)], [Cell(mean=0.4, std=0.3)]]
    (between,) = ranking.mean_over_datasets(table)
    (within,) = ranking.mean_over_datasets(table, spread_between_trials=True)
    assert between.value == within.value == pytest.approx(0.3)
    assert between.spread == pytest.approx(statistics.stdev([0.2, 0.4]))
    assert within.spread == pytest.approx(0.2)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12), st.randoms(use_true_random=False))
@quietly
def test_the_mean_does_not_depend_on_the_order_of_trials(numbers, random):
    shuffled = list(numbers)
    random.shuffle(shuffled)
    assert ranking.mean_of(numbers) == ranking.mean_of(shuffled)
    assert ranking.population_std(numbers) == pytest.approx(statistics.pstdev(numbers), abs=1e-9)


@given(rows)
@quietly
def test_brackets_are_a_permutation_that_respects_the_values(table):
    for row in table:
        brackets, shared = ranking.bracket_ranks(row), ranking.shared_ranks(row)
        present = [rank for rank in brackets if rank is not None]
        assert sorted(present) == list(range(1, len(present) + 1))
        for mine, rank, best in zip(row, brackets, shared, strict=True):
            assert (mine.mean is None) == (rank is None) == (best is None)
            if rank is not None:
                assert best is not None
                assert best <= rank
                better = sum(each.mean is not None and each.mean > mine.mean for each in row)
                assert best == better + 1


@given(rows)
@quietly
def test_mean_reciprocal_ranks_lie_between_the_worst_and_one(table):
    for at, statistic in enumerate(ranking.mean_reciprocal_rank(table)):
        finished = sum(row[at].mean is not None for row in table)
        assert statistic.n == finished
        if finished:
            assert 1 / len(table[0]) <= statistic.value <= 1
        else:
            assert statistic.value is None


@given(rows)
@quietly
def test_mean_relative_difference_is_zero_exactly_for_those_who_always_win(table):
    for at, statistic in enumerate(ranking.mean_relative_difference(table)):
        ranks = [ranking.shared_ranks(row)[at] for row in table]
        present = [rank for rank in ranks if rank is not None]
        if present:
            assert statistic.value >= 0
            assert (statistic.value == 0) == all(rank == 1 for rank in present)


@given(rows, st.randoms(use_true_random=False))
@quietly
def test_summaries_do_not_depend_on_the_order_of_datasets_or_methods(table, random):
    columns = list(range(len(table[0])))
    random.shuffle(columns)
    lines = list(table)
    random.shuffle(lines)
    shuffled = [[row[at] for at in columns] for row in lines]
    for summary in (
        ranking.mean_reciprocal_rank,
        ranking.mean_relative_difference,
        ranking.mean_over_datasets,
        ranking.wins,
    ):
        before, after = summary(table), summary(shuffled)
        for at, column in enumerate(columns):
            assert after[at].value == before[column].value
            assert after[at].n == before[column].n


@given(rows)
@quietly
def test_turning_the_scores_round_turns_the_ranks_round(table):
    for row in table:
        turned = [Cell(mean=None if cell.mean is None else -cell.mean) for cell in row]
        assert ranking.shared_ranks(row) == ranking.shared_ranks(turned, smaller_is_better=True)
