"""Colours of classes and shades of numbers, distinguishable with any colour vision."""

from collections.abc import Sequence
from itertools import cycle, islice

import numpy as np

from gradtree.trees.regression_tree import RegressionTree
from gradtree.trees.tree import LEAF, Tree
from gradtree.views.rules import node_facts

# The palette of Okabe and Ito, blue and orange first because binary trees are most common.
OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")

# Shares of colour in the background of unsure and sure nodes: black text stays readable on both.
PALEST, STRONGEST = 0.15, 0.7


def class_colours(n_classes: int) -> list[str]:
    """One colour per class; from the ninth class on they repeat."""
    return list(islice(cycle(OKABE_ITO), n_classes))


def node_colour(
    predicted: int, share: float, n_classes: int, colours: Sequence[str] | None = None
) -> str:
    """The colour of the predicted class, the paler the smaller its share."""
    palette = class_colours(n_classes) if colours is None else colours
    chance = 1.0 / n_classes
    sureness = 1.0 if n_classes == 1 else (share - chance) / (1.0 - chance)
    return shade(palette[predicted], max(sureness, 0.0))


def shade(colour: str, strength: float) -> str:
    """A paler colour, the paler the smaller a strength from 0 to 1."""
    return blend(colour, PALEST + (STRONGEST - PALEST) * strength)


def leaf_fill(tree: Tree, node: int, colours: Sequence[str]) -> str:
    """The background of a leaf: its class, or how large its (first) number is among the leaves."""
    if isinstance(tree, RegressionTree):
        numbers = tree.value[tree.children_left == LEAF, 0]
        span = np.ptp(numbers)
        place = (tree.value[node, 0] - numbers.min()) / span if span > 0 else 0.5
        return shade(colours[0], float(np.clip(place, 0.0, 1.0)))
    label, share, _, _ = node_facts(tree, node)
    return node_colour(label, share or 0.0, tree.n_classes, colours)


def blend(colour: str, share: float) -> str:
    """Mix a colour with white."""
    channels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - share * (255 - c)):02x}" for c in channels)
