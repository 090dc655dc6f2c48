"""Drawings with matplotlib, which is imported only here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtree.trees.traversal import node_depths
from gradtree.trees.tree import Tree
from gradtree.typing import Floats, Names
from gradtree.units.conditions import Split
from gradtree.views.export import class_colours, leaf_fill
from gradtree.views.rules import branches, checked_class_names, describe, node_facts, predicted_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches that a node takes, and the part of them that its box fills.
NODE_WIDTH, NODE_HEIGHT = 1.0, 0.9
BOX_WIDTH, BOX_HEIGHT = 0.92, 0.46
FONT_SIZE = 8.0
LINE_CHARACTERS, BOLD_CHARACTERS = 15, 12
LABEL_PLACE = 0.45

INNER_COLOUR, INK, EDGE_COLOUR = "#f4f4f4", "#222222", "#8a8a8a"


def plot_tree(
    tree: Tree,
    *,
    feature_names: Names = None,
    class_names: Names = None,
    max_depth: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a tree: splits in grey, leaves in the colour of their class.

    A leaf is the paler the less sure it is, or the smaller its number, and a branch
    the thicker the more training rows took it. The colours are safe for any colour vision.

    Parameters
    ----------
    tree, feature_names, class_names
        As in :func:`gradtree.decision_rules`.
    max_depth : int, optional
        Draw only so many levels of splits.
    ax : matplotlib Axes, optional
        Where to draw; without it, on a new figure of a size that fits the tree.

    Returns
    -------
    matplotlib Axes
    """
    plt = _pyplot()
    classes = checked_class_names(tree, class_names)
    splits = describe(tree, feature_names)
    positions = tidy_positions(tree, max_depth)
    n_columns, n_levels = _extent(positions)
    if ax is None:
        ax = plt.figure(figsize=drawing_inches(tree, max_depth)).add_axes((0, 0, 1, 1))
    artist = _TreeArtist(ax, tree, classes)
    ax.set_axis_off()
    ax.set_xlim(-0.5, n_columns - 0.5)
    ax.set_ylim(-(n_levels - 0.5), 0.5)
    for node, (column, depth) in positions.items():
        split = splits.get(node)
        if split is not None and int(tree.children_left[node]) in positions:
            artist.split(node, column, -depth, split, positions)
        else:
            artist.leaf(node, column, -depth, cut_off=split is not None)
    return ax


