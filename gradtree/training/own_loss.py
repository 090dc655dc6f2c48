"""Losses of users' own, which compiled code cannot raise the errors of."""

from __future__ import annotations

from functools import cache
from typing import Any, NoReturn

import numpy as np
from numba import njit

from gradtree.compiling import INTERPRETED
from gradtree.settings.losses import CustomLoss

# Probabilities at which a loss is looked at that was not a number.
TRIED = 200


@cache
def guarded(loss: CustomLoss) -> CustomLoss:
    """The same loss, which is not a number where it raises an error.

    An error inside a callback would be printed, row by row, and otherwise ignored.
    """
    if INTERPRETED:
        return loss
    user: Any = loss.function if hasattr(loss.function, "py_func") else njit(loss.function)

    def quiet(p: Any, label: int, gradient: Any) -> float:
        try:
            value = user(p, label, gradient)
        except Exception:
            value = np.nan
        return value

    return CustomLoss(quiet)


def refuse_loss(loss: CustomLoss, n_classes: int, epoch: int) -> NoReturn:
    """Raise the error of a loss that was not a number, or say that it was not."""
    rng = np.random.default_rng(0)
    function = getattr(loss.function, "py_func", loss.function)
    with np.errstate(all="ignore"):
        for p in (*np.eye(n_classes), *rng.dirichlet(np.ones(n_classes), TRIED)):
            for label in range(n_classes):
                function(p, label, np.zeros(n_classes))
    raise FloatingPointError(
        f"the loss was not a number, or raised an error, in epoch {epoch}: a loss of your own must "
        "be finite for all probabilities from 0 to 1, 0 and 1 included; clip them first"
    )
