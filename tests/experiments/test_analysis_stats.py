"""Tests and intervals over datasets: SciPy's numbers, coverage, degenerate tables."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from experiments.analysis import stats

SAMPLE = np.random.default_rng(0).normal(0.01, 0.03, 22)


@pytest.mark.parametrize("n", [1, 2, 5, 9, 16, 35])
def test_wilcoxon_is_scipys_exact_test_without_ties(n):
    values = np.random.default_rng(n).normal(0.3, 1, n)
    reference = scipy_stats.wilcoxon(values, method="exact").pvalue
    assert stats.wilcoxon(values) == pytest.approx(reference)


@pytest.mark.parametrize("seed", range(4))
def test_wilcoxon_is_scipys_enumeration_with_ties_and_zeros(seed):
    values = np.random.default_rng(seed).integers(-2, 4, 9) / 10
    everything = scipy_stats.PermutationMethod(n_resamples=2**9)
    reference = scipy_stats.wilcoxon(values, zero_method="zsplit", method=everything).pvalue
    assert stats.wilcoxon(values) == pytest.approx(reference)


def test_wilcoxon_sees_no_difference_where_there_is_none_and_holm_steps_down_and_never_falls():
    assert stats.holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert stats.holm([0.5, 0.9]).tolist() == pytest.approx([1.0, 1.0])
    assert stats.holm([]).empty


def test_the_t_interval_is_scipys():
    student = stats.t_interval(SAMPLE)
    reference = scipy_stats.ttest_1samp(SAMPLE, 0).confidence_interval()
    assert (student.low, student.high) == pytest.approx((reference.low, reference.high))


def test_a_prediction_interval_covers_one_more_dataset():
    rng = np.random.default_rng(2)
    inside = []
    for _ in range(300):
        effects = rng.normal(0, 0.03, 13)
        measured = effects + rng.normal(0, 0.01, 13)
        found = stats.t_interval(measured[:12], 1)
        inside.append(found.low <= effects[12] <= found.high)
    assert 0.92 < np.mean(inside) < 0.99
    plain = stats.t_interval(SAMPLE, 1)
    assert plain.high - plain.low > 3 * (stats.t_interval(SAMPLE).high - plain.estimate)


def test_equivalence_is_two_one_sided_tests():
    margin = 0.02
    low = scipy_stats.ttest_1samp(SAMPLE, -margin, alternative="greater").pvalue
    high = scipy_stats.ttest_1samp(SAMPLE, margin, alternative="less").pvalue
    assert stats.equivalence(SAMPLE, margin) == pytest.approx(max(low, high))
    assert stats.equivalence([0.001] * 5, 0.01) == 0
    assert stats.equivalence([0.02] * 5, 0.01) == 1


def test_bayesian_signed_rank_probabilities():
    better = stats.bayesian_signed_rank(np.random.default_rng(4).normal(0.05, 0.01, 20))
    worse = stats.bayesian_signed_rank(-np.random.default_rng(4).normal(0.05, 0.01, 20))
    assert better.better > 0.99
    assert (better.better, better.worse) == pytest.approx((worse.worse, worse.better), abs=0.01)
    same = stats.bayesian_signed_rank(np.random.default_rng(5).normal(0, 0.002, 20))
    assert same.equivalent > 0.99
    open_ = stats.bayesian_signed_rank(SAMPLE)
    assert sum(open_) == pytest.approx(1)
    assert max(open_) < 0.9
