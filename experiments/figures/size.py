"""Test F1 against effective tree size: one panel per task, one point per dataset and method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures import style

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
            _panel(axes, [point for point in points if point.task == task])
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


def _panel(axes: Axes, points: Sequence[SizePoint]) -> None:
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
