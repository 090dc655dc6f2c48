"""Test F1 against the number of leaves, one line per learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.render.figures import style

LOOKS = tuple(
    style.Mark(colour, marker)
    for colour, marker in zip(
        (
            style.VERMILION,
            style.ORANGE,
            style.PURPLE,
            style.INK,
            style.GREEN,
            style.SKY,
            style.BLUE,
            style.GREY,
            style.MUTED,
            style.PAPER_MARK,
        ),
        "soDP^vXh<>",
        strict=True,
    )
)


@dataclass(frozen=True)
class Point:
    """A learner in one reading; ``free`` where nothing capped its size."""

    panel: str
    name: str
    leaves: float
    f1: float
    free: bool


def f1_against_leaves(points: Sequence[Point], ceilings: dict[str, float]) -> Figure:
    """A panel per group of datasets; hollow marks are of free size, dashes are boosting.

    Parameters
    ----------
    ceilings : per panel the mean F1 of boosting, and its share is the scale on the right.
    """
    with style.look():
        panels = list(dict.fromkeys(point.panel for point in points))
        figure = style.canvas(style.PAGE_WIDTH, 3.6)
        if not points:
            return style.empty(figure, "No small tree has been measured yet.")
        names = list(dict.fromkeys(point.name for point in points))
        looks = {name: LOOKS[at % len(LOOKS)] for at, name in enumerate(names)}
        for axes, panel in zip(
            figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True
        ):
            own = [point for point in points if point.panel == panel]
            _panel(axes, panel, own, looks, ceilings.get(panel))
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
        return figure


def _panel(
    axes: Axes,
    title: str,
    points: Sequence[Point],
    looks: dict[str, style.Mark],
    ceiling: float | None,
) -> None:
    for name, look in looks.items():
        line = sorted(
            (point for point in points if point.name == name), key=lambda point: point.leaves
        )
        where = [point.leaves for point in line], [point.f1 for point in line]
        axes.plot(*where, color=look.colour, marker=look.marker, markersize=4, label=name)
        hollow = [point for point in line if point.free]
        axes.plot(
            [point.leaves for point in hollow],
            [point.f1 for point in hollow],
            linestyle="",
            color=look.colour,
            marker=look.marker,
            markersize=4,
            markerfacecolor="#ffffff",
        )
    axes.set_xscale("log")
    style.plain_numbers(axes.xaxis, threes=True)
    axes.set_title(title)
    axes.set_xlabel("Mean number of leaves")
    axes.set_ylabel("Mean test macro F1")
    style.quiet(axes)
    if ceiling is not None:
        axes.axhline(ceiling, color=style.INK, linestyle=(0, (3, 2)), linewidth=0.8)
        scale: Any = (partial(_scaled, by=100 / ceiling), partial(_scaled, by=ceiling / 100))
        axes.secondary_yaxis("right", functions=scale).set_ylabel("% of boosting")


def _scaled(values: Any, by: float) -> Any:
    return values * by
