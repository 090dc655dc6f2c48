"""Colours of classes, distinguishable with any colour vision."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice

import numpy as np
from numpy.typing import ArrayLike

# The palette of Okabe and Ito, blue and orange first because binary trees are most common.
OKABE_ITO = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#F0E442",
    "#999999",
)

# Shares of colour in the background of unsure and sure nodes: black text stays readable on both.
PALEST, STRONGEST = 0.15, 0.7


def class_colours(n_classes: int) -> list[str]:
    """One colour per class; from the ninth class on they repeat."""
    return list(islice(cycle(OKABE_ITO), n_classes))


def node_colour(shares: ArrayLike, colours: Sequence[str] | None = None) -> str:
    """The colour of the predicted class, the paler the less sure the node is."""
    probabilities = np.asarray(shares, dtype=np.float64)
    palette = class_colours(len(probabilities)) if colours is None else colours
    best = int(probabilities.argmax())
    chance = 1.0 / len(probabilities)
    sureness = 1.0 if chance == 1.0 else (probabilities[best] - chance) / (1.0 - chance)
    return blend(palette[best], PALEST + (STRONGEST - PALEST) * max(float(sureness), 0.0))


def blend(colour: str, share: float) -> str:
    """Mix a colour with white."""
    channels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - share * (255 - c)):02x}" for c in channels)
