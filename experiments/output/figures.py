"""Figures as files and inside a page: the same data gives the same bytes, and every file carries a
hash of what it shows, which ``verify`` compares with the runs.
"""

import hashlib
import html
import io
import re
from pathlib import Path

import matplotlib
import numpy as np
from markupsafe import Markup
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from experiments.analysis.answer import Figure as Declared
from experiments.analysis.drawing import look
from experiments.output.files import put

FORMATS = ("svg", "pdf", "png")
SCREEN_SCALE = 1.6
"""Pixels per point on a page: print sizes are small for a screen."""


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
    """The bytes of an ``svg``, ``pdf`` or ``png`` file, without date and version. ``inline`` is for
    a web page: text stays text (else outlines, which need no font), no background.
    """
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
        engine = figure.get_layout_engine()
        if engine is not None:  # the slow part, and the same for every format
            engine.execute(figure)
            figure.set_layout_engine("none")
        stream = io.BytesIO()
        figure.savefig(stream, format=kind, metadata=metadata[kind], transparent=inline)
    return stream.getvalue()


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write ``stem.svg``, ``.pdf`` and ``.png``; nothing where they look so already, which the SVG
    tells: whatever changes the look changes its bytes, and it is drawn ten times as fast.
    """
    paths = {kind: stem.with_name(f"{stem.name}.{kind}") for kind in FORMATS}
    drawn = render(figure, "svg")
    if stale(figure, stem) or paths["svg"].read_bytes() != drawn:
        for kind, path in paths.items():
            put(path, drawn if kind == "svg" else render(figure, kind))
    return list(paths.values())


def stale(figure: Figure, stem: Path) -> list[str]:
    """The files of a figure that are missing or show other data."""
    wanted = data_hash(figure).encode()
    found = []
    for kind in FORMATS:
        path = stem.with_name(f"{stem.name}.{kind}")
        if not path.is_file():
            found.append(f"{path.name} is missing")
        elif not re.search(wanted, path.read_bytes()):
            found.append(f"{path.name} shows other data than the runs give")
    return found


def inline_svg(figure: Declared) -> Markup:
    """The figure with text as text in the page's typeface, and ids that begin with its name."""
    svg = render(figure.draw(), "svg", inline=True).decode()
    label = html.escape(figure.caption)
    size = re.findall(r'viewBox="([^"]+)"', svg)[0]
    svg = svg[svg.index(">", svg.index("<svg")) + 1 :].replace("xlink:href", "href")
    svg = re.sub(r"\s*<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r'( id="|href="#|url\(#)', rf"\1{figure.name}-", svg)
    svg = re.sub(r"(?<=[\s\"(,])-?\d+\.\d{3,}(?=[\s\"),])", lambda n: f"{float(n[0]):.2f}", svg)

    def font(found: re.Match[str]) -> str:
        weight = f"font-weight: {found[1]}; " if found[1] else ""
        return f"{weight}font-size: {found[2]};"

    svg = re.sub(r"font-family:[^;\"]*;? ?", "", svg)
    svg = re.sub(r"font: (bold|[6-9]00)? ?[^;\"]*?([\d.]+px)[^;\"]*;?", font, svg)
    return Markup(
        f'<svg class="figure" viewBox="{size}" role="img" aria-label="{label}" '
        f'style="max-width:{float(size.split()[2]) * SCREEN_SCALE:.0f}px">{svg.strip()}'
    )
