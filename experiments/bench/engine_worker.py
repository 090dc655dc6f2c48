"""Worker process that times one of the two engines: ``python -m ... compiled|tensorflow``.

Of an epoch of the compiled engine it also tells which part is the dense update of the parameters.
Gradients follow the rows down their paths, so their cost does not grow with the number of nodes.
Adam's update does, by its nature, while many parameters are still on the move; the growth of an
epoch with depth can only be judged with the two apart. A call from Python takes longer than either,
hence a compiled loop that reads the clock of the C library.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Literal

import numpy as np
from numba import njit

from experiments.bench.cases import (
    Case,
    Data,
    Fit,
    Phases,
    Stamp,
    Timing,
    make_data,
    middle,
    now,
    serve,
    timing_of_epochs,
)
from gradtree.engines.compiled import CompiledRun
from gradtree.engines.contract import Samples, Seeds
from gradtree.engines.epochs import gather, gradients, update_parameters
from gradtree.settings.config import TrainConfig
from gradtree.settings.streams import noise_key, stream
from gradtree.training.train import Progress, train

_SHORTEST_SECONDS = 0.3
"""Fits of the compiled engine are repeated for this long: one may take a millisecond."""

_ROWS_WORTH_TIMING = 100_000
"""An epoch of few rows is lost in the set-up of a fit, so more of them are trained and divided."""


def config_of(case: Case, epochs: int, engine: Literal["compiled", "tensorflow"]) -> TrainConfig:
    """One run that never stops early."""
    return TrainConfig(
        depth=case.depth,
        batch_size=case.batch_size,
        epochs=epochs,
        patience=epochs + 1,
        restarts=0,
        engine=engine,
    )


def _train(case: Case, data: Data, config: TrainConfig, progress: Any = None) -> None:
    train(data.X, data.y, data.X_valid, data.y_valid, case.classes, config, progress=progress)


def time_compiled(case: Case, data: Data) -> Timing:
    """Time a fit and its phases; an epoch is the difference between fits of many and of one."""
    warm_up = Case("warm-up", 2, case.features, 4 * case.classes, case.classes, case.classes)
    _train(warm_up, make_data(warm_up), config_of(warm_up, 2, "compiled"))
    many = max(case.epochs, 1 + _ROWS_WORTH_TIMING // case.samples)
    whole: list[Stamp] = []
    rest: list[Stamp] = []
    while sum(time.cpu for time in whole + rest) < _SHORTEST_SECONDS:
        single, longer = (_time_fit(case, data, epochs) for epochs in (1, many))
        rest.append(longer.since(single))
        whole.append(longer if many == case.epochs else _time_fit(case, data, case.epochs))
    phases = time_phases(case, data, config_of(case, many, "compiled"))
    return Timing(middle(rest).divided(many - 1), middle(whole), phases)


def _time_fit(case: Case, data: Data, epochs: int) -> Stamp:
    began = now()
    _train(case, data, config_of(case, epochs, "compiled"))
    return now().since(began)


def time_reference(case: Case, data: Data) -> Timing:
    """Time a fit of the reference engine, which reports after every epoch."""
    ends: list[Stamp] = []

    def note(progress: Progress) -> None:
        if progress.epoch > len(ends):
            ends.append(now())

    began = now()
    _train(case, data, config_of(case, case.epochs, "tensorflow"), note)
    return timing_of_epochs(began, ends, now())


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


FITS: dict[str, Fit] = {"compiled": time_compiled, "tensorflow": time_reference}

if __name__ == "__main__":
    serve(FITS[sys.argv[1]])
