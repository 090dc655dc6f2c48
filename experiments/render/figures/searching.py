"""How the test score of a search's winner grows with the number of candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.analysis.paper import method_name
from experiments.analysis.settings import Growth
from experiments.render.figures import style

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
