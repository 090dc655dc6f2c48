"""The losses that a tree can be trained with, as values; the engines compute them.

Two quirks of the authors' code decide the published numbers, so both engines keep them:

*Poly-1 is applied to doubly activated outputs.* The added term is ``epsilon * (1 - p_t)``, but
``p_t`` is the true class's entry after a *second* sigmoid (two classes) or softmax (more classes)
of the probabilities. For two classes it therefore lies between 0.27 and 0.73.

*Poly-1 does nothing on top of the multi-class focal loss.* There the labels are a column of class
indices that is multiplied with probabilities which sum to one, so that "``p_t``" becomes the class
index itself: the term shifts the loss by ``epsilon * (1 - class index)`` and has no gradient.

A third fact is easy to miss: under ``tf.function``, Keras computes both cross-entropies and the
binary focal loss from the logits, without clipping. Only the multi-class focal loss, which is not
Keras', sees probabilities, and it clips them at ``CLIP``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

CLIP = 1e-7


LOSSES: dict[str, int] = {"cross-entropy": 0, "focal": 1}
"""Every built-in loss of classes, and the number by which kernels know it."""
LOSS_NAMES = {name: name for name in LOSSES} | dict.fromkeys(
    ("crossentropy", "log_loss"), "cross-entropy"
)


@dataclass(frozen=True)
class Loss:
    """Cross-entropy or focal loss, with the Poly-1 term on top if ``poly_epsilon`` is given.

    Attributes
    ----------
    kind : a name of ``LOSSES``.
    gamma : exponent of the focal loss ``(1 - p_t)**gamma * -log(p_t)``.
    poly_epsilon : weight of the Poly-1 term, ``None`` for none.
    """

    kind: str = "cross-entropy"
    gamma: float = 3.0
    poly_epsilon: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in LOSSES:
            raise ValueError(
                f"unknown loss {self.kind!r}; choose one of {', '.join(LOSSES)}, "
                "or write your own with gradtree.CustomLoss"
            )
        if self.gamma < 1:
            raise ValueError(f"the focal loss needs gamma >= 1, not {self.gamma}")


@dataclass(frozen=True)
class CustomLoss:
    """A user's own loss, compiled by Numba and run at the speed of the built-in ones.

    Attributes
    ----------
    function : ``function(p, label, gradient) -> float``
        Gets the class probabilities ``p`` of one sample (shape (n_classes,), also for two
        classes) and its class index, writes the derivative of the loss with respect to each
        entry of ``p`` into ``gradient`` and returns the loss. It must be something that
        ``numba.njit`` can compile.

    Examples
    --------
    Missing class 1 costs five times as much as a false alarm:

    >>> import numpy as np
    >>> from gradtree import CustomLoss
    >>> COST = np.array([[0.0, 1.0], [5.0, 0.0]])
    >>> def expected_cost(p, label, gradient):
    ...     gradient[:] = COST[label]
    ...     return (COST[label] * p).sum()
    >>> loss = CustomLoss(expected_cost)
    """

    function: Callable[[NDArray[Any], int, NDArray[Any]], float]


NUMBER_LOSSES: dict[str, int] = {
    "squared_error": 0,
    "absolute_error": 1,
    "huber": 2,
    "quantile": 3,
    "poisson": 4,
}
"""Every built-in loss of numbers, and the number by which kernels know it."""


@dataclass(frozen=True, eq=False)
class NumberLoss:
    """A loss of numbers, with those of all rows: the label of a row is its place among them.

    The loss of a row is the mean over its targets, each in the scale of training,
    ``(y - shift) / scale``, so that no target counts more than another.
    """

    kind: str = "squared_error"
    setting: float = 1.0  # the quantile; for "huber", where the loss becomes linear, scaled
    targets: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 1)))  # as given
    shift: NDArray[np.float64] = field(default_factory=lambda: np.zeros(1))
    scale: NDArray[np.float64] = field(default_factory=lambda: np.ones(1))
    # A loss of the user's instead, ``function(prediction, target, gradient) -> float`` of numbers
    # as given, each an array of shape (n_targets,). The loss is divided by ``setting``.
    own: CustomLoss | None = None

    def scaled(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers in the scale of training."""
        return (y - self.shift) / self.scale

    def unscaled(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.shift + self.scale * value


AnyLoss = Loss | CustomLoss | NumberLoss
