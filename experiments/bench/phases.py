"""Which part of an epoch of the compiled engine is the dense update of the parameters.

Gradients follow the rows down their paths, so their cost does not grow with the number of nodes.
Adam's update does, by its nature, while many parameters are still on the move; the growth of an
epoch with depth can only be judged with the two apart. A call from Python takes longer than either,
hence a compiled loop that reads the clock of the C library.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numba import njit

from experiments.bench.cases import Case, Data
from experiments.bench.serving import Phases
from gradtree.engines.compiled import CompiledRun
from gradtree.engines.contract import Samples, Seeds
from gradtree.engines.epochs import gather, gradients, update_parameters
from gradtree.settings.config import TrainConfig
from gradtree.settings.streams import noise_key, stream

_CLOCKS_PER_SECOND = 1_000_000
_processor_clock = ctypes.CDLL(None).clock
_processor_clock.argtypes = ()
_processor_clock.restype = ctypes.c_long


def time_phases(case: Case, data: Data, config: TrainConfig) -> Phases:
    """Means over the epochs of a fit but the first."""
    run, rng = _begin(case, data, config), np.random.default_rng(config.seed)
    ticks = np.zeros((config.epochs, 2))
    for epoch in range(config.epochs):
        _timed_epoch(*run.parts, rng.permutation(case.samples), ticks[epoch])
    on_gradients, on_update = ticks[1:].mean(axis=0) / _CLOCKS_PER_SECOND
    return Phases(float(on_gradients), float(on_update))


@njit
def _timed_epoch(run: Any, extras: Any, kernel: Any, order: Any, ticks: Any) -> None:
    size, clock = run.limits.batch_size, run.clock
    for start in range(0, len(order), size):
        part = order[start : start + size]
        clock.step[0] += 1
        began = _processor_clock()
        gather(run.train, part, run.batch)
        gradients(run, extras, kernel, len(part), clock.step[0])
        between = _processor_clock()
        update_parameters(run, extras, clock.step[0])
        ticks[0] += between - began
        ticks[1] += _processor_clock() - between


def _begin(case: Case, data: Data, config: TrainConfig) -> CompiledRun:
    draws = stream(config.stream)
    initial = draws.initial(config.seed, case.depth, case.features, case.classes)
    seeds = Seeds(draws.order(config.seed), noise_key(config.seed))
    weight = np.ones(case.samples, dtype=np.float32)
    samples = Samples(data.X, data.y.astype(np.int64), weight, np.arange(case.samples))
    nobody = Samples(data.X, samples.y, weight, np.arange(0))
    return CompiledRun(initial, samples, nobody, seeds, config)
