"""One look for every figure, forest plots, and figures as bytes or inside a page. Figures are built
without ``pyplot``, inside :func:`look`, so that neither global state nor a user's ``matplotlibrc``
changes them: the same data gives the same bytes, and these carry a hash of what they show, which
``verify`` compares with the runs.
"""

import hashlib
import html
import io
import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter

from experiments.analysis.answer import Figure as Declared

INK, MUTED, PAPER_MARK = "#1b1f24", "#6a7178", "#8a9097"
BLUE, VERMILION, GREY = "#0072b2", "#d55e00", "#7f7f7f"
PAGE_WIDTH = 7.0
"""Inches, as in a two-column paper."""


class Mark(NamedTuple):
    """How a learner looks in every figure."""

    colour: str
    marker: str


_DECLARED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
MARKS = {slug: Mark(*look) for slug, look in _DECLARED["marks"].items()}
LINE_HEIGHT, HEAD_HEIGHT = 0.2, 0.75
"""Inches of a forest plot."""
SCREEN_SCALE = 1.6
"""Pixels per point on a page: print sizes are small for a screen."""
STYLE = Path(__file__).with_suffix(".mplstyle")


def mark_of(method: str) -> Mark:
    """The look of a learner by slug; those of plug-ins share a neutral one."""
    return MARKS.get(method, Mark(GREY, "h"))


@contextmanager
def look() -> Iterator[None]:
    """Matplotlib settings under which every figure is made and saved."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(matplotlib.rc_params_from_file(STYLE, False, False))
        yield


def canvas(width: float, height: float) -> Figure:
    """An empty figure of a size in inches, laid out by constraints."""
    return Figure(figsize=(width, height), layout="constrained")


def points(axes: Axes, x: Any, y: Any, method: str, filled: bool = True, **how: Any) -> None:
    """The marks of a learner, hollow unless ``filled``."""
    look = mark_of(method)
    face = look.colour if filled else "#ffffff"
    axes.plot(x, y, look.marker, color=look.colour, markerfacecolor=face, **how)


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


def rows(axes: Axes, names: Sequence[str], label: str) -> None:
    """Names instead of numbers on the vertical axis, what is measured below the other."""
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel(label)
    quiet(axes, left=False)


def forest(lines: Sequence[dict[str, Any]], axis: str, width: float = 5.6) -> Figure:
    """Lines from top to bottom under the headings of their groups, each with ``group``, ``label``,
    ``n``, ``difference``, ``low``, ``high``, ``filled`` (the mark) and ``note`` (on the right).
    """
    groups = list(dict.fromkeys(line["group"] for line in lines))
    figure = canvas(width, HEAD_HEIGHT + LINE_HEIGHT * (len(lines) + 1.2 * len(groups)))
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
            mark: Any = {
                "markerfacecolor": colour if line["filled"] else "#ffffff",
                "markersize": 5,
            }
            axes.plot([line["low"], line["high"]], [place] * 2, color=colour, linewidth=1.6)
            axes.plot(line["difference"], place, "o", color=colour, **mark)
            axes.text(1.01, place, line["note"], transform=side, va="center", color=MUTED)
            ticks.append(place)
            labels.append(f"{line['label']} ({line['n']})")
            place -= 1
        axes.plot([0, 0], [place + 0.5, top], color=INK, linewidth=0.8)  # crosses no heading
        place -= 0.2
    axes.set_yticks(ticks, labels)
    axes.set_ylim(place + 0.4, 0.8)
    axes.set_xlabel(axis)
    quiet(axes, left=False)
    return figure


def data_hash(figure: Figure) -> str:
    """A hash of what a figure shows: numbers to nine digits and texts, not fonts or layout."""
    parts: list[str] = []
    for axes in figure.axes:
        texts = [axes.get_title(), axes.get_title("left"), axes.get_xlabel(), axes.get_ylabel()]
        texts += [text.get_text() for text in axes.texts]
        for axis in (axes.xaxis, axes.yaxis):
            if isinstance(axis.get_major_locator(), FixedLocator):  # names of rows, as set
                texts += axis.get_major_formatter().format_ticks(list(axis.get_majorticklocs()))
        arrays = [np.asarray(line.get_xydata(), dtype=float) for line in axes.lines]
        arrays += [np.asarray(patch.get_path().vertices, dtype=float) for patch in axes.patches]
        transforms = [patch.get_patch_transform() for patch in axes.patches]  # of bars
        arrays += [transform.get_matrix() for transform in transforms if transform.is_affine]
        for collection in axes.collections:
            arrays.append(np.ma.filled(collection.get_offsets(), np.nan))
            arrays += [np.asarray(path.vertices, dtype=float) for path in collection.get_paths()]
        parts += [*map(str, texts), *(" ".join(f"{v:.9g}" for v in a.ravel()) for a in arrays)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]


def render(figure: Figure, kind: str, *, inline: bool = False) -> bytes:
    """The bytes of a file, without date and version; ``inline`` (for a page) keeps text as text."""
    data = data_hash(figure)
    metadata: dict[str, dict[str, str | None]] = {
        "svg": {"Date": None, "Creator": None, "Identifier": data},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None, "Keywords": data},
        "png": {"Software": None, "Comment": data},
    }
    with look():
        matplotlib.rcParams["svg.fonttype"] = "none" if inline else "path"
        matplotlib.rcParams["path.simplify_threshold"] = 0.5 if inline else 1 / 9
        FigureCanvasAgg(figure)
        if engine := figure.get_layout_engine():  # the slow part, and the same for every format
            engine.execute(figure)
            figure.set_layout_engine("none")
        stream = io.BytesIO()
        figure.savefig(stream, format=kind, metadata=metadata[kind], transparent=inline)
    if kind != "svg":
        return stream.getvalue()
    # Hashes of unrounded places, which differ between processors, become numbers.
    ids: dict[bytes, bytes] = {}
    known = rb"(?<=[\"#])(?:C\w+_)?[mp]?[0-9a-f]{10}(?=[\")])"
    return re.sub(known, lambda m: ids.setdefault(m[0], b"i%d" % len(ids)), stream.getvalue())


def inline_svg(figure: Declared) -> Markup:
    """The figure with text as text in the page's typeface, and ids that begin with its name."""
    svg = render(figure.draw(), "svg", inline=True).decode()
    label = html.escape(figure.caption)
    size = re.findall(r'viewBox="([^"]+)"', svg)[0]
    svg = svg[svg.index(">", svg.index("<svg")) + 1 :].replace("xlink:href", "href")
    svg = re.sub(r"\s*<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r'( id="|href="#|url\(#)', rf"\1{figure.name}-", svg)
    svg = re.sub(r"font-family:[^;\"]*;? ?", "", svg)
    svg = re.sub(r"(?<=[\s\"(,])-?\d+\.\d{3,}(?=[\s\"),])", lambda n: f"{float(n[0]):.2f}", svg)
    return Markup(
        f'<svg class="figure" viewBox="{size}" role="img" aria-label="{label}" '
        f'style="max-width:{float(size.split()[2]) * SCREEN_SCALE:.0f}px">{svg.strip()}'
    )
