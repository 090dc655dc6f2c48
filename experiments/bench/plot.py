"""Seconds per epoch against every axis, with the growth exponents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.bench.cases import AXES, Axis
from experiments.bench.rounds import ENGINES
from experiments.bench.summary import Growth, Typical
from experiments.render.figures import style

_MARKS = {
    "compiled": style.Mark(style.BLUE, "o"),
    "tensorflow": style.Mark(style.ORANGE, "s"),
    "authors": style.Mark(style.VERMILION, "^"),
}
_LABELS: dict[Axis, str] = {
    "depth": "Depth",
    "features": "Features",
    "samples": "Training samples",
    "classes": "Classes",
}


def seconds_against_size(rows: Sequence[Typical], growths: Sequence[Growth]) -> Figure:
    """A logarithmic panel for every axis that was measured."""
    with style.look():
        axes_measured = [axis for axis in AXES if any(row.group == axis for row in rows)]
        if not axes_measured:
            return style.empty(style.canvas(style.PAGE_WIDTH, 2.0), "No axis was measured.")
        columns = min(2, len(axes_measured))
        lines = -(-len(axes_measured) // columns)
        figure = style.canvas(style.PAGE_WIDTH, 2.4 * lines + 0.5)
        panels = figure.subplots(lines, columns, squeeze=False).ravel()
        for panel in panels[len(axes_measured) :]:
            panel.set_axis_off()
        for panel, axis in zip(panels, axes_measured, strict=False):
            own = [row for row in rows if row.group == axis]
            _panel(panel, axis, own, [growth for growth in growths if growth.axis == axis])
        present = dict.fromkeys(row.engine for row in rows)
        handles = [
            panels[0].plot([], [], color=mark.colour, marker=mark.marker, label=ENGINES[name])[0]
            for name, mark in _MARKS.items()
            if name in present
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        return figure


def _panel(axes: Axes, axis: Axis, rows: Sequence[Typical], growths: Sequence[Growth]) -> None:
    exponents = {growth.engine: growth.exponent for growth in growths if growth.part == "epoch"}
    for engine in dict.fromkeys(row.engine for row in rows):
        own = [row for row in rows if row.engine == engine]
        x = np.array([row.case.size(axis) for row in own])
        y = np.array([row.epoch_seconds for row in own])
        mark = _MARKS[engine]
        axes.plot(x, y, color=mark.colour, marker=mark.marker, markersize=4)
        if engine in exponents:
            axes.annotate(
                f"exponent {exponents[engine]:.2f}",
                (x[-1], y[-1]),
                xytext=(-4, 6),
                textcoords="offset points",
                ha="right",
                fontsize=7,
                color=mark.colour,
            )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(y=0.15)
    if axis == "samples":
        style.plain_numbers(axes.xaxis)
    else:
        sizes = sorted({row.case.size(axis) for row in rows})
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes], minor=False)
        axes.set_xticks([], minor=True)
    axes.set_xlabel(f"{_LABELS[axis]} (logarithmic)")
    axes.set_ylabel("Seconds per epoch")
    style.quiet(axes)
