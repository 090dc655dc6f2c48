"""What a protocol without the leak changes, and what other random draws change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.render.figures import style

CHANGE_ROW_HEIGHT = 0.2


@dataclass(frozen=True)
class Change:
    """Mean test F1 of one method on one dataset under both protocols."""

    dataset: str
    method: str
    name: str
    paper: float
    clean: float


def clean_against_paper(changes: Sequence[Change]) -> Figure:
    """One column per method, one row per dataset: bars are the change, the line its mean."""
    with style.look():
        datasets = list(dict.fromkeys(change.dataset for change in changes))
        methods = list(dict.fromkeys(change.method for change in changes))
        figure = style.canvas(style.PAGE_WIDTH, 1.0 + CHANGE_ROW_HEIGHT * max(1, len(datasets)))
        if not changes:
            return style.empty(figure, "No dataset has been measured under both protocols yet.")
        columns = figure.subplots(1, len(methods), sharey=True, sharex=True, squeeze=False)[0]
        for axes, method in zip(columns, methods, strict=True):
            own = [change for change in changes if change.method == method]
            _column(axes, own, datasets)
        columns[0].set_yticks(range(len(datasets)), datasets)
        columns[0].set_ylim(len(datasets) - 0.4, -0.6)
        figure.supxlabel(
            "Change of mean test macro F1 without the label leak (right: better)", fontsize=8
        )
        return figure


def _column(axes: Axes, changes: Sequence[Change], datasets: Sequence[str]) -> None:
    look = style.mark_of(changes[0].method)
    rows = [datasets.index(change.dataset) for change in changes]
    gains = np.array([change.clean - change.paper for change in changes])
    axes.barh(rows, gains, height=0.62, color=look.colour)
    axes.axvline(0, color=style.INK, linewidth=0.7)
    axes.axvline(float(gains.mean()), color=look.colour, linewidth=1, linestyle=(0, (3, 2)))
    axes.set_title(f"{changes[0].name}\nmean {gains.mean():+.3f}", fontsize=8)
    style.quiet(axes, left=False)


DRAWS_ROW_HEIGHT = 0.17


@dataclass(frozen=True)
class Draws:
    """Mean test F1 on one dataset three ways; ``spread`` is between the means of single seeds."""

    dataset: str
    paper: float | None
    authors: float | None
    others: float
    spread: float


def other_draws(draws: Sequence[Draws], *, method: str = "gradtree") -> Figure:
    """One row per dataset; bars are plus and minus one deviation between seeds."""
    with style.look():
        if not draws:
            return style.empty(style.canvas(style.PAGE_WIDTH, 2), "No other seed has run yet.")
        figure = style.canvas(style.PAGE_WIDTH * 0.8, 1.0 + DRAWS_ROW_HEIGHT * len(draws))
        axes = figure.add_subplot()
        look = style.mark_of(method)
        rows = range(len(draws))
        axes.errorbar(
            [one.others for one in draws],
            rows,
            xerr=[one.spread for one in draws],
            fmt="|",
            color=style.PAPER_MARK,
            markersize=7,
            elinewidth=4,
            label="other seeds, ±1 deviation between them",
        )
        printed = [(one.paper, row) for row, one in zip(rows, draws, strict=True) if one.paper]
        drawn = [(one.authors, row) for row, one in zip(rows, draws, strict=True) if one.authors]
        for points, face, label in (
            (printed, "#ffffff", "the paper"),
            (drawn, look.colour, "here, with the authors’ draws"),
        ):
            axes.plot(
                [score for score, _ in points],
                [row for _, row in points],
                look.marker,
                markersize=4.5,
                color=look.colour,
                markerfacecolor=face,
                label=label,
            )
        axes.set_yticks(rows, [one.dataset for one in draws])
        axes.set_ylim(len(draws) - 0.4, -0.6)
        axes.set_xlabel("Mean test macro F1")
        style.quiet(axes, left=False)
        figure.legend(loc="outside upper left", ncols=3)
        return figure
