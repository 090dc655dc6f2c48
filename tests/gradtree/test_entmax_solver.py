"""Entmax 1.5 against a solver that shares nothing with it."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gradtree.compiling import from_python
from gradtree.engines.entmax import entmax_root

rows = arrays(np.float64, st.integers(1, 60), elements=st.floats(-50, 50, width=32))
close_rows = arrays(np.float64, st.integers(1, 300), elements=st.floats(-1, 1, width=32))
tied_rows = arrays(np.float64, st.integers(1, 40), elements=st.sampled_from([-3.0, 0.0, 0.5, 0.75]))
huge_rows = arrays(
    np.float64, st.integers(1, 40), elements=st.sampled_from([-1e30, -1e8, 0.0, 2.0, 1e8, 1e30])
)
any_row = st.one_of(rows, close_rows, tied_rows, huge_rows)


def bisected(row: np.ndarray) -> np.ndarray:
    """Entmax 1.5 by halving the interval that holds the threshold, in extended precision."""
    x = (row.astype(np.longdouble) - row.max()) / 2
    low, high = np.longdouble(-1), np.longdouble(0)
    for _ in range(120):
        middle = (low + high) / 2
        if (np.maximum(x - middle, 0) ** 2).sum() > 1:
            low = middle
        else:
            high = middle
    return np.asarray(np.maximum(x - low, 0) ** 2, dtype=np.float64)


def entmax(row: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    root = np.empty_like(row)
    total = from_python(entmax_root)(row, row.max(), temperature, root)
    assert total == pytest.approx(root.sum(), rel=1e-12 if row.dtype == np.float64 else 1e-4)
    return root**2


@given(any_row)
def test_it_agrees_with_bisection(row):
    np.testing.assert_allclose(entmax(row), bisected(row), rtol=0, atol=1e-12)


def largest_error_of_a_root(single: np.ndarray, expected: np.ndarray) -> float:
    """By how much rounding may move a square root of entmax.

    With the entries ``e`` measured from where Newton's method starts, one below the largest, the
    threshold ``t`` solves ``sum((e - t)**2) = 1``. A sum of n terms is off by at most n roundings
    of itself. Divided by the derivative ``2 sum(e - t)``, the errors of ``2 t sum(e)`` and of
    ``sum(e**2)`` are those of ``t``: many when a large common part of the entries cancels.
    """
    above = np.maximum((single.astype(np.float64) - single.max()) / 2 + 1, 0)
    threshold = 1 - np.sqrt(expected.max())
    sums = threshold * above.sum() + (above**2).sum() / 2
    roundings = (len(single) + 8) * np.finfo(np.float32).eps / 2
    return float(roundings * (sums / np.sqrt(expected).sum() + 1))


@given(any_row)
@example(np.array([0.8028031] + [0.5] * 114))
def test_single_precision_agrees_with_bisection(row):
    single = row.astype(np.float32)
    expected = bisected(single.astype(np.float64))
    error = largest_error_of_a_root(single, expected)
    assert (np.abs(entmax(single) - expected) <= 2 * np.sqrt(expected) * error + error**2).all()


@given(any_row)
def test_equal_logits_get_equal_weights(row):
    weights = entmax(row)
    for value in np.unique(row):
        assert np.ptp(weights[row == value]) == 0


@given(rows, st.sampled_from([0.01, 0.3, 0.5, 2.0, 40.0]))
def test_a_temperature_divides_the_logits(row, temperature):
    np.testing.assert_allclose(
        entmax(row, temperature), bisected(row / temperature), rtol=0, atol=1e-11
    )


@pytest.mark.parametrize("lead", [1.999, 2.0, 2.001, 1e30])
def test_a_lead_of_two_takes_all(lead):
    weights = entmax(np.array([0.0, lead, 0.0]))
    assert (weights[1] == 1.0) == (lead >= 2)
    np.testing.assert_allclose(weights, bisected(np.array([0.0, lead, 0.0])), atol=1e-12)
