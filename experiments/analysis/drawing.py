"""One look for every figure, and forest plots. Figures are built without ``pyplot``, inside
:func:`look`, so that neither global state nor a user's ``matplotlibrc`` changes them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

INK, MUTED, GRID, PAPER_MARK = "#1b1f24", "#6a7178", "#dfe3e8", "#8a9097"
# Okabe and Ito's palette; every learner has its own marker too, so colour is never the only cue.
BLUE, VERMILION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
ORANGE, SKY, GREY, BLACK = "#e69f00", "#56b4e9", "#7f7f7f", "#000000"
COLUMN_WIDTH, PAGE_WIDTH = 3.4, 7.0
"""Inches, as in a two-column paper."""


@dataclass(frozen=True)
class Mark:
    """How a learner looks in every figure."""

    colour: str
    marker: str


_MARKERS = {
    BLUE: {"gradtree": "o", "gradtree-new-defaults": "d", "gradtree-tuned": "*"}
    | {"gradtree-estimator": "^", "small-tree": "X", "gradtree-regression": "p"},
    VERMILION: {"cart": "s", "cart-pruned": "P", "cart-shrunk": "X", "cart-weighted": "<"}
    | {"cart-regression": "D", "cart-pruned-regression": "v"},
    ORANGE: {"dndt": "v", "cart-weighted-grid": ">"},
    PURPLE: {"genetictree": "D", "licketysplit": "s", "contree": "^"},
    GREEN: {"dl85": "^", "dl85-tuned": "v", "streed": "D"},
    SKY: {"gradtree-gumbel": "P", "gradtree-gumbel-noise-free": "p"},
    GREY: {"gradtree-annealed": "X"},
    BLACK: {"boosting": "o", "boosting-regression": "D"},
}
MARKS: dict[str, Mark] = {
    slug: Mark(colour, marker) for colour, own in _MARKERS.items() for slug, marker in own.items()
}
OTHER = Mark(GREY, "h")
LINE_HEIGHT, HEAD_HEIGHT = 0.2, 0.75
"""Inches of a forest plot."""
STYLE = Path(__file__).with_suffix(".mplstyle")


def mark_of(method: str) -> Mark:
    """The look of a learner by slug; those of plug-ins share a neutral one."""
    return MARKS.get(method, OTHER)


@contextmanager
def look() -> Iterator[None]:
    """Matplotlib settings under which every figure is made and saved."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(matplotlib.rc_params_from_file(STYLE, False, False))
        yield


def canvas(width: float = PAGE_WIDTH, height: float = 3.0) -> Figure:
    """An empty figure of a size in inches, laid out by constraints."""
    return Figure(figsize=(width, height), layout="constrained")


def plain_numbers(axis: Axis, *, threes: bool = False) -> None:
    """Label a logarithmic axis 10, 100, 1,000 (with ``threes`` 30, 300 too), not by powers."""
    if threes:
        axis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


def quiet(axes: Axes, *, left: bool = True) -> None:
    """Drop tick marks (the grid serves) and, if asked, the left spine."""
    axes.tick_params(which="both", length=0)
    axes.spines["left"].set_visible(left)


def forest(lines: Sequence[dict[str, Any]], axis: str, width: float = 5.6) -> Figure:
    """Lines from top to bottom under the headings of their groups, each with ``group``, ``label``,
    ``difference``, ``low``, ``high``, ``filled`` (the mark) and ``note`` (at the right margin).
    """
    groups = list(dict.fromkeys(line["group"] for line in lines))
    height = HEAD_HEIGHT + LINE_HEIGHT * (len(lines) + 1.2 * len(groups))
    figure = canvas(width, height)
    axes = figure.subplots()
    side = axes.get_yaxis_transform()
    place, ticks, labels = 0.0, [], []
    for group in groups:
        if group:
            axes.text(0, place, group, transform=side, va="center", weight="bold")
            place -= 1
        top = place + 0.5
        for line in (each for each in lines if each["group"] == group):
            colour = BLUE if line["difference"] > 0 else VERMILION
            face = colour if line.get("filled") else "#ffffff"
            axes.plot([line["low"], line["high"]], [place] * 2, color=colour, linewidth=1.6)
            axes.plot(
                line["difference"], place, "o", color=colour, markerfacecolor=face, markersize=5
            )
            note = line.get("note", "")
            axes.text(1.01, place, note, transform=side, va="center", color=MUTED)
            ticks.append(place)
            labels.append(line["label"])
            place -= 1
        axes.plot([0, 0], [place + 0.5, top], color=INK, linewidth=0.8)  # crosses no heading
        place -= 0.2
    axes.set_yticks(ticks, labels)
    axes.set_ylim(place + 0.4, 0.8)
    axes.set_xlabel(axis)
    quiet(axes, left=False)
    return figure
