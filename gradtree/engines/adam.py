"""Adam, skipping exactly those parameters that it would not change.

Adam's update is dense: without a gradient a parameter still moves by its decaying moments. But a
parameter that never had a gradient does not move, and after some 160 steps without one the move is
less than half a unit in the last place, and shrinks from there on. So parameters are kept in
blocks, and a block leaves the active set when an update has left all of it as it was. When it gets
a gradient again its moments are decayed for the steps it has missed, one by one, so that the
outcome is bit for bit that of the dense update.

Gradients and moments too small to matter next to Adam's epsilon are set to zero, because processors
are very slow on denormal numbers.
"""

from typing import Any, NamedTuple

import numpy as np

from gradtree.compiling import Numbers, Real, kernel
from gradtree.engines.state import Group
from gradtree.engines.vectors import BLOCK, adam_step, adam_wait

BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-7


class Pace(NamedTuple):
    """Adam's constants in the precision of the parameters."""

    keep_1: Any
    keep_2: Any
    epsilon: Any
    least_slope: Any
    least_mean: Any
    least_square: Any


def new_pace(dtype: Any) -> Pace:
    """The constants for parameters of this type."""
    real = np.dtype(dtype).type
    scale = 1.0 if real is np.float32 else 1e-100
    numbers = (EPSILON, 1e-16 * scale, 1e-20 * scale, 1e-36 * scale**2)
    return Pace(real(1) - real(BETA_1), real(1) - real(BETA_2), *map(real, numbers))


@kernel()
def step_size(rate: float, step: int, one: Real) -> Real:
    """Learning rate of step 1, 2, ... with Adam's bias correction, in the parameters' precision."""
    real = type(one)
    # Powers of the rounded constants, rounded once: a chain of products would drift.
    power_1 = real(np.float64(real(BETA_1)) ** step)
    power_2 = real(np.float64(real(BETA_2)) ** step)
    return real(rate) * np.sqrt(one - power_2) / (one - power_1)


@kernel()
def activate(group: Group, rows: Numbers, width: int, step: int, pace: Pace) -> None:
    """Have this step's update cover these rows of a table that is ``width`` wide."""
    active, is_active, clock = group.active, group.is_active, group.clock
    mean, square = group.mean, group.square
    n_active = group.n_active[0]
    for s in range(len(rows)):
        first = np.int64(rows[s]) * width
        for block in range(first // BLOCK, (first + width - 1) // BLOCK + 1):
            if not is_active[block]:
                is_active[block] = True
                active[n_active] = block
                n_active += 1
                if clock[block] > 0:
                    start, end = block * BLOCK, (block + 1) * BLOCK
                    # Step by step: a power would round once where the dense update always rounds.
                    adam_wait(mean[start:end], square[start:end], step - 1 - clock[block], pace)
    group.n_active[0] = n_active


@kernel()
def update(group: Group, step: int, size: Real, pace: Pace) -> None:
    """Adam's update of a parameter matrix with the gradients in ``group.slope``."""
    active, is_active, clock = group.active, group.is_active, group.clock
    value, slope, mean, square = group.value, group.slope, group.mean, group.square
    kept = 0
    for a in range(group.n_active[0]):
        block = active[a]
        first, end = block * BLOCK, (block + 1) * BLOCK
        changed = adam_step(
            value[first:end], slope[first:end], mean[first:end], square[first:end], size, pace
        )
        if changed:
            active[kept] = block
            kept += 1
        else:
            is_active[block] = False
            clock[block] = step
    group.n_active[0] = kept
