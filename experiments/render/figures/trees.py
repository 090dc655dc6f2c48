"""Trees one above another, as in the paper's first figure, and the curves of their training."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.render.figures import style

LEVEL_HEIGHT, NODE_WIDTH = 0.95, 1.45
LEAF = -1
CLASS_COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.SKY, style.VERMILION)
LABEL_CHARACTERS = 15
FONT_SIZE = 8.0


@dataclass(frozen=True)
class DrawnTree:
    """A stored tree with its title; ``entry`` as the report's stored trees have it."""

    title: str
    entry: Mapping[str, Any]


@dataclass(frozen=True)
class _Place:
    """Where a node stands: a column and a level; ``cut`` if what lies below is not drawn."""

    column: float
    level: int
    cut: bool


def trees_one_above_another(drawn: Sequence[DrawnTree], *, max_depth: int = 3) -> Figure:
    """One row per tree, down to ``max_depth`` splits; what lies below is marked by dots."""
    with style.look():
        if not drawn:
            return style.empty(style.canvas(style.PAGE_WIDTH, 2), "No tree has been stored yet.")
        places = [_places(one.entry["tree"], max_depth) for one in drawn]
        levels = [1 + max(place.level for place in found.values()) for found in places]
        width = max(1 + max(place.column for place in found.values()) for found in places)
        figure = style.canvas(
            NODE_WIDTH * max(width, 3), sum(LEVEL_HEIGHT * level + 0.3 for level in levels)
        )
        rows = figure.subplots(len(drawn), 1, height_ratios=levels, squeeze=False)[:, 0]
        for axes, one, found in zip(rows, drawn, places, strict=True):
            _draw(axes, one.entry, found)
            axes.set_title(one.title)
        return figure


def _places(tree: Mapping[str, Any], max_depth: int) -> dict[int, _Place]:
    """Leaves side by side in the order of the tree, every split centred over its two."""
    places: dict[int, _Place] = {}
    next_column = 0.0

    def put(node: int, level: int) -> float:
        nonlocal next_column
        inner = tree["children_left"][node] != LEAF
        if inner and level < max_depth:
            children = (tree["children_left"][node], tree["children_right"][node])
            column = sum(put(child, level + 1) for child in children) / 2
        else:
            column, next_column = next_column, next_column + 1.0
        places[node] = _Place(column, level, inner and level == max_depth)
        return column

    put(0, 0)
    return places


def _draw(axes: Axes, entry: Mapping[str, Any], places: Mapping[int, _Place]) -> None:
    tree = entry["tree"]
    axes.set_axis_off()
    axes.set_xlim(-0.5, max(place.column for place in places.values()) + 0.5)
    axes.set_ylim(-max(place.level for place in places.values()) - 0.5, 0.5)
    for node, place in places.items():
        if tree["children_left"][node] != LEAF and not place.cut:
            column, left, right = entry["splits"][str(node)]
            for child, words in (
                (tree["children_left"][node], left),
                (tree["children_right"][node], right),
            ):
                _branch(axes, place, places[child], words, _share(tree, child))
            _box(axes, place, _wrapped(column), "#f4f4f4", "#c8c8c8")
        else:
            _leaf(axes, entry, node, place)


def _leaf(axes: Axes, entry: Mapping[str, Any], node: int, place: _Place) -> None:
    shares = entry["tree"]["value"][node]
    best = max(range(len(shares)), key=shares.__getitem__)
    colour = CLASS_COLOURS[best % len(CLASS_COLOURS)]
    counts = entry["tree"].get("n_node_samples")
    facts = f"{shares[best]:.0%}" + (f" · n={counts[node]}" if counts else "")
    name = entry["class_names"][best] + (" …" if place.cut else "")
    _box(axes, place, f"{_wrapped(name)}\n{facts}", _pale(colour), colour, dashed=place.cut)


def _box(
    axes: Axes, place: _Place, text: str, fill: str, edge: str, *, dashed: bool = False
) -> None:
    axes.text(
        place.column,
        -place.level,
        text,
        fontsize=FONT_SIZE,
        ha="center",
        va="center",
        color=style.INK,
        parse_math=False,  # a dollar sign in a column name is no formula
        zorder=4,
        bbox={
            "boxstyle": "round,pad=0.45",
            "facecolor": fill,
            "edgecolor": edge,
            "linestyle": "--" if dashed else "-",
        },
    )


def _branch(axes: Axes, start: _Place, end: _Place, words: str, share: float) -> None:
    axes.plot(
        [start.column, end.column],
        [-start.level, -end.level],
        color="#8a8a8a",
        linewidth=0.7 + 4.0 * share,
        solid_capstyle="round",
        zorder=1,
    )
    axes.text(
        (start.column + end.column) / 2,
        -(start.level + end.level) / 2,
        words,
        fontsize=FONT_SIZE,
        ha="right" if end.column < start.column else "left",
        va="center",
        color=style.INK,
        parse_math=False,
        zorder=3,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85},
    )


def _share(tree: Mapping[str, Any], node: int) -> float:
    counts = tree.get("n_node_samples")
    return counts[node] / counts[0] if counts and counts[0] else 0.0


def _wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, LABEL_CHARACTERS, max_lines=2, placeholder="…")) or text


def _pale(colour: str) -> str:
    """The colour mixed with white, so that text on it stays readable."""
    channels = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 - 0.4 * (255 - channel)):02x}" for channel in channels)


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
