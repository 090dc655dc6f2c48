"""A forest plot: one mean difference with its interval per line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from experiments.render.figures import style

LINE_HEIGHT = 0.24
HEAD_HEIGHT = 0.9


@dataclass(frozen=True)
class Effect:
    """One line: a difference with its interval, and whether it is significant."""

    group: str
    label: str
    estimate: float
    low: float
    high: float
    significant: bool
    note: str = ""


def forest(effects: Sequence[Effect], axis: str) -> Figure:
    """Lines from top to bottom, groups apart; filled marks are significant."""
    with style.look():
        if not effects:
            return style.empty(style.canvas(style.PAGE_WIDTH, 2), "Nothing has been run yet.")
        groups = list(dict.fromkeys(effect.group for effect in effects))
        height = HEAD_HEIGHT + LINE_HEIGHT * (len(effects) + 1.2 * len(groups))
        figure = style.canvas(style.PAGE_WIDTH, height)
        axes = figure.subplots()
        ticks: list[float] = []
        labels: list[str] = []
        place = 0.0
        for group in groups:
            axes.text(
                0.0,
                place,
                group,
                transform=axes.get_yaxis_transform(),
                ha="left",
                va="center",
                weight="bold",
            )
            place -= 1.0
            for effect in (each for each in effects if each.group == group):
                colour = style.BLUE if effect.estimate > 0 else style.VERMILION
                axes.plot([effect.low, effect.high], [place, place], color=colour, linewidth=1.6)
                axes.plot(
                    effect.estimate,
                    place,
                    marker="o",
                    color=colour,
                    markerfacecolor=colour if effect.significant else "white",
                    markersize=5,
                )
                axes.text(
                    1.01,
                    place,
                    effect.note,
                    transform=axes.get_yaxis_transform(),
                    ha="left",
                    va="center",
                    color=style.MUTED,
                )
                ticks.append(place)
                labels.append(effect.label)
                place -= 1.0
            place -= 0.2
        axes.axvline(0.0, color=style.INK, linewidth=0.8)
        axes.set_yticks(ticks, labels)
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(place + 0.4, 0.8)
        axes.set_xlabel(axis)
        return figure
