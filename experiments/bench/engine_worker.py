"""Worker process that times one of the two engines: ``python -m ... compiled|tensorflow``."""

from __future__ import annotations

import sys
from typing import Any, Literal

from experiments.bench.cases import Case, Data, make_data
from experiments.bench.serving import Fit, Stamp, Timing, middle, now, serve, timing_of_epochs
from gradtree.settings.config import TrainConfig
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
    from experiments.bench.phases import time_phases

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


FITS: dict[str, Fit] = {"compiled": time_compiled, "tensorflow": time_reference}

if __name__ == "__main__":
    serve(FITS[sys.argv[1]])
