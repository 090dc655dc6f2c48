"""What the random draws do: printed, with the authors' draws, and with other seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from experiments.figures import style

ROW_HEIGHT = 0.17


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
        figure = style.canvas(style.PAGE_WIDTH * 0.8, 1.0 + ROW_HEIGHT * len(draws))
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
