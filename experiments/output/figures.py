"""Figures as files: the same data gives the same bytes.

Each file carries a hash of what it shows, which ``verify`` compares with the runs.
"""

from __future__ import annotations

import hashlib
import io
import re
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from experiments.analysis.drawing import look

FORMATS = ("svg", "pdf", "png")


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
    """Write ``stem.svg``, ``stem.pdf`` and ``stem.png``; nothing where they look so already.

    The SVG tells: whatever changes the look changes its bytes, and it is drawn ten times as fast.
    """
    stem.parent.mkdir(parents=True, exist_ok=True)
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in FORMATS]
    drawn = render(figure, "svg")
    if not stale(figure, stem) and paths[0].read_bytes() == drawn:
        return paths
    for path, kind in zip(paths, FORMATS, strict=True):
        beside = path.with_name(f"{path.name}.part")
        beside.write_bytes(drawn if kind == "svg" else render(figure, kind))
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
