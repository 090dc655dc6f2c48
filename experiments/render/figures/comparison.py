"""Ours beside the paper's, and the diagram of mean ranks with what tests do not tell apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.render.figures import style

ROW_HEIGHT = 0.2


@dataclass(frozen=True)
class CellPair:
    """One cell measured twice: our mean and standard deviation, and the printed ones."""

    dataset: str
    method: str
    name: str
    ours: float | None
    ours_std: float | None
    paper: float | None
    paper_std: float | None


def ours_against_paper(pairs: Sequence[CellPair], *, measure: str = "Test macro F1") -> Figure:
    """One column per method and one row per dataset, in the order given.

    The upper mark of a row is ours, the lower, hollow one the paper's; bars
    are plus and minus one standard deviation over trials.
    """
    with style.look():
        datasets = list(dict.fromkeys(pair.dataset for pair in pairs))
        methods = list(dict.fromkeys(pair.method for pair in pairs))
        figure = style.canvas(style.PAGE_WIDTH, 1.0 + ROW_HEIGHT * len(datasets))
        if not pairs:
            return style.empty(figure, "No cell to compare yet.")
        columns = figure.subplots(1, len(methods), sharey=True, squeeze=False)[0]
        for axes, method in zip(columns, methods, strict=True):
            own = [pair for pair in pairs if pair.method == method]
            _column(axes, own, datasets)
            axes.set_title(own[0].name)
        columns[0].set_yticks(range(len(datasets)), datasets)
        columns[0].set_ylim(len(datasets) - 0.4, -0.6)
        figure.supxlabel(
            f"{measure}   (filled: this suite, hollow: the paper; bars: ±1 standard deviation)",
            fontsize=8,
        )
        return figure


def _column(axes: Axes, pairs: Sequence[CellPair], datasets: Sequence[str]) -> None:
    look = style.mark_of(pairs[0].method)
    row = {dataset: index for index, dataset in enumerate(datasets)}
    printed = [
        (row[pair.dataset] + 0.16, pair.paper, pair.paper_std or 0.0)
        for pair in pairs
        if pair.paper is not None
    ]
    measured = [
        (row[pair.dataset] - 0.16, pair.ours, pair.ours_std or 0.0)
        for pair in pairs
        if pair.ours is not None
    ]
    if printed:
        y, x, error = zip(*printed, strict=True)
        axes.errorbar(
            x,
            y,
            xerr=error,
            fmt=look.marker,
            color=style.PAPER_MARK,
            markerfacecolor="#ffffff",
            markersize=3.2,
            elinewidth=0.8,
            markeredgewidth=0.8,
        )
    if measured:
        y, x, error = zip(*measured, strict=True)
        axes.errorbar(
            x,
            y,
            xerr=error,
            fmt=look.marker,
            color=look.colour,
            markersize=3.4,
            elinewidth=1.1,
            markeredgewidth=0,
        )
    axes.set_xlim(0, 1.03)
    axes.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
    style.quiet(axes, left=False)


_LABEL_STEP = 0.32
_BAR_STEP = 0.16


def critical_difference(
    ranks: Mapping[str, float],
    groups: Sequence[Sequence[str]],
    *,
    names: Mapping[str, str],
    note: str = "",
) -> Figure:
    """Draw mean ranks (1 is best, on the left) and the groups joined by a bar.

    A group need not be neighbours, so its members are dots on the bar.

    Parameters
    ----------
    ranks : mean rank of each method, by slug.
    groups : maximal sets of methods whose differences are not significant.
    names : printed name of each method.
    note : the test, its level and the number of datasets, printed beneath.
    """
    with style.look():
        height = 0.9 + _LABEL_STEP * ((len(ranks) + 1) // 2)
        figure = style.canvas(4.8, height)
        if len(ranks) < 2:
            return style.empty(figure, "Fewer than two methods have results on shared datasets.")
        axes = figure.add_subplot()
        axes.set_axis_off()
        order = sorted(ranks, key=lambda method: (ranks[method], method))
        joined = [group for group in groups if len(group) > 1]
        depth = 0.35 + _BAR_STEP * len(joined)
        _scale(axes, len(ranks))
        _bars(axes, joined, ranks)
        _labels(axes, order, ranks, names, depth)
        if note:
            axes.set_title(note, fontsize=7, fontweight="normal", color=style.MUTED, loc="center")
        return figure


def _scale(axes: Axes, count: int) -> None:
    axes.plot([1, count], [0, 0], color=style.INK, linewidth=1)
    for tick in np.arange(1, count + 0.25, 0.5):
        whole = float(tick).is_integer()
        axes.plot([tick, tick], [0, 0.12 if whole else 0.07], color=style.INK, linewidth=0.8)
        if whole:
            axes.text(tick, 0.18, f"{tick:.0f}", ha="center", va="bottom", fontsize=8)
    axes.set_xlim(1 - 0.45 * count, count + 0.45 * count)


def _bars(axes: Axes, groups: Sequence[Sequence[str]], ranks: Mapping[str, float]) -> None:
    for level, members in enumerate(sorted(sorted(ranks[m] for m in g) for g in groups)):
        y = -0.18 - _BAR_STEP * level
        axes.plot(
            members, [y] * len(members), color=style.INK, linewidth=2, marker="o", markersize=5
        )


def _labels(
    axes: Axes,
    order: Sequence[str],
    ranks: Mapping[str, float],
    names: Mapping[str, str],
    depth: float,
) -> None:
    half = (len(order) + 1) // 2
    lowest = 0.0
    for index, method in enumerate(order):
        left = index < half
        level = index if left else len(order) - 1 - index
        y = -depth - _LABEL_STEP * level
        edge = 0.85 if left else len(order) + 0.15
        look = style.mark_of(method)
        axes.plot([ranks[method], ranks[method], edge], [0, y, y], color=look.colour, linewidth=0.9)
        axes.plot([ranks[method]], [0], marker=look.marker, color=look.colour, markersize=5)
        label = f"{names[method]}  {ranks[method]:.2f}"
        axes.text(
            edge - 0.08 if left else edge + 0.08,
            y,
            label,
            ha="right" if left else "left",
            va="center",
            fontsize=8,
        )
        lowest = min(lowest, y)
    axes.set_ylim(lowest - 0.25, 0.5)
