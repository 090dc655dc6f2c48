"""Write a figure as SVG, PDF and PNG with bytes that depend on the figure alone."""

from __future__ import annotations

import io
import re
from pathlib import Path

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from experiments.figures import style

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
    with style.look():
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
    with style.look():
        matplotlib.rcParams["svg.fonttype"] = "none"
        source = _print(figure, "svg", transparent=True).decode()
    body = source[source.index("<svg") :].strip()
    body = re.sub(r"\s*<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = _prefix_ids(body, name)
    body = _theme(body)
    viewbox = re.search(r'viewBox="([^"]+)"', body)
    assert viewbox is not None, "matplotlib writes a viewBox"
    widest = round(float(viewbox[1].split()[2]) * SCREEN_SCALE)
    head = (
        f'<svg class="figure" viewBox="{viewbox[1]}" role="img" aria-label="{_escape(label)}" '
        f'style="max-width: {widest}px">'
    )
    return head + body[body.index(">") + 1 :]


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
    style.INK: "ink",
    style.MUTED: "muted",
    style.GRID: "grid",
    style.PAPER_MARK: "paper-mark",
    style.BLUE: "blue",
    style.VERMILION: "vermilion",
    style.GREEN: "green",
    style.PURPLE: "purple",
    style.ORANGE: "orange",
    style.SKY: "sky",
    style.GREY: "grey",
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
