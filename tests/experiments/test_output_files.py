"""Tables, figures and README blocks as files."""

import io
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from matplotlib import pyplot
from output_samples import NAMES, PROFILES, answers, drawing, table, written

from experiments.analysis import drawing as style
from experiments.analysis.answer import Answer
from experiments.errors import UserError
from experiments.output import files, readme


def test_numbers_read_back_unchanged_and_whole_ones_are_whole():
    frame = pd.DataFrame({"x": [0.1 + 0.2, 1e-17], "n": [10.0, None], "k": [1372.0, 5.0]})
    text = files.csv_text(frame, counts=["k"])
    assert text == "x,n,k\n0.30000000000000004,10,1372\n1e-17,,5\n"
    back = pd.read_csv(io.StringIO(text), float_precision="round_trip")
    pd.testing.assert_frame_equal(back, frame, check_dtype=False)


def test_two_tables_of_one_name_are_a_mistake():
    twice = Answer("x", "X?", (), (table(), table()))
    with pytest.raises(UserError, match="two tables are called tables/against-cart"):
        files.table_files([twice], NAMES)


def test_only_tables_that_nobody_owns_are_removed(tmp_path):
    results = tmp_path / "results"
    (results / "tables" / "old").mkdir(parents=True)
    stray = results / "tables" / "old" / "gone.csv"
    own, beside = results / "tables" / "notes.txt", results / "gone.csv"
    for path in (stray, own, beside):
        path.write_text("x")
    removed = files.write(results, {"tables/a.csv": "1\n"})
    assert removed == ["tables/old/gone.csv"]
    assert not stray.exists()
    assert own.exists()
    assert beside.exists()
    assert not list(results.rglob("*.part"))


def test_a_figure_is_the_same_bytes_again_and_knows_its_data(tmp_path):
    first = [path.read_bytes() for path in files.save(drawing(), tmp_path / "a")]
    again = [path.read_bytes() for path in files.save(drawing(), tmp_path / "b")]
    assert first == again
    assert files.stale(drawing(), tmp_path / "a") == []
    assert len(files.stale(drawing(1.5), tmp_path / "a")) == 3
    assert style.data_hash(drawing()) != style.data_hash(drawing(1 + 1e-8))


def test_every_learner_has_its_own_mark_and_the_hash_of_a_figure_sees_all_kinds():
    assert len(set(style.MARKS.values())) == len(style.MARKS)
    draw: dict[str, Callable[[Any, float], object]] = {
        "bars": lambda axes, value: axes.barh([0, 1], [1, value]),
        "points": lambda axes, value: axes.scatter([0, 1], [1, value]),
        "text": lambda axes, value: axes.text(0, 0, f"{value}"),
        "ticks": lambda axes, value: axes.set_yticks([0], [f"{value}"]),
        "area": lambda axes, value: axes.fill_between([0, 1], [0, 0], [1, value]),
    }

    def hashed(what: str, value: float) -> str:
        figure = style.canvas(3, 2)
        draw[what](figure.subplots(), value)
        return style.data_hash(figure)

    for what in draw:
        assert hashed(what, 2.0) == hashed(what, 2.0) != hashed(what, 3.0), what


def test_figures_do_not_hear_of_a_users_settings(tmp_path):
    with style.look():
        quiet = drawing()
    plain = style.render(quiet, "svg")
    with pyplot.rc_context({"lines.linewidth": 9.0, "font.size": 30.0}):
        with style.look():
            loud = drawing()
        assert style.render(loud, "svg") == plain


def test_blocks_go_between_their_markers_and_nowhere_else(tmp_path):
    written(tmp_path)
    text = (tmp_path / "README.md").read_text()
    assert text.startswith("# Title\nProse.\n")
    assert text.endswith("\nMore prose.\n")
    made = readme.fresh(readme.blocks(answers(), PROFILES, tmp_path), tmp_path)
    assert readme.update(made, tmp_path) == []
    with pytest.raises(UserError, match="5 blocks, but"):
        readme.fresh({"README.md": ["one"] * 5}, tmp_path)
