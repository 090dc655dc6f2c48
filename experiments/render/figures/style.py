"""One look for every figure: colours, marks and sizes that survive print and colour blindness.

Figures are built without ``pyplot``, so that no global state leaks from one
to the next, and inside :func:`look`, so that a user's ``matplotlibrc`` changes nothing.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

INK = "#1b1f24"
MUTED = "#6a7178"
GRID = "#dfe3e8"
PAPER_MARK = "#8a9097"

# Okabe and Ito's palette; every method has its own mark too, so that colour is never the only cue.
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, GREY = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#7f7f7f",
)

COLUMN_WIDTH = 3.4
PAGE_WIDTH = 7.0


@dataclass(frozen=True)
class Mark:
    """How a method looks in every figure."""

    colour: str
    marker: str


MARKS: dict[str, Mark] = {
    "gradtree": Mark(BLUE, "o"),
    "dndt": Mark(ORANGE, "v"),
    "genetictree": Mark(PURPLE, "D"),
    "dl85": Mark(GREEN, "^"),
    "cart": Mark(VERMILION, "s"),
    "gradtree-gumbel": Mark(SKY, "P"),
    "gradtree-annealed": Mark(GREY, "X"),
}
OTHER = Mark(GREY, "h")


def mark_of(method: str) -> Mark:
    """The look of a method by slug; learners beyond the paper share a neutral one."""
    return MARKS.get(method, OTHER)


@contextmanager
def look() -> Iterator[None]:
    """Matplotlib settings under which every figure of the suite is made and saved."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {
                "font.family": "DejaVu Sans",
                "font.size": 8,
                "axes.titlesize": 9,
                "axes.titleweight": "bold",
                "axes.titlelocation": "left",
                "axes.labelsize": 8,
                "axes.edgecolor": MUTED,
                "axes.labelcolor": INK,
                "axes.titlecolor": INK,
                "axes.linewidth": 0.6,
                "axes.spines.top": False,
                "axes.spines.right": False,
                "axes.grid": True,
                "axes.axisbelow": True,
                "grid.color": GRID,
                "grid.linewidth": 0.5,
                "text.color": INK,
                "xtick.color": MUTED,
                "ytick.color": MUTED,
                "xtick.labelcolor": INK,
                "ytick.labelcolor": INK,
                "xtick.labelsize": 7,
                "ytick.labelsize": 7,
                "legend.fontsize": 7,
                "legend.frameon": False,
                "lines.linewidth": 1.2,
                "figure.dpi": 100,
                "savefig.dpi": 200,
                "pdf.fonttype": 42,
                "svg.hashsalt": "gradtree",
            }
        )
        yield


def canvas(width: float, height: float) -> Figure:
    """An empty figure of the given size in inches, laid out by constraints."""
    return Figure(figsize=(width, height), layout="constrained")


def empty(figure: Figure, message: str) -> Figure:
    """Say in the figure why there is nothing to see, instead of drawing empty axes."""
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.text(0.5, 0.5, message, ha="center", va="center", color=MUTED, transform=axes.transAxes)
    return figure


def plain_numbers(axis: Axis, *, threes: bool = False) -> None:
    """Label a logarithmic axis 10, 100, 1,000 (with ``threes`` 30, 300 too), not by powers."""
    if threes:
        axis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


def quiet(axes: Axes, *, left: bool = True) -> None:
    """Drop tick marks (the grid serves) and, if asked, the left spine."""
    axes.tick_params(which="both", length=0)
    if not left:
        axes.spines["left"].set_visible(False)


FORMATS = ("svg", "pdf", "png")
SCREEN_SCALE = 1.75
"""Pixels per point on a page: print sizes are small for a screen."""

# No date and no library version: the same data gives the same file tomorrow.
_METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}


def render(figure: Figure, kind: str) -> bytes:
    """The figure as the bytes of an ``svg``, ``pdf`` or ``png`` file."""
    with look():
        # Unicode text as outlines, so that a viewer without the font shows the same picture.
        matplotlib.rcParams["svg.fonttype"] = "path"
        return _print(figure, kind)


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write ``stem.svg``, ``stem.pdf`` and ``stem.png``; return the three paths."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in FORMATS]
    for path, kind in zip(paths, FORMATS, strict=True):
        path.write_bytes(render(figure, kind))
    return paths


