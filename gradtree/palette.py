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
    return blend(palette[best], 0.25 + 0.75 * max(float(sureness), 0.0))


def blend(colour: str, share: float) -> str:
    """Mix a colour with white."""
    channels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - share * (255 - c)):02x}" for c in channels)


def text_colour(background: str) -> str:
    """Black or white, whichever has the higher contrast (relative luminance of WCAG)."""
    channels = np.array([int(background[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ (0.2126, 0.7152, 0.0722))
    return "#000000" if luminance > 0.179 else "#ffffff"
