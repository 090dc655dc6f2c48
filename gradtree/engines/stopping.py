"""Early stopping, shared by both engines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradtree.compiling import kernel


class Watch(NamedTuple):
    """The best loss so far and how long ago it was, in arrays of one entry that can change."""

    best_loss: NDArray[np.float64]
    best_epoch: NDArray[np.int64]
    stale_epochs: NDArray[np.int64]


def new_watch() -> Watch:
    return Watch(np.array([np.inf]), np.array([-1]), np.array([0]))


@kernel()
def improves(watch: Watch, epoch: int, loss: float) -> bool:
    """Take note of an epoch's loss; whether it is strictly the best one."""
    if loss < watch.best_loss[0]:
        watch.best_loss[0] = loss
        watch.best_epoch[0] = epoch
        watch.stale_epochs[0] = 0
        return True
    watch.stale_epochs[0] += 1
    return False
