"""The split functions: how soft a decision looks to the gradient.

A row goes left at a node if its score ``z``, threshold minus value, is above zero. The gradient
passes through that step as if it were a smooth function of ``z`` (straight-through):

``sigmoid``   ``1 / (1 + exp(-s z))``, with ``s = 1`` the paper's choice. Its slope vanishes fast: a
              row far from the threshold has no say.
``softsign``  ``(1 + s z / (1 + |s z|)) / 2``, of the authors' later work. Its slope falls only
              with the square of the distance, so that far rows still pull.

``s`` is the steepness. A further function is an entry of ``SPLITS`` with its formula for the
reference engine, and a branch in ``gradtree.engines.arithmetic.split_slopes`` for the other one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SplitFunction:
    """An entry of ``SPLITS``: its number, and the function of TensorFlow and ``s * z``."""

    code: int
    soft: Callable[[Any, Any], Any]


SPLITS: dict[str, SplitFunction] = {
    "sigmoid": SplitFunction(0, lambda tf, u: tf.sigmoid(u)),
    "softsign": SplitFunction(1, lambda tf, u: 0.5 + 0.5 * tf.nn.softsign(u)),
}
"""Every split function. Parameter checks, engines and messages take the names from here."""
