"""Forest plots: differences with their intervals, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from experiments.output import figures

LINE_HEIGHT, HEAD_HEIGHT = 0.2, 0.75


def forest(lines: Sequence[dict[str, Any]], axis: str, width: float = 5.6) -> Figure:
    """Lines from top to bottom under the headings of their groups.

    Parameters
    ----------
    lines : each with ``group``, ``label``, ``difference``, ``low``, ``high``, ``filled`` (whether
        the mark is) and ``note`` (a text at the right margin).
    """
    with figures.look():
        groups = list(dict.fromkeys(line["group"] for line in lines))
        height = HEAD_HEIGHT + LINE_HEIGHT * (len(lines) + 1.2 * len(groups))
        figure = figures.canvas(width, height)
        axes = figure.subplots()
        side = axes.get_yaxis_transform()
        place, ticks, labels = 0.0, [], []
        for group in groups:
            if group:
                axes.text(0, place, group, transform=side, va="center", weight="bold")
                place -= 1
            for line in (each for each in lines if each["group"] == group):
                colour = figures.BLUE if line["difference"] > 0 else figures.VERMILION
                face = colour if line.get("filled") else "#ffffff"
                axes.plot([line["low"], line["high"]], [place] * 2, color=colour, linewidth=1.6)
                axes.plot(
                    line["difference"], place, "o", color=colour, markerfacecolor=face, markersize=5
                )
                note = line.get("note", "")
                axes.text(1.01, place, note, transform=side, va="center", color=figures.MUTED)
                ticks.append(place)
                labels.append(line["label"])
                place -= 1
            place -= 0.2
        axes.axvline(0, color=figures.INK, linewidth=0.8)
        axes.set_yticks(ticks, labels)
        axes.set_ylim(place + 0.4, 0.8)
        axes.set_xlabel(axis)
        figures.quiet(axes, left=False)
        return figure
