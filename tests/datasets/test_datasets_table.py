"""The canonical table: one sequence of bytes per content."""

import numpy as np
import pandas as pd
import pytest
from datasets_support import fruit_table
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from datasets.table import Table


@st.composite
def tables(draw: st.DrawFn) -> Table:
    rows = draw(st.integers(1, 20))
    numbers = npst.arrays(np.float64, rows)
    texts = st.lists(st.none() | st.text(min_size=1, max_size=5), min_size=rows, max_size=rows)
    columns = draw(
        st.lists(
            numbers | texts.map(lambda cells: pd.Categorical(cells, ordered=False)), max_size=4
        )
    )
    classes = npst.arrays(np.int64, rows, elements=st.integers(-1, 7))
    y = draw(classes | npst.arrays(np.float64, rows))
    return Table(tuple(columns), y)


@settings(max_examples=40)
@given(tables())
def test_bytes_and_back(table):
    again = Table.from_bytes(table.to_bytes())
    assert again.to_bytes() == table.to_bytes()
    np.testing.assert_array_equal(again.y, table.y)
    assert again.y.dtype == table.y.dtype
    for one, other in zip(table.columns, again.columns, strict=True):
        assert list(pd.isna(one)) == list(pd.isna(other))
        assert all(a == b for a, b in zip(one, other, strict=True) if not pd.isna(a))


def test_equal_values_have_equal_bytes():
    odd_nan = np.frombuffer(np.uint64(0x7FF8000000000123).tobytes(), np.float64)[0]
    one = Table((np.array([0.0, np.nan]),), np.array([0, 1]))
    other = Table((np.array([-0.0, odd_nan]),), np.array([0, 1]))
    assert one.to_bytes() == other.to_bytes()


@pytest.mark.parametrize("change", ["number", "category", "label", "order"])
def test_any_change_changes_the_hash(change):
    table = fruit_table()
    number, colour = table.columns
    y = table.y.copy()
    if change == "number":
        number = np.nextafter(number, np.inf)
    elif change == "category":
        colour = colour.rename_categories({"red": "rot"})
    elif change == "label":
        y[0] = 1 - y[0]
    else:
        number, colour, y = number[::-1], colour[::-1], y[::-1]
    assert Table((number, colour), y).content_hash != table.content_hash
