"""Training curves: one panel per dataset, the chosen run and its restarts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.render.figures import style

PER_ROW = 3


@dataclass(frozen=True)
class Curve:
    """Losses of one run (restart); ``chosen`` marks the run whose best epoch became the tree."""

    dataset: str
    run: int
    train: Sequence[float]
    valid: Sequence[float]
    best_epoch: int
    chosen: bool


def training_curves(curves: Sequence[Curve]) -> Figure:
    """Small multiples, one panel per dataset; the dot is the epoch that was kept."""
    with style.look():
        datasets = list(dict.fromkeys(curve.dataset for curve in curves))
        rows = max(1, -(-len(datasets) // PER_ROW))
        figure = style.canvas(style.PAGE_WIDTH, 0.5 + 1.9 * rows)
        if not datasets:
            return style.empty(figure, "No training history has been stored yet.")
        panels = figure.subplots(rows, min(PER_ROW, len(datasets)), squeeze=False).ravel()
        for axes, dataset in zip(panels, datasets, strict=False):
            _panel(axes, [curve for curve in curves if curve.dataset == dataset])
            axes.set_title(dataset)
        for axes in panels[len(datasets) :]:
            axes.set_axis_off()
        figure.supxlabel("Epoch", fontsize=8)
        figure.supylabel("Loss", fontsize=8)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", ncols=len(labels))
        return figure


def _panel(axes: Axes, curves: Sequence[Curve]) -> None:
    for curve in sorted(curves, key=lambda curve: curve.chosen):
        alpha, width = (1.0, 1.2) if curve.chosen else (0.25, 0.7)
        # Only the chosen run speaks in the legend: the others are its faint siblings.
        prefix = "" if curve.chosen else "_"
        for losses, colour, label in (
            (curve.train, style.VERMILION, "training"),
            (curve.valid, style.BLUE, "validation"),
        ):
            axes.plot(
                range(1, len(losses) + 1),
                losses,
                color=colour,
                label=prefix + label,
                alpha=alpha,
                linewidth=width,
            )
        if curve.chosen:
            axes.plot(
                [curve.best_epoch + 1],
                [curve.valid[curve.best_epoch]],
                marker="o",
                markersize=5,
                color=style.BLUE,
                markeredgecolor=style.INK,
                linestyle="none",
                label="epoch kept",
            )
    lowest = min(min(*curve.train, *curve.valid) for curve in curves)
    if lowest >= 0:
        axes.set_ylim(bottom=0)
    style.quiet(axes)
