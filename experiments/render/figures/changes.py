"""What changes: without the leak, with other random draws, with more candidates; forest plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.analysis.paper import method_name
from experiments.analysis.settings import Growth
from experiments.analysis.statistics import Contrast
from experiments.render.figures import style

CHANGE_ROW_HEIGHT = 0.2


@dataclass(frozen=True)
class ProtocolPair:
    """Mean test F1 of one method on one dataset under both protocols."""

    dataset: str
    method: str
    name: str
    paper: float
    clean: float


def clean_against_paper(changes: Sequence[ProtocolPair]) -> Figure:
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


def _column(axes: Axes, changes: Sequence[ProtocolPair], datasets: Sequence[str]) -> None:
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

    @classmethod
    def of(cls, contrast: Contrast, group: str, label: str) -> Effect:
        """A contrast over datasets, their number after the label, its signs at the margin."""
        interval = contrast.difference
        limits = (interval.estimate, interval.low, interval.high)
        label = f"{label} ({contrast.n})"
        return cls(group, label, *limits, contrast.significant, contrast.signs)


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


PANEL_HEIGHT = 2.6


def search_growth(curves: Mapping[str, Sequence[Growth]]) -> Figure:
    """One panel per protocol, one line per learner: the median, with quartiles as a band."""
    with style.look():
        figure = style.canvas(style.PAGE_WIDTH, PANEL_HEIGHT)
        known = {protocol: found for protocol, found in curves.items() if found}
        if not known:
            return style.empty(figure, "No search has been followed candidate by candidate yet.")
        panels = figure.subplots(1, len(known), sharey=True, squeeze=False)[0]
        for axes, (protocol, found) in zip(panels, known.items(), strict=True):
            for method in dict.fromkeys(each.method for each in found):
                own = [each for each in found if each.method == method]
                look = style.mark_of(method)
                budgets = [each.budget for each in own]
                axes.fill_between(
                    budgets,
                    [each.low for each in own],
                    [each.high for each in own],
                    color=look.colour,
                    alpha=0.15,
                    linewidth=0,
                )
                axes.plot(
                    budgets,
                    [each.median for each in own],
                    marker=look.marker,
                    color=look.colour,
                    label=f"{method_name(method)} ({own[0].n})",
                )
            axes.set_xscale("log")
            axes.set_xticks(budgets, [str(budget) for budget in budgets])
            axes.minorticks_off()
            axes.axhline(0.0, color=style.INK, linewidth=0.7)
            axes.set_title(f"Protocol {protocol}")
            axes.set_xlabel("Candidates")
            axes.legend(loc="lower right", fontsize=7)
            style.quiet(axes, left=True)
        panels[0].set_ylabel("Test F1 minus the winner’s")
        return figure
