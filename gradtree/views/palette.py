"""Colours of classes and shades of numbers, distinguishable with any colour vision."""

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
    return [OKABE_ITO[place % len(OKABE_ITO)] for place in range(n_classes)]


def leaf_fill(tree: Tree, node: int) -> str:
    """The background of a leaf, mixed with white.

    The colour of its class, the paler the smaller the share of that; or the paler the smaller its
    (first) number is among the leaves.
    """
    label, share, _, _ = node_facts(tree, node)
    if isinstance(tree, RegressionTree):
        numbers = tree.value[tree.children_left == LEAF, 0]
        span = np.ptp(numbers)
        strength = (tree.value[node, 0] - numbers.min()) / span if span > 0 else 0.5
    else:
        chance = 1.0 / tree.n_classes
        strength = 1.0 if tree.n_classes == 1 else ((share or 0.0) - chance) / (1.0 - chance)
    mixed = PALEST + (STRONGEST - PALEST) * np.clip(strength, 0.0, 1.0)
    colour = class_colours(tree.n_classes)[label]
    channels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - mixed * (255 - c)):02x}" for c in channels)
