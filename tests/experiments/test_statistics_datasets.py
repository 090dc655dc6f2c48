"""Tests over datasets: Demšar's worked example, degenerate tables, bootstrap coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from experiments.analysis import statistics

METHODS = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")
# Table 6 of Demšar (2006): AUC on 14 datasets. In the last row but one, 0.975 and 0.975 are
# printed with ranks 2 and 3, so the former is a little larger.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.97501, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def _tie_factor(scores):
    """What SciPy divides Friedman's statistic by; the textbook does without."""
    n, k = scores.shape
    ties = sum(
        (counts**3 - counts).sum()
        for counts in (np.unique(row, return_counts=True)[1] for row in scores)
    )
    return 1 - ties / (n * k * (k**2 - 1))


def test_average_ranks_are_the_textbooks():
    ranks = statistics.friedman(DEMSAR).average_ranks
    assert [round(rank, 3) for rank in ranks] == [3.143, 2.0, 2.893, 1.964]


def test_friedman_is_the_textbooks_but_for_the_correction_for_ties():
    found = statistics.friedman(DEMSAR)
    textbook = found.chi_squared * _tie_factor(DEMSAR)
    assert round(textbook, 2) == 9.28
    assert round(13 * textbook / (14 * 3 - textbook), 2) == 3.69
    assert found.f_statistic == pytest.approx(13 * found.chi_squared / (42 - found.chi_squared))
    assert found.p_value == pytest.approx(stats.f.sf(found.f_statistic, 3, 39))
    assert found.p_value < 0.05


def test_groups_are_what_the_pairwise_tests_leave_together():
    found = statistics.rank_groups(DEMSAR, METHODS)
    different = {
        frozenset((pair.first, pair.second))
        for pair in statistics.wilcoxon_holm(DEMSAR, METHODS)
        if pair.p_adjusted < 0.05
    }
    assert different == {frozenset(("C4.5", "C4.5+m"))}
    assert found.groups == (
        ("C4.5+m+cf", "C4.5+m", "C4.5+cf"),
        ("C4.5+m+cf", "C4.5+cf", "C4.5"),
    )


def test_a_pair_is_told_apart_whoever_else_is_in_the_pool():
    """Where distances of mean ranks fail: a is above b everywhere, and poor methods join."""
    rng = np.random.default_rng(3)
    b = rng.uniform(0.5, 0.9, 20)
    others = [b - 0.1 - 0.01 * k + rng.normal(0, 0.2, 20) for k in range(5)]
    scores = np.column_stack([b + 0.01 + rng.uniform(0, 0.01, 20), b, *others])
    for width in (3, 7):
        groups = statistics.rank_groups(scores[:, :width], list("abcdefg"[:width])).groups
        assert not any({"a", "b"} <= set(group) for group in groups)


def test_contrasts_have_a_mean_an_interval_and_signs():
    found = statistics.contrast([0.05, 0.04, 0.06, 0.05, 0.0004, -0.02])
    assert found.difference.estimate == pytest.approx(0.1804 / 6)
    assert found.difference.low < found.difference.estimate < found.difference.high
    assert (found.n, found.wins, found.ties, found.losses) == (6, 4, 1, 1)
    first, second = statistics.corrected([found, statistics.contrast([0.1] * 12)])
    assert first.p_adjusted == found.p_value
    assert second.p_adjusted == pytest.approx(2 * 2 / 2**12)
    assert second.significant


def test_wilcoxon_of_the_textbooks_example():
    differences = (DEMSAR[:, 0] - DEMSAR[:, 1]).round(9)
    ranks = stats.rankdata(np.abs(differences))
    split = ranks[differences == 0].sum() / 2
    smaller = ranks[differences > 0].sum() + split
    assert (smaller, ranks.sum() - smaller) == (12, 93)  # as in the text
    moving = ranks[differences != 0]
    signs = np.array(np.meshgrid(*[[0, 1]] * len(moving))).reshape(len(moving), -1)
    sums = moving @ signs + split
    exact = 2 * np.mean(sums <= smaller)
    assert statistics.wilcoxon(differences) == pytest.approx(exact)


