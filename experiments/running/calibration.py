"""A fixed piece of work, timed beside runtimes, so that machines can be compared."""

from __future__ import annotations

import time

import numpy as np

REPETITIONS = 3


def calibrate() -> float:
    """Seconds that a fixed mix of interpreter, sorting and small matrix work takes just now.

    The best of a few repetitions: what the machine can do, not what disturbed it.
    """
    return min(_work() for _ in range(REPETITIONS))


def _work() -> float:
    data = np.random.default_rng(0).random((200, 200))
    start = time.perf_counter()
    total = 0.0
    for i in range(20_000):
        total += i % 7
    for _ in range(5):
        np.sort(data, axis=None)
        data @ data
    return time.perf_counter() - start
