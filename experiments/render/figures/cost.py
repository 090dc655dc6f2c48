"""Seconds against the shape of the data; test F1 against effective tree size and leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from experiments.render.figures import style


@dataclass(frozen=True)
class RuntimePoint:
    """Mean training time of one method on one dataset of a known shape."""

    method: str
    name: str
    dataset: str
    samples: int
    features: int
    seconds: float


def runtime_against_shape(points: Sequence[RuntimePoint]) -> Figure:
    """Two logarithmic panels; the lines are least-squares power laws, as a guide to the eye."""
    with style.look():
        figure = style.canvas(style.PAGE_WIDTH, 3.1)
        if not points:
            return style.empty(figure, "No job has been timed alone yet.")
        by_samples, by_features = figure.subplots(1, 2, sharey=True)
        _runtime_panel(by_samples, points, lambda point: point.samples)
        _runtime_panel(by_features, points, lambda point: point.features)
        by_samples.set_xlabel("Samples (logarithmic)")
        by_features.set_xlabel("Features (logarithmic)")
        by_samples.set_ylabel("Training time (seconds, logarithmic)")
        handles, labels = by_samples.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        return figure


def _runtime_panel(
    axes: Axes, points: Sequence[RuntimePoint], extent: Callable[[RuntimePoint], int]
) -> None:
    for method in dict.fromkeys(point.method for point in points):
        own = [point for point in points if point.method == method]
        look = style.mark_of(method)
        x = np.array([extent(point) for point in own], dtype=float)
        y = np.array([max(point.seconds, 1e-4) for point in own])
        axes.scatter(
            x,
            y,
            s=16,
            marker=look.marker,
            color=look.colour,
            alpha=0.75,
            linewidths=0,
            label=own[0].name,
        )
        _guide(axes, x, y, look.colour)
    axes.set_xscale("log")
    axes.set_yscale("log")
    style.plain_numbers(axes.xaxis, threes=True)
    style.plain_numbers(axes.yaxis)
    style.quiet(axes)


def _guide(axes: Axes, x: NDArray[np.float64], y: NDArray[np.float64], colour: str) -> None:
    if len(np.unique(x)) < 3:
        return
    slope, offset = np.polyfit(np.log(x), np.log(y), 1)
    ends = np.array([x.min(), x.max()])
    axes.plot(ends, np.exp(offset) * ends**slope, color=colour, linewidth=0.9, alpha=0.6)


TASK_TITLES = {"binary": "Binary", "multi": "Multi-class"}


@dataclass(frozen=True)
class SizePoint:
    """Mean tree size and mean test F1 of one method on one dataset."""

    method: str
    name: str
    task: str
    dataset: str
    size: float
    f1: float


def f1_against_size(points: Sequence[SizePoint]) -> Figure:
    """Small faint marks are datasets, the large ones a method's means (geometric for size)."""
    with style.look():
        figure = style.canvas(style.PAGE_WIDTH, 3.1)
        tasks = [task for task in TASK_TITLES if any(point.task == task for point in points)]
        if not tasks:
            return style.empty(figure, "No dataset has both a test F1 and a tree size yet.")
        panels = figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0]
        for axes, task in zip(panels, tasks, strict=True):
            _size_panel(axes, [point for point in points if point.task == task])
            axes.set_title(TASK_TITLES[task])
            axes.set_xlabel("Tree size (nodes, logarithmic)")
        panels[0].set_ylabel("Test macro F1")
        handles = {
            label: handle
            for axes in panels
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        figure.legend(
            handles.values(), handles.keys(), loc="outside lower center", ncols=len(handles)
        )
        return figure


def _size_panel(axes: Axes, points: Sequence[SizePoint]) -> None:
    for method in dict.fromkeys(point.method for point in points):
        own = [point for point in points if point.method == method]
        look = style.mark_of(method)
        sizes = np.array([point.size for point in own])
        scores = np.array([point.f1 for point in own])
        axes.scatter(
            sizes, scores, s=14, marker=look.marker, color=look.colour, alpha=0.45, linewidths=0
        )
        axes.scatter(
            [np.exp(np.log(sizes).mean())],
            [scores.mean()],
            s=80,
            marker=look.marker,
            color=look.colour,
            edgecolors=style.INK,
            linewidths=0.8,
            label=own[0].name,
            zorder=4,
        )
    axes.set_xscale("log")
    style.plain_numbers(axes.xaxis)
    axes.set_ylim(0, 1.02)
    style.quiet(axes)


COLOURS = (
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
)
MARKERS = "soDP^vXh<>p*d"
"""More of them than colours, so that learners of one colour differ in their marks."""


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
        looks = {name: look_of(at) for at, name in enumerate(names)}
        for axes, panel in zip(
            figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True
        ):
            own = [point for point in points if point.panel == panel]
            _leaves_panel(axes, panel, own, looks, ceilings.get(panel))
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
        return figure


def look_of(at: int) -> style.Mark:
    return style.Mark(COLOURS[at % len(COLOURS)], MARKERS[at % len(MARKERS)])


def _leaves_panel(
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
