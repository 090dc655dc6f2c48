"""What the figures draw: marks where the data are, the same bytes every time, a word for gaps."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from experiments.render.figures import style
from experiments.render.figures.changes import (
    Draws,
    Effect,
    ProtocolPair,
    clean_against_paper,
    forest,
    other_draws,
)
from experiments.render.figures.comparison import CellPair, critical_difference, ours_against_paper
from experiments.render.figures.cost import (
    Point,
    RuntimePoint,
    SizePoint,
    f1_against_leaves,
    f1_against_size,
    runtime_against_shape,
)
from experiments.render.figures.style import FORMATS, inline_svg, render, save
from experiments.render.figures.trees import Curve, training_curves

NAMES = {"gradtree": "GradTree", "cart": "CART", "dl85": "DL8.5"}


def sizes() -> Figure:
    return f1_against_size(
        [
            SizePoint("cart", "CART", "binary", "A", 10, 0.6),
            SizePoint("cart", "CART", "binary", "B", 1000, 0.8),
            SizePoint("gradtree", "GradTree", "multi", "C", 50, 0.9),
        ]
    )


def runtimes() -> Figure:
    return runtime_against_shape(
        [RuntimePoint("cart", "CART", str(n), n, n // 10, n / 1000) for n in (100, 1000, 10_000)]
    )


def pairs() -> Figure:
    return ours_against_paper(
        [
            CellPair("Iris", "cart", "CART", 0.9, 0.05, 0.91, 0.06),
            CellPair("Wine", "cart", "CART", None, None, 0.8, 0.02),
            CellPair("Iris", "dndt", "DNDT", 0.7, 0.1, None, None),
        ]
    )


def ranks() -> Figure:
    order = {"dl85": 2.5, "gradtree": 1.2, "cart": 2.3}
    return critical_difference(order, [("cart", "dl85")], names=NAMES, note="a note")


def curves() -> Figure:
    losses = [1.0, 0.5, 0.4, 0.6]
    return training_curves([Curve("Iris", run, losses, losses, 2, run == 1) for run in range(3)])


def changes() -> Figure:
    return clean_against_paper(
        [
            ProtocolPair("Iris", "cart", "CART", 0.9, 0.95),
            ProtocolPair("Zoo", "cart", "CART", 0.9, 0.8),
        ]
    )


def draws() -> Figure:
    return other_draws([Draws("Iris", 0.93, 0.92, 0.9, 0.02), Draws("Zoo", 0.9, None, 0.8, 0.05)])


def lines() -> Figure:
    return forest(
        [
            Effect("tuned", "binary", 0.02, 0.01, 0.03, True, "9-0-1"),
            Effect("tuned", "multi-class", -0.01, -0.04, 0.02, False, "3-0-5"),
            Effect("default", "binary", 0.0, -0.01, 0.01, False),
        ],
        axis="difference",
    )


DRAWINGS = [lines, sizes, runtimes, pairs, ranks, curves, changes, draws]


def texts(figure: Figure) -> list[str]:
    figure.draw_without_rendering()
    return [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]


@pytest.mark.parametrize(
    ("draw", "kind"), [*((draw, "svg") for draw in DRAWINGS), (pairs, "pdf"), (pairs, "png")]
)
def test_the_same_data_give_the_same_bytes(draw: Callable[[], Figure], kind: str) -> None:
    assert render(draw(), kind) == render(draw(), kind)


def test_a_users_settings_change_nothing() -> None:
    import matplotlib

    before = render(ranks(), "svg")
    with matplotlib.rc_context({"font.size": 30, "axes.grid": False, "svg.hashsalt": None}):
        assert render(ranks(), "svg") == before


def test_files_carry_no_date_and_no_version() -> None:
    for kind in FORMATS:
        content = render(ranks(), kind)
        assert b"atplotlib" not in content.replace(b"matplotlib.axis", b""), kind
        assert not re.search(rb"CreationDate|<dc:date>", content), kind


def test_save_writes_every_format(tmp_path) -> None:
    paths = save(changes(), tmp_path / "new" / "figure.name")
    assert [path.name for path in paths] == [f"figure.name.{kind}" for kind in FORMATS]
    heads = [path.read_bytes()[:4] for path in paths]
    assert heads == [b"<?xm", b"%PDF", b"\x89PNG"]


def test_large_marks_stand_at_a_methods_means() -> None:
    binary = sizes().axes[0]
    (large,) = [
        marks
        for marks in binary.collections
        if isinstance(marks, PathCollection) and marks.get_label() == "CART"
    ]
    # The geometric mean of 10 and 1000, and the mean of 0.6 and 0.8.
    np.testing.assert_allclose(large.get_offsets(), [[100, 0.7]])


def test_runtime_guides_are_the_power_law_of_the_points() -> None:
    by_samples = runtimes().axes[0]
    (guide,) = by_samples.lines
    np.testing.assert_allclose(guide.get_ydata(), [0.1, 10.0])


def test_comparison_shows_both_sides_with_their_spread_and_gaps_as_nothing() -> None:
    cart, dndt = pairs().axes
    assert [text.get_text() for text in cart.get_yticklabels()] == ["Iris", "Wine"]
    printed, measured = cart.containers
    np.testing.assert_allclose(printed.lines[0].get_xdata(orig=False), [0.91, 0.8])
    np.testing.assert_allclose(measured.lines[0].get_xdata(orig=False), [0.9])
    (segment,) = measured.lines[2][0].get_segments()
    np.testing.assert_allclose(segment[:, 0], [0.85, 0.95])
    assert len(dndt.containers) == 1


def test_critical_difference_orders_ranks_and_joins_the_group() -> None:
    figure = ranks()
    axes = figure.axes[0]
    words = texts(figure)
    places = [words.index(f"{NAMES[m]}  {r:.2f}") for m, r in (("gradtree", 1.2), ("cart", 2.3))]
    assert places == sorted(places)
    bars = [line for line in axes.lines if line.get_linewidth() == 2]
    assert len(bars) == 1
    np.testing.assert_allclose(bars[0].get_xdata(), [2.3, 2.5])  # a dot on each member
    assert bars[0].get_marker() == "o"
    assert "a note" in words


def test_a_forest_has_one_interval_per_line_and_fills_what_is_significant() -> None:
    axes = lines().axes[0]
    bars = [line for line in axes.lines if line.get_linewidth() == 1.6]
    spans = [bar.get_xdata().tolist() for bar in bars]
    assert spans == [[0.01, 0.03], [-0.04, 0.02], [-0.01, 0.01]]
    marks = [line for line in axes.lines if line.get_marker() == "o"]
    assert [mark.get_markerfacecolor() == "white" for mark in marks] == [False, True, True]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [
        "binary",
        "multi-class",
        "binary",
    ]
    heights = [float(bar.get_ydata()[0]) for bar in bars]
    assert heights == sorted(heights, reverse=True)
    assert {"tuned", "default", "9-0-1"} <= set(texts(lines()))


def test_training_curves_mark_the_kept_epoch_of_the_chosen_run_only() -> None:
    axes = curves().axes[0]
    dots = [line for line in axes.lines if line.get_label() == "epoch kept"]
    assert [line.get_xydata().tolist() for line in dots] == [[[3.0, 0.4]]]
    strong = [line for line in axes.lines if line.get_alpha() == 1.0]
    assert len(strong) == 2


def test_changes_are_bars_of_clean_minus_paper() -> None:
    axes = changes().axes[0]
    np.testing.assert_allclose([bar.get_width() for bar in axes.patches], [0.05, -0.1])
    assert "mean -0.025" in axes.get_title(loc="left")


def test_draws_show_the_printed_the_own_and_the_other_seeds() -> None:
    axes = draws().axes[0]
    lines = {line.get_label(): line.get_xdata(orig=False).tolist() for line in axes.lines}
    assert lines["the paper"] == [0.93, 0.9]
    assert lines["here, with the authors’ draws"] == [0.92]
    (bars,) = axes.containers
    np.testing.assert_allclose(bars.lines[0].get_xdata(orig=False), [0.9, 0.8])
    np.testing.assert_allclose(bars.lines[2][0].get_segments()[1][:, 0], [0.75, 0.85])


@pytest.mark.parametrize(
    "empty",
    [
        lambda: f1_against_size([]),
        lambda: runtime_against_shape([]),
        lambda: ours_against_paper([]),
        lambda: critical_difference({}, [], names={}),
        lambda: training_curves([]),
        lambda: clean_against_paper([]),
        lambda: other_draws([]),
    ],
)
def test_without_data_a_figure_says_so(empty: Callable[[], Figure]) -> None:
    figure = empty()
    (message,) = [text for text in texts(figure) if text]
    assert message.endswith(".")
    assert render(figure, "png")


def test_inline_svg_follows_the_pages_theme_and_keeps_to_its_own_ids() -> None:
    first, second = inline_svg(pairs(), "one", 'A "label" <b>'), inline_svg(pairs(), "two", "B")
    for source in (first, second):
        root = ElementTree.fromstring(source)
        assert root.tag.endswith("svg")
        assert "var(--ink)" in source
        assert not re.search(r"#[0-9a-f]{6}", source), "a colour that ignores the theme"
        assert "http" not in source.replace("http://www.w3.org/", "")
        ids = re.findall(r'\bid="([^"]+)"', source)
        assert len(ids) == len(set(ids))
        for target in re.findall(r'(?:url\(|href=")#([^")]+)', source):
            assert target in ids
    assert not set(re.findall(r'\bid="([^"]+)"', first)) & set(
        re.findall(r'\bid="([^"]+)"', second)
    )
    assert ElementTree.fromstring(first).get("aria-label") == 'A "label" <b>'


# Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB.
DEFICIENCIES = {
    "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritan": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


def lab(colour: str, deficiency: str | None) -> np.ndarray:
    rgb = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    if deficiency:
        linear = np.clip(np.array(DEFICIENCIES[deficiency]) @ linear, 0, 1)
    xyz = (
        np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
        @ linear
        / [0.9505, 1.0, 1.089]
    )
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("deficiency", [None, *DEFICIENCIES])
def test_the_papers_methods_differ_in_colour_for_every_colour_vision(
    deficiency: str | None,
) -> None:
    colours = [style.mark_of(m).colour for m in ("gradtree", "dndt", "genetictree", "dl85", "cart")]
    points = [lab(colour, deficiency) for colour in colours]
    distances = [
        float(np.linalg.norm(a - b)) for i, a in enumerate(points) for b in points[i + 1 :]
    ]
    # Ten units of Lab are about four times what is just noticeable.
    assert min(distances) > 10


def test_every_method_has_a_mark_of_its_own_for_print_in_grey() -> None:
    markers = [mark.marker for mark in style.MARKS.values()]
    assert len(set(markers)) == len(markers)


def test_a_slim_path_has_the_same_points() -> None:
    path = "M 1.00 2.00 L 3.25 4.00 L 5.00 6.00 C 1 2 3 4 5 6 L 7 8 L 9 10 M 1 2 L 3 4 z"
    slim = "M 1.00 2.00 3.25 4.00 5.00 6.00 C 1 2 3 4 5 6 L 7 8 9 10 M 1 2 3 4 z"
    assert style._slim_path(path) == slim
    curve = "M 0.00 0.00" + "".join(f" L {x}.25 {x}.38" for x in range(100))
    assert style._slim_path(curve) == "M 0.0 0.0" + "".join(f" {x}.2 {x}.4" for x in range(100))


def test_learners_of_small_trees_look_different() -> None:
    points = [Point("all", f"learner {at}", 8.0, 0.7, False) for at in range(13)]
    (axes,) = [each for each in f1_against_leaves(points, {}).axes if each.get_title("left")]
    looks = [(line.get_color(), line.get_marker()) for line in axes.get_lines()]
    assert len(looks) >= 13
    assert len(set(looks)) == len({marker for _, marker in looks}) == 13
