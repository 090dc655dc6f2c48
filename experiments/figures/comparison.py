"""Ours against the paper's, dataset by dataset, with the spread over trials of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures import style

ROW_HEIGHT = 0.2


@dataclass(frozen=True)
class Pair:
    """One cell measured twice: our mean and standard deviation, and the printed ones."""

    dataset: str
    method: str
    name: str
    ours: float | None
    ours_std: float | None
    paper: float | None
    paper_std: float | None


def ours_against_paper(pairs: Sequence[Pair], *, measure: str = "Test macro F1") -> Figure:
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


def _column(axes: Axes, pairs: Sequence[Pair], datasets: Sequence[str]) -> None:
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
