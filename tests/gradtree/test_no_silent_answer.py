"""What cannot be right is refused at once, with a sentence; nothing is answered in silence."""

import time
import warnings

import numpy as np
import pandas as pd
import pytest
from small_problems import boxes, quick, revised

from gradtree import fit_table
from gradtree.columns.frames import printed_names


def table_with_gaps(n_rows: int = 300, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns of every kind, all with gaps; those of the first tell the label."""
    rng = np.random.default_rng(seed)
    whole = pd.DataFrame(
        {
            "word": pd.Categorical(rng.choice(["a", "b", "c"], n_rows)),
            "plain": rng.choice(np.array(["u", "v", None], dtype=object), n_rows),
            "number": rng.normal(size=n_rows),
            "whole": pd.array(rng.integers(0, 9, n_rows), dtype="Int64"),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, n_rows), "D"),
            "flag": pd.array(rng.random(n_rows) < 0.5, dtype="boolean"),
        }
    )
    frame = whole.mask(rng.random(whole.shape) < [0.4, 0.0, 0.2, 0.2, 0.2, 0.2])
    return frame, frame["word"].isna().to_numpy() ^ (rng.random(n_rows) < 0.02)


def of_every_make(frame: pd.DataFrame) -> dict[str, object]:
    """The same table in other libraries."""
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    table = arrow.Table.from_pandas(frame)
    halves = [arrow.Table.from_pandas(part) for part in (frame[:40], frame[40:])]
    return {
        "polars": polars.from_pandas(frame),
        "arrow": table,
        "chunks with dictionaries of their own": arrow.concat_tables(halves),
        "record batch": arrow.RecordBatch.from_pandas(frame),
    }


def test_gaps_are_gaps_in_tables_of_every_make():
    frame, y = table_with_gaps()
    expected = revised().fit(frame, y)
    assert expected.score(frame, y) > 0.95
    for make, table in of_every_make(frame).items():
        model = revised().fit(table, y)
        assert model.tree_ == expected.tree_, make
        np.testing.assert_array_equal(expected.predict(table), expected.predict(frame), make)


def test_a_dictionary_of_arrow_may_hold_the_gap_itself():
    arrow = pytest.importorskip("pyarrow")
    codes = np.arange(200) % 3
    column = arrow.DictionaryArray.from_arrays(codes, arrow.array(["a", None, "b"]))
    table = arrow.table({"word": column, "noise": np.sin(np.arange(200.0))})
    model = revised().fit(table, codes == 1)
    assert model.columns_[0].categories == ("a", "b")
    assert model.columns_[0].gaps
    assert model.score(table, codes == 1) == 1.0


def test_a_target_of_arrow_with_gaps_is_refused_or_its_rows_left_out():
    arrow = pytest.importorskip("pyarrow")
    frame, _ = table_with_gaps()
    target = pd.Series(np.where(frame["number"] > 0, "up", "down"))
    target = target.where(np.arange(300) % 10 > 0).astype("category")
    column = arrow.array(target)
    with pytest.raises(ValueError, match="30 of 300 labels are missing"):
        revised().fit(frame, column)
    table = arrow.Table.from_pandas(frame.assign(y=target))
    with pytest.warns(UserWarning, match="30 rows without a value of 'y'"):
        model = fit_table(table, "y", epochs=20, restarts=0, random_state=0)
    assert model.classes_.tolist() == ["down", "up"]
    numbered = fit_table(arrow.table({"x": np.arange(99.0) ** 2, "y": np.arange(99) % 3}), "y")
    assert numbered.predict(arrow.table({"x": [1.0]})).dtype.kind == "i"
    np.testing.assert_array_equal(model.predict(table), model.predict(frame))


@pytest.mark.parametrize(
    "seeds", [range(40), pytest.param(range(40, 2040), marks=pytest.mark.slow)], ids=len
)
def test_random_tables_of_every_make_give_the_same_predictions(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        frame, y = table_with_gaps(int(rng.integers(60, 120)), seed)
        frame = frame.loc[:, rng.random(frame.shape[1]) < 0.7]
        if frame.shape[1] == 0:
            continue
        model = revised(epochs=5, restarts=0, depth=3).fit(frame, y)
        new, _ = table_with_gaps(50, seed + 10_000)
        new = new[frame.columns]
        expected = model.predict_proba(new)
        for make, table in of_every_make(new).items():
            np.testing.assert_array_equal(model.predict_proba(table), expected, f"{seed} {make}")


def test_an_error_in_a_loss_of_ones_own_is_raised_once(capfd):
    X, y = boxes(200)

    def raises(p, label, gradient):
        if p[1] > 0.6:
            raise ZeroDivisionError("somewhere beyond 0.6")
        gradient[:] = 0.0
        gradient[label] = -1.0 / (p[label] + 1e-3)
        return -np.log(p[label] + 1e-3)

    with pytest.raises(ZeroDivisionError, match=r"beyond 0\.6"):
        quick(loss=raises).fit(X, y)
    assert "Exception ignored" not in capfd.readouterr().err


ODD = np.arange(200) % 2
DAYS = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(100 * ODD + np.arange(200) % 60, "D"))
WORDS = pd.Series(np.where(ODD, "a", "b"))
NUMBERS = pd.Series(10.0 * ODD + np.arange(200) % 7)
TRUTH = pd.Series(ODD == 0)
LENGTHS = pd.to_timedelta(NUMBERS, unit="h")
KINDS = {
    "dates": DAYS,
    "text": WORDS,
    "numbers": NUMBERS,
    "truth": TRUTH,
    "durations": LENGTHS,
    "digits": pd.Series(np.where(ODD, "1", "2")),
    "category of numbers": NUMBERS.astype("category"),
}
REFUSED = {
    "dates": ["numbers", "truth", "durations", "digits", "text", "category of numbers"],
    "durations": ["numbers", "truth", "dates", "digits"],
    "text": ["numbers", "truth", "dates", "durations", "category of numbers"],
    "truth": ["numbers", "text", "dates", "digits"],
    "numbers": ["text", "dates", "durations", "digits"],
    "category of numbers": ["text", "dates", "truth", "digits"],
}


@pytest.mark.parametrize(("trained", "given"), [(t, g) for t in REFUSED for g in REFUSED[t]])
def test_another_kind_of_column_is_refused(trained, given):
    model = revised(epochs=20).fit(pd.DataFrame({"x": KINDS[trained]}), ODD)
    assert model.score(pd.DataFrame({"x": KINDS[trained]}), ODD) > 0.9
    with pytest.raises(ValueError, match=r"'x' held .* in training, but holds .* now"):
        model.predict(pd.DataFrame({"x": KINDS[given]}))


@pytest.mark.parametrize("trained", KINDS)
def test_a_column_without_any_value_is_of_every_kind(trained):
    model = revised(epochs=20).fit(pd.DataFrame({"x": KINDS[trained]}), ODD)
    for nothing in (None, np.nan, pd.NaT):
        empty = pd.DataFrame({"x": pd.Series([nothing] * 200, dtype=object)})
        assert len(model.predict(empty)) == 200


def test_categories_that_are_all_new_are_told():
    model = revised(epochs=20).fit(pd.DataFrame({"x": WORDS}), ODD)
    with pytest.warns(UserWarning, match="only categories that training did not see, such as 'B'"):
        model.predict(pd.DataFrame({"x": WORDS.str.upper()}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(pd.DataFrame({"x": WORDS.where(WORDS == "a", "new")}))


DAMAGES = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "zeroed": lambda data: bytes(len(data)),
}


@pytest.mark.parametrize("kind", ["index", "code"])
@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_cache_is_compiled_again(what, kind, tmp_path, python):
    program = "import numpy as np\nfrom kernels import double\nprint(double(np.arange(3.0)).sum())"
    (tmp_path / "kernels.py").write_text(
        "import numpy as np\n"
        "from gradtree.compiling import kept_njit\n"
        "@kept_njit()\n"
        "def double(x):\n"
        "    return 2.0 * x\n"
    )
    cache = tmp_path / "cache"
    surroundings = {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(tmp_path)}
    expected = python(program, **surroundings)
    files = sorted(cache.rglob("*.nbi" if kind == "index" else "*.nbc"))
    assert files
    for file in files:
        file.write_bytes(DAMAGES[what](file.read_bytes()))
    assert python(program, **surroundings) == expected
    assert all(file.stat().st_size for file in cache.rglob("*.nb*"))


def test_weights_of_any_size_count_by_their_ratios():
    X, y = boxes(200)
    weight = np.where(np.arange(200) % 3, 1.0, 0.5)
    expected = revised().fit(X, y, sample_weight=weight).tree_
    assert revised().fit(X, y, sample_weight=weight * 2.0**1023).tree_ == expected
    assert revised().fit(X, y).tree_ != expected
    for size in (1.0, 1e308):
        by_class = revised(class_weight={0: size, 1: size / 2}).fit(X, y)
        assert np.isfinite(by_class.predict_proba(X)).all()
        assert by_class.score(X, y) > 0.9


def test_too_many_columns_are_refused_at_once():
    X = np.zeros((30, 100_000), dtype=np.float32)
    began = time.process_time()
    with pytest.raises(ValueError, match=r"100,000 columns.*use depth <= 6, or fewer columns"):
        revised(depth=7).fit(X, np.arange(30) % 2)
    assert time.process_time() - began < 1


def test_names_of_very_many_columns_take_no_time():
    began = time.process_time()
    assert printed_names(range(100_000))[-1] == "x99999"
    assert len(set(printed_names(["a", "a (2)"] * 1000))) == 2000
    assert time.process_time() - began < 2