def inline_svg(figure: Figure, name: str, label: str) -> str:
    """The figure as an ``<svg>`` element for a web page.

    Text stays text, colours of the house become CSS variables so that the page's
    theme applies, and every id is prefixed with ``name`` so that figures can
    share a page.
    """
    with look():
        matplotlib.rcParams["svg.fonttype"] = "none"
        matplotlib.rcParams["path.simplify_threshold"] = 0.5  # of a point; curves have thousands
        source = _print(figure, "svg", transparent=True).decode()
    body = source[source.index("<svg") :].strip()
    body = re.sub(r"\s*<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = _prefix_ids(body, name)
    body = _theme(_slim(body))
    viewbox = re.search(r'viewBox="([^"]+)"', body)
    assert viewbox is not None, "matplotlib writes a viewBox"
    widest = round(float(viewbox[1].split()[2]) * SCREEN_SCALE)
    head = (
        f'<svg class="figure" viewBox="{viewbox[1]}" role="img" aria-label="{_escape(label)}" '
        f'style="max-width: {widest}px">'
    )
    return head + body[body.index(">") + 1 :]


def _slim(svg: str) -> str:
    """The same picture in half the bytes: a page holds many.

    Coordinates to a hundredth of a point, long curves to a tenth, which no
    screen tells apart; no comments, no groups around nothing or around one
    shape, no ids that nothing refers to, no line breaks.
    """
    svg = re.sub(r"(?<=[\s\"(,])-?\d+\.\d{3,}(?=[\s\"),])", lambda n: f"{float(n[0]):.2f}", svg)
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg))
    svg = re.sub(r' id="([^"]+)"', lambda found: found[0] if found[1] in used else "", svg)
    svg = re.sub(r">\s+<", "><", svg)
    svg = re.sub(r"\s*\n\s*", " ", svg).replace(' "', '"')
    svg = re.sub(r'(?<= d=")[^"]+', lambda path: _slim_path(path[0]), svg)
    before = ""
    while svg != before:
        before = svg
        svg = re.sub(r"<g/>|<g></g>", "", svg)
        svg = re.sub(r"<g>(<(?:path|use|rect)\b[^>]*/>)</g>", r"\1", svg)
    return svg


MANY_POINTS = 50


def _slim_path(path: str) -> str:
    """The same path without the names of lines: numbers after a move or a line are a line's."""
    while path != (shorter := re.sub(r"([ML][^A-Za-z]*) L ", r"\1 ", path)):
        path = shorter
    if path.count(" ") > 2 * MANY_POINTS:
        path = re.sub(r"\d+\.\d\d", lambda number: f"{float(number[0]):.1f}", path)
    return path


def _print(figure: Figure, kind: str, *, transparent: bool = False) -> bytes:
    FigureCanvasAgg(figure)
    engine = figure.get_layout_engine()
    if engine is not None:
        # Laying out is the slow part and the same for every format: once is enough.
        engine.execute(figure)
        figure.set_layout_engine("none")
    stream = io.BytesIO()
    figure.savefig(stream, format=kind, metadata=_METADATA[kind], transparent=transparent)
    return stream.getvalue()


def _prefix_ids(svg: str, name: str) -> str:
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'xlink:href="#([^"]+)"', rf'href="#{name}-\1"', svg)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)


_THEMED = {
    INK: "ink",
    MUTED: "muted",
    GRID: "grid",
    PAPER_MARK: "paper-mark",
    BLUE: "blue",
    VERMILION: "vermilion",
    GREEN: "green",
    PURPLE: "purple",
    ORANGE: "orange",
    SKY: "sky",
    GREY: "grey",
    "#ffffff": "surface",
}


def _theme(svg: str) -> str:
    for colour, variable in _THEMED.items():
        svg = svg.replace(colour, f"var(--{variable})")
    # The page's own typeface instead of matplotlib's.
    svg = re.sub(r"font-family:[^;\"]*;? ?", "", svg)
    return re.sub(r"font: (bold|[6-9]00)? ?[^;\"]*?([\d.]+px)[^;\"]*;?", _font, svg)


def _font(found: re.Match[str]) -> str:
    weight = f"font-weight: {found[1]}; " if found[1] else ""
    return f"{weight}font-size: {found[2]};"


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
