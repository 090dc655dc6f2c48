"""One look for every figure, and their files: the same data gives the same bytes.

Figures are built without ``pyplot``, inside :func:`look`, so that neither global state nor a
user's ``matplotlibrc`` changes them. Each file carries a hash of what it shows, which ``verify``
compares with the runs.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter

INK, MUTED, GRID, PAPER_MARK = "#1b1f24", "#6a7178", "#dfe3e8", "#8a9097"
# Okabe and Ito's palette; every learner has its own marker too, so colour is never the only cue.
BLUE, VERMILION, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
ORANGE, SKY, GREY, BLACK = "#e69f00", "#56b4e9", "#7f7f7f", "#000000"
COLUMN_WIDTH, PAGE_WIDTH = 3.4, 7.0
"""Inches, as in a two-column paper."""
FORMATS = ("svg", "pdf", "png")


@dataclass(frozen=True)
class Mark:
    """How a learner looks in every figure."""

    colour: str
    marker: str


MARKS: dict[str, Mark] = {
    "gradtree": Mark(BLUE, "o"),
    "dndt": Mark(ORANGE, "v"),
    "genetictree": Mark(PURPLE, "D"),
    "dl85": Mark(GREEN, "^"),
    "cart": Mark(VERMILION, "s"),
    "gradtree-gumbel": Mark(SKY, "P"),
    "gradtree-gumbel-noise-free": Mark(SKY, "p"),
    "gradtree-annealed": Mark(GREY, "X"),
    "gradtree-new-defaults": Mark(BLUE, "d"),
    "gradtree-tuned": Mark(BLUE, "*"),
    "cart-pruned": Mark(VERMILION, "P"),
    "cart-shrunk": Mark(VERMILION, "X"),
    "cart-weighted": Mark(VERMILION, "<"),
    "cart-weighted-grid": Mark(VERMILION, ">"),
    "dl85-tuned": Mark(GREEN, "v"),
    "streed": Mark(GREEN, "D"),
    "licketysplit": Mark(PURPLE, "s"),
    "contree": Mark(PURPLE, "^"),
    "boosting": Mark(BLACK, "o"),
}
OTHER = Mark(GREY, "h")
_STYLE: Any = {
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


def mark_of(method: str) -> Mark:
    """The look of a learner by slug; those of plug-ins share a neutral one."""
    return MARKS.get(method, OTHER)


@contextmanager
def look() -> Iterator[None]:
    """Matplotlib settings under which every figure is made and saved."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
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


def data_hash(figure: Figure) -> str:
    """A hash of what a figure shows: numbers to nine digits and texts, not fonts or layout."""
    parts: list[str] = []
    for axes in figure.axes:
        texts = [axes.get_title(), axes.get_title("left"), axes.get_xlabel(), axes.get_ylabel()]
        texts += [text.get_text() for text in axes.texts]
        for axis in (axes.xaxis, axes.yaxis):
            if isinstance(
                axis.get_major_locator(), FixedLocator
            ):  # names of rows, as they were set
                texts += axis.get_major_formatter().format_ticks(list(axis.get_majorticklocs()))
        arrays = [np.asarray(line.get_xydata(), dtype=float) for line in axes.lines]
        arrays += [np.asarray(patch.get_path().vertices, dtype=float) for patch in axes.patches]
        arrays += [
            patch.get_patch_transform().get_matrix() for patch in axes.patches if _affine(patch)
        ]
        for collection in axes.collections:
            arrays.append(np.ma.filled(collection.get_offsets(), np.nan))
            arrays += [np.asarray(path.vertices, dtype=float) for path in collection.get_paths()]
        parts += [*map(str, texts), *(" ".join(f"{v:.9g}" for v in a.ravel()) for a in arrays)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]


def _affine(patch: Any) -> bool:
    return bool(patch.get_patch_transform().is_affine)


def render(figure: Figure, kind: str, *, inline: bool = False) -> bytes:
    """The bytes of an ``svg``, ``pdf`` or ``png`` file, without date and version.

    Parameters
    ----------
    inline : for a web page: text stays text and the background is left out. Otherwise text is
        outlines, so that a viewer without the font shows the same picture.
    """
    # No date and no version of a library: the same data gives the same file tomorrow.
    metadata: dict[str, dict[str, str | None]] = {
        "svg": {"Date": None, "Creator": None, "Identifier": data_hash(figure)},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
        "png": {"Software": None, "Comment": data_hash(figure)},
    }
    metadata["pdf"]["Keywords"] = data_hash(figure)
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
    """Write ``stem.svg``, ``stem.pdf`` and ``stem.png``."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in FORMATS]
    for path, kind in zip(paths, FORMATS, strict=True):
        beside = path.with_name(f"{path.name}.part")
        beside.write_bytes(render(figure, kind))
        beside.replace(path)
    return paths


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
