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


_MARKERS = {
    BLUE: {"gradtree": "o", "gradtree-new-defaults": "d", "gradtree-tuned": "*"},
    VERMILION: {"cart": "s", "cart-pruned": "P", "cart-shrunk": "X", "cart-weighted": "<"},
    ORANGE: {"dndt": "v", "cart-weighted-grid": ">"},
    PURPLE: {"genetictree": "D", "licketysplit": "s", "contree": "^"},
    GREEN: {"dl85": "^", "dl85-tuned": "v", "streed": "D"},
    SKY: {"gradtree-gumbel": "P", "gradtree-gumbel-noise-free": "p"},
    GREY: {"gradtree-annealed": "X"},
    BLACK: {"boosting": "o"},
}
MARKS: dict[str, Mark] = {
    slug: Mark(colour, marker) for colour, own in _MARKERS.items() for slug, marker in own.items()
}
OTHER = Mark(GREY, "h")
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
        transforms = [patch.get_patch_transform() for patch in axes.patches]  # of bars
        arrays += [transform.get_matrix() for transform in transforms if transform.is_affine]
        for collection in axes.collections:
            arrays.append(np.ma.filled(collection.get_offsets(), np.nan))
            arrays += [np.asarray(path.vertices, dtype=float) for path in collection.get_paths()]
        parts += [*map(str, texts), *(" ".join(f"{v:.9g}" for v in a.ravel()) for a in arrays)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]


def render(figure: Figure, kind: str, *, inline: bool = False) -> bytes:
    """The bytes of an ``svg``, ``pdf`` or ``png`` file, without date and version.

    Parameters
    ----------
    inline : for a web page: text stays text and the background is left out. Otherwise text is
        outlines, so that a viewer without the font shows the same picture.
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