@pytest.mark.parametrize("n", [1, 2, 5, 9, 16, 35])
def test_wilcoxon_is_scipys_exact_test_without_ties(n):
    values = np.random.default_rng(n).normal(0.3, 1, n)
    reference = stats.wilcoxon(values, method="exact").pvalue
    assert statistics.wilcoxon(values) == pytest.approx(reference)


@pytest.mark.parametrize("seed", range(4))
def test_wilcoxon_is_scipys_enumeration_with_ties_and_zeros(seed):
    values = np.random.default_rng(seed).integers(-2, 4, 9) / 10
    everything = stats.PermutationMethod(n_resamples=2**9)
    reference = stats.wilcoxon(values, zero_method="zsplit", method=everything).pvalue
    assert statistics.wilcoxon(values) == pytest.approx(reference)


def test_wilcoxon_sees_no_difference_where_there_is_none():
    assert statistics.wilcoxon([0.0, 0.0]) == 1
    assert statistics.wilcoxon([0.3 - 0.1, 0.1 - 0.3]) == 1


def test_pairs_are_corrected_and_count_wins():
    pairs = {(pair.first, pair.second): pair for pair in statistics.wilcoxon_holm(DEMSAR, METHODS)}
    assert len(pairs) == 6
    first = pairs["C4.5", "C4.5+m"]
    assert (first.wins, first.losses) == (2, 10)
    assert first.mean_difference == pytest.approx((DEMSAR[:, 0] - DEMSAR[:, 1]).mean())
    assert first.p_adjusted == pytest.approx(min(pair.p_value for pair in pairs.values()) * 6)


def test_holm_steps_down_and_never_falls():
    assert statistics.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert statistics.holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert statistics.holm([]) == []


def test_all_methods_alike_do_not_differ():
    found = statistics.rank_groups(np.ones((6, 3)), list("abc"))
    assert found.friedman.p_value == 1
    assert found.groups == (("a", "b", "c"),)
    assert all(pair.p_value == 1 for pair in statistics.wilcoxon_holm(np.ones((6, 3)), list("abc")))


def test_perfect_agreement_is_as_significant_as_can_be():
    scores = np.tile([0.9, 0.8, 0.7], (12, 1))
    found = statistics.rank_groups(scores, list("abc"))
    assert found.friedman.p_value == 0
    assert found.average_ranks == (1.0, 2.0, 3.0)
    assert found.groups == ()
    assert statistics.friedman(scores, smaller_is_better=True).average_ranks == (3.0, 2.0, 1.0)


def test_gaps_and_too_few_methods_are_refused():
    with pytest.raises(ValueError, match="no gaps"):
        statistics.friedman([[0.1, np.nan, 0.2]])
    with pytest.raises(ValueError, match="3 methods"):
        statistics.friedman([[0.1, 0.2], [0.3, 0.4]])
    with pytest.raises(ValueError, match="matrix"):
        statistics.friedman([0.1, 0.2])
    with pytest.raises(ValueError, match="2 datasets"):
        statistics.bootstrap([0.5])


def test_bootstrap_is_repeatable_and_about_the_right_width():
    values = np.random.default_rng(3).normal(0.7, 0.1, 36)
    interval = statistics.bootstrap(values)
    assert interval == statistics.bootstrap(values)
    assert interval.estimate == pytest.approx(values.mean())
    half = 1.96 * values.std() / 6
    assert interval.low == pytest.approx(values.mean() - half, abs=0.004)
    assert interval.high == pytest.approx(values.mean() + half, abs=0.004)


def test_bootstrap_takes_another_statistic():
    values = [0.0, 0.0, 1.0, 1.0, 1.0]
    interval = statistics.bootstrap(values, lambda samples: np.median(samples, axis=1))
    assert interval.estimate == 1
    assert (interval.low, interval.high) == (0, 1)