def export_svg(tree: Tree, **options: Any) -> str:
    """The drawing of :func:`plot_tree` as SVG, with the same options; notebooks show trees so."""
    from io import StringIO

    plt = _pyplot()
    figure: Any = plot_tree(tree, **options).figure
    text = StringIO()
    with plt.rc_context({"svg.hashsalt": "gradtree", "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    return text.getvalue()


def drawing_inches(tree: Tree, max_depth: int | None = None) -> tuple[float, float]:
    """Width and height that a drawing needs for its text to be readable."""
    n_columns, n_levels = _extent(tidy_positions(tree, max_depth))
    return n_columns * NODE_WIDTH, n_levels * NODE_HEIGHT


def tidy_positions(tree: Tree, max_depth: int | None = None) -> dict[int, tuple[float, int]]:
    """Column, from 0, and depth of every visible node.

    Subtrees are pushed together until somewhere two neighbours on the same level are one column
    apart (the idea of Reingold and Tilford).
    """
    depths = node_depths(tree.children_left, tree.children_right)
    nodes = np.flatnonzero(depths <= (depths.max() if max_depth is None else max_depth))
    # Leftmost and rightmost column on each level below a node, seen from the node.
    outlines: dict[int, tuple[Floats, Floats]] = {}
    reach: dict[int, float] = {}
    for node in nodes[::-1].tolist():
        left = outlines.pop(int(tree.children_left[node]), None)
        right = outlines.pop(int(tree.children_right[node]), None)
        if left is None or right is None:
            outlines[node] = np.zeros(1), np.zeros(1)
            continue
        shared = min(len(left[0]), len(right[0]))
        reach[node] = float(np.max(left[1][:shared] - right[0][:shared]) + 1.0) / 2.0
        low, high = np.full((2, 1 + max(len(left[0]), len(right[0]))), 0.0)
        low[1:], high[1:] = np.inf, -np.inf
        for outline, step in ((left, -reach[node]), (right, reach[node])):
            below = slice(1, 1 + len(outline[0]))
            low[below] = np.minimum(low[below], outline[0] + step)
            high[below] = np.maximum(high[below], outline[1] + step)
        outlines[node] = low, high
    positions = {0: (-float(outlines[0][0].min()), 0)}
    for node in sorted(reach):
        for children, step in ((tree.children_left, -1), (tree.children_right, 1)):
            child = int(children[node])
            positions[child] = (positions[node][0] + step * reach[node], int(depths[child]))
    return positions


def _extent(positions: dict[int, tuple[float, int]]) -> tuple[float, int]:
    """Columns and levels that a drawing takes."""
    columns, depths = zip(*positions.values(), strict=True)
    return max(columns) + 1, max(depths) + 1


class _TreeArtist:
    """Draws nodes of one tree onto one axes; a column and a level have size 1 there."""

    def __init__(self, ax: Axes, tree: Tree, classes: Sequence[str]) -> None:
        self.ax, self.tree, self.classes = ax, tree, classes

    def split(
        self, node: int, x: float, y: float, split: Split, positions: dict[int, tuple[float, int]]
    ) -> None:
        tree, top, counts = self.tree, y - BOX_HEIGHT / 2, self.tree.n_node_samples
        backdrop = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85}
        # Labels hang outwards from their branch, away from the sibling's.
        both = zip(branches(tree, node, split), ("right", "left"), strict=True)
        for (child, side), outwards in both:
            column, bottom = positions[child][0], BOX_HEIGHT / 2 - positions[child][1]
            share = 0.0 if counts is None or counts[0] == 0 else float(counts[child] / counts[0])
            style: dict[str, Any] = {"color": EDGE_COLOUR, "linewidth": 0.7 + 4.0 * share}
            self.ax.plot([x, column], [top, bottom], solid_capstyle="round", zorder=1, **style)
            place = x + LABEL_PLACE * (column - x), top + LABEL_PLACE * (bottom - top)
            shown = side.brief.replace("<=", "≤").replace(" or missing", "\nor n/a")
            self._text(*place, shown, ha=outwards, zorder=2, bbox=backdrop)
        self._box(x, y, INNER_COLOUR, "#c8c8c8")
        self._text(x, y, wrapped(split.column))

    def leaf(self, node: int, x: float, y: float, cut_off: bool) -> None:
        best, share, count, n_rows = node_facts(self.tree, node)
        edge = class_colours(self.tree.n_classes)[best]
        self._box(x, y, leaf_fill(self.tree, node), edge, dashed=cut_off)
        facts = [] if share is None else [f"{share:.0%}"]
        if n_rows is not None:
            facts.append(f"n={n_rows}" if count is None else f"{count} of {n_rows}")
        name = predicted_text(self.tree, node, self.classes)
        name += " …" if cut_off else ""
        # Long names are bold in a smaller size.
        size = FONT_SIZE * min(1.0, max(BOLD_CHARACTERS / max(len(name), 1), 0.6))
        self._text(x, y + 0.1, name, weight="bold", fontsize=size)
        self._text(x, y - 0.1, " · ".join(facts))

    def _box(self, x: float, y: float, fill: str, edge: str, dashed: bool = False) -> None:
        from matplotlib.patches import FancyBboxPatch

        corner, line = (x - BOX_WIDTH / 2, y - BOX_HEIGHT / 2), "--" if dashed else "-"
        look = {"facecolor": fill, "edgecolor": edge, "linewidth": 1.0, "linestyle": line}
        rounded: dict[str, Any] = {
            "boxstyle": "round,pad=0,rounding_size=0.06",
            "zorder": 3,
            **look,
        }
        rounded["mutation_aspect"] = NODE_WIDTH / NODE_HEIGHT
        self.ax.add_patch(FancyBboxPatch(corner, BOX_WIDTH, BOX_HEIGHT, **rounded))

    def _text(self, x: float, y: float, text: str, **style: Any) -> None:
        centred = {"fontsize": FONT_SIZE, "zorder": 4, "ha": "center", "va": "center"}
        options: dict[str, Any] = centred | style
        # A dollar sign in a column name is no formula.
        self.ax.text(x, y, text, color=INK, parse_math=False, linespacing=1.05, **options)


def plot_history(history: Sequence[Any], *, ax: Axes | None = None) -> Axes:
    """Draw training and validation loss of ``history_`` over the epochs, in one colour per run."""
    plt = _pyplot()
    if ax is None:
        ax = plt.figure(figsize=(6.0, 3.6), layout="constrained").add_subplot()
    for run, colour in zip(history, class_colours(len(history)), strict=True):
        epochs = range(1, len(run.train_loss) + 1)
        ax.plot(epochs, run.train_loss, color=colour, linewidth=0.8, linestyle=":")
        ax.plot(epochs, run.valid_loss, color=colour, label=f"seed {run.seed}")
        if run.best_epoch >= 0:
            ax.plot(run.best_epoch + 1, run.best_loss, "o", color=colour, markersize=4)
    ax.set_xlabel("epoch")
    ax.set_ylabel("loss (dotted: training, line: validation)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return ax


def wrapped(text: str, width: int = LINE_CHARACTERS, lines: int = 2) -> str:
    """Text broken after blanks, hyphens, underscores and slashes into few short lines."""
    rows = [""]
    for piece in re.split(r"(?<=[-_/ ])", text):
        if rows[-1] and len(rows[-1] + piece.rstrip()) > width:
            rows.append("")
        rows[-1] += piece
    if len(rows) > lines:
        rows = [*rows[: lines - 1], rows[lines - 1].rstrip() + "…"]
    return "\n".join(row.strip() for row in rows)


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "drawing needs matplotlib; install it with: pip install 'gradtree-suite[plot]'"
        ) from error
    return plt
