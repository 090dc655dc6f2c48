"""Tests and intervals over datasets: textbook examples, SciPy, coverage, degenerate tables."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats

from experiments.analysis import stats

METHODS = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")
# Table 6 of Demšar (2006): AUC on 14 datasets. In the last row but one, 0.975 and 0.975 are
# printed with ranks 2 and 3, so the former is a little larger.
TABLE_6 = """.763 .768 .771 .798  .599 .591 .590 .569
    .954 .971 .968 .967  .628 .661 .654 .657
    .882 .888 .886 .898  .936 .931 .916 .931
    .661 .668 .609 .685  .583 .583 .563 .625
    .775 .838 .866 .875  1 1 1 1
    .940 .962 .965 .962  .619 .666 .614 .669
    .972 .981 .97501 .975  .957 .978 .946 .970"""
DEMSAR = pd.DataFrame(np.loadtxt(TABLE_6.splitlines()).reshape(14, 4), columns=METHODS)
SAMPLE = np.random.default_rng(0).normal(0.01, 0.03, 22)


def test_friedman_is_the_textbooks_but_for_scipys_correction_for_ties():
    ranks, p_value = stats.friedman(DEMSAR)
    assert [round(rank, 3) for rank in ranks] == [3.143, 2.0, 2.893, 1.964]
    chi_squared = scipy_stats.friedmanchisquare(*DEMSAR.to_numpy().T).statistic
    f_statistic = 13 * chi_squared / (14 * 3 - chi_squared)
    assert p_value == pytest.approx(scipy_stats.f.sf(f_statistic, 3, 39))
    assert p_value < 0.05


def test_friedman_of_methods_that_are_alike_or_always_in_order():
    assert stats.friedman(pd.DataFrame([[1.0, 1.0, 1.0]] * 4)) == ([2.0, 2.0, 2.0], 1.0)
    assert stats.friedman(pd.DataFrame([[0.3, 0.2, 0.1]] * 4)) == ([1.0, 2.0, 3.0], 0.0)
    assert stats.friedman(pd.DataFrame([[0.3, 0.2, 0.1]] * 4), smaller_is_better=True)[0] == [
        3.0,
        2.0,
        1.0,
    ]
    with pytest.raises(ValueError, match="needs 3 methods"):
        stats.friedman(pd.DataFrame([[1.0, 2.0]] * 4))
    with pytest.raises(ValueError, match="without gaps"):
        stats.friedman(pd.DataFrame([[1.0, 2.0, np.nan]] * 4))


def test_pairs_are_corrected_and_count_wins_by_one_tie_rule():
    found = stats.pairs(DEMSAR).set_index(["first", "second"])
    first = found.loc[("C4.5", "C4.5+m")]
    assert (len(found), first["better"], first["worse"]) == (6, 2, 10)
    assert first["difference"] == pytest.approx((DEMSAR["C4.5"] - DEMSAR["C4.5+m"]).mean())
    assert first["p_holm"] == pytest.approx(found["p"].min() * 6)
    near = pd.DataFrame({"a": [0.5004, 0.5006], "b": [0.5, 0.5]})
    assert stats.pairs(near)[["better", "worse"]].iloc[0].tolist() == [1, 0]


def test_groups_are_what_the_pairwise_tests_leave_together():
    order = ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    assert stats.groups(order, stats.pairs(DEMSAR)) == [
        ("C4.5+m+cf", "C4.5+m", "C4.5+cf"),
        ("C4.5+m+cf", "C4.5+cf", "C4.5"),
    ]


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


def test_wilcoxon_sees_no_difference_where_there_is_none():
    assert stats.wilcoxon([0.0, 0.0]) == 1
    assert stats.wilcoxon([0.3 - 0.1, 0.1 - 0.3]) == 1


def test_holm_steps_down_and_never_falls():
    assert stats.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert stats.holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert stats.holm([]) == []


def test_the_bootstrap_has_the_numbers_it_always_had():
    """These were computed before the analysis was rewritten: its draws must not move."""
    found = stats.bootstrap(SAMPLE)
    assert found == (0.006692312444, -0.004610223355, 0.01750246996)


def test_the_t_interval_is_scipys():
    student = stats.t_interval(SAMPLE)
    reference = scipy_stats.ttest_1samp(SAMPLE, 0).confidence_interval()
    assert (student.low, student.high) == pytest.approx((reference.low, reference.high))
    with pytest.raises(ValueError, match="at least 2 datasets"):
        stats.t_interval([0.5])
    with pytest.raises(ValueError, match="without gaps"):
        stats.bootstrap([0.5, np.nan])


def test_a_prediction_interval_covers_one_more_dataset():
    rng = np.random.default_rng(2)
    inside = []
    for _ in range(300):
        effects = rng.normal(0, 0.03, 13)
        measured = effects + rng.normal(0, 0.01, 13)
        found = stats.new_dataset(measured[:12])
        inside.append(found.low <= effects[12] <= found.high)
    assert 0.92 < np.mean(inside) < 0.99
    plain = stats.new_dataset(SAMPLE)
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
