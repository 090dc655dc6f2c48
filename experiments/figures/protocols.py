"""What changes without the label leak: test F1 under the protocol ``clean`` minus ``paper``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures import style

ROW_HEIGHT = 0.2


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
        figure = style.canvas(style.PAGE_WIDTH, 1.0 + ROW_HEIGHT * max(1, len(datasets)))
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
