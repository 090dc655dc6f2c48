"""Losses of users' own, which compiled code cannot raise the errors of."""

from functools import cache
from typing import Any, NoReturn

import numpy as np
from numba import njit

from gradtree.settings.losses import CustomLoss, NumberLoss
from gradtree.typing import Floats

# Probabilities at which a loss is looked at that was not a number.
TRIED = 200


@cache
def guarded(loss: CustomLoss) -> CustomLoss:
    """The same loss, which is not a number where it raises an error.

    An error inside a callback would be printed, row by row, and otherwise ignored.
    """
    user: Any = loss.function if hasattr(loss.function, "py_func") else njit(loss.function)

    def quiet(p: Any, label: int, gradient: Any) -> float:
        try:
            value = user(p, label, gradient)
        except Exception:
            value = np.nan
        return value

    return CustomLoss(quiet)


@cache
def _over_rows(loss: CustomLoss) -> Any:
    user: Any = njit(guarded(loss).function)

    @njit
    def evaluate(prediction: Any, y: Any, losses: Any, slopes: Any) -> None:
        for row in range(len(y)):
            losses[row] = user(prediction[row], y[row], slopes[row])

    return evaluate


def own_losses(loss: CustomLoss, prediction: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Loss of every row by a loss of numbers, and its derivatives; both of shape (n_rows, …)."""
    losses, slopes = np.zeros(len(y)), np.zeros(y.shape)
    _over_rows(loss)(np.ascontiguousarray(prediction), np.ascontiguousarray(y), losses, slopes)
    if np.isnan(losses).any():
        row = int(np.isnan(losses).argmax())
        function: Any = getattr(loss.function, "py_func", loss.function)
        with np.errstate(all="ignore"):
            function(np.array(prediction[row]), np.array(y[row]), np.zeros(y.shape[1]))
        raise FloatingPointError(
            f"the loss was not a number for a prediction of {prediction[row].tolist()} and a "
            f"target of {y[row].tolist()}: a loss of your own must be finite for all numbers"
        )
    return losses, slopes


def refuse_loss(loss: CustomLoss | NumberLoss, n_classes: int, epoch: int) -> NoReturn:
    """Raise the error of a loss that was not a number, or say that it was not."""
    rng = np.random.default_rng(0)
    if isinstance(loss, NumberLoss):
        assert loss.own is not None
        for spread in rng.normal(size=(TRIED, len(loss.scale))):
            tried = np.broadcast_to(loss.unscaled(3 * spread), loss.targets.shape)
            own_losses(loss.own, tried, loss.targets)
        raise FloatingPointError(
            f"the loss was not a number in epoch {epoch}: a loss of your own must be finite for "
            "all numbers, predicted or true"
        )
    function = getattr(loss.function, "py_func", loss.function)
    with np.errstate(all="ignore"):
        for p in (*np.eye(n_classes), *rng.dirichlet(np.ones(n_classes), TRIED)):
            for label in range(n_classes):
                function(p, label, np.zeros(n_classes))
    raise FloatingPointError(
        f"the loss was not a number, or raised an error, in epoch {epoch}: a loss of your own must "
        "be finite for all probabilities from 0 to 1, 0 and 1 included; clip them first"
    )
