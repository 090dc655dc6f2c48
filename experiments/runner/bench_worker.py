"""One fit of an engine, timed: ``python -m experiments.runner.bench_worker ENGINE SIZE``.

The authors' package runs it under an interpreter of its own: at the top it needs only NumPy.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import sys
import time
from typing import Any

import numpy as np

Case = dict[str, Any]


def make_data(case: Case) -> tuple[Any, Any, Any, Any]:
    """Two clusters per class, ten informative features; every class occurs in training."""
    rng = np.random.default_rng(0)
    n, n_classes = case["samples"], case["classes"]
    rows, informative = n + case["valid_samples"], min(case["features"], 10)
    y = np.arange(rows) % n_classes
    rng.shuffle(y[n_classes:n])
    clusters = y + n_classes * rng.integers(2, size=rows)
    centres = rng.normal(size=(n_classes * 2, informative))
    X = rng.standard_normal((rows, case["features"]), dtype=np.float32)
    X[:, :informative] += centres[clusters].astype(np.float32)
    return X[:n], y[:n], X[n:], y[n:]


def stamp() -> Any:
    """This moment, by the clock on the wall and by the processor time of this process."""
    return np.array([time.perf_counter(), time.process_time()])


def timing(epoch: Any, fit: Any, **more: float) -> dict[str, float]:
    names = ("epoch_wall", "epoch_cpu", "fit_wall", "fit_cpu")
    return {**dict(zip(names, map(float, (*epoch, *fit)), strict=True)), **more}


def of_epochs(began: Any, ends: list[Any]) -> dict[str, float]:
    """From the ends of epochs; the first one pays for tracing."""
    fit = stamp() - began
    return timing((ends[-1] - ends[0]) / (len(ends) - 1), fit)


def config_of(case: Case, epochs: int, engine: Any) -> Any:
    """One run that never stops early."""
    from gradtree.settings.config import TrainConfig

    sizes = {"depth": case["depth"], "batch_size": case["batch_size"], "epochs": epochs}
    return TrainConfig(**sizes, patience=epochs + 1, restarts=0, engine=engine)


def time_compiled(case: Case) -> dict[str, float]:
    """An epoch is the difference between fits of many and of one, repeated for 0.3 s."""
    from gradtree.training.train import train

    def seconds(of: Case, rows: Any, epochs: int) -> Any:
        began = stamp()
        X, y, X_valid, y_valid = rows
        train(X, y, X_valid, y_valid, of["classes"], config_of(of, epochs, "compiled"))
        return stamp() - began

    few = {**case, "depth": 2, "samples": 4 * case["classes"], "valid_samples": case["classes"]}
    seconds(few, make_data(few), 2)
    data, many = make_data(case), max(case["epochs"], 1 + 100_000 // case["samples"])
    whole: list[Any] = []
    rest: list[Any] = []
    while sum(each[1] for each in whole + rest) < 0.3:
        single, longer = seconds(case, data, 1), seconds(case, data, many)
        rest.append(longer - single)
        same = many == case["epochs"]
        whole.append(longer if same else seconds(case, data, case["epochs"]))
    phases = time_phases(case, data, config_of(case, many, "compiled"))
    epoch = np.median(rest, axis=0) / (many - 1)
    return timing(epoch, np.median(whole, axis=0), gradients_cpu=phases[0], update_cpu=phases[1])


def time_phases(case: Case, data: Any, config: Any) -> list[float]:
    """Seconds per epoch, but the first, on gradients and on the dense update of the parameters.

    A call from Python takes longer than either, hence a compiled loop that reads C's clock.
    """
    from numba import njit

    from gradtree.engines.compiled import CompiledRun
    from gradtree.engines.contract import Samples, Seeds
    from gradtree.engines.epochs import gather, gradients, update_parameters
    from gradtree.engines.streams import noise_key, stream

    clock = ctypes.CDLL(None).clock
    clock.argtypes, clock.restype = (), ctypes.c_long

    @njit
    def timed_epoch(run: Any, extras: Any, kernel: Any, order: Any, ticks: Any) -> None:
        size = run.limits.batch_size
        for start in range(0, len(order), size):
            part = order[start : start + size]
            run.clock.step[0] += 1
            began = clock()
            gather(run.train, part, run.batch)
            gradients(run, extras, kernel, len(part), run.clock.step[0])
            between = clock()
            update_parameters(run, extras, run.clock.step[0])
            ticks[0] += between - began
            ticks[1] += clock() - between

    draws, n = stream(config.stream), case["samples"]
    initial = draws.initial(config.seed, case["depth"], case["features"], case["classes"])
    seeds = Seeds(draws.order(config.seed), noise_key(config.seed))
    weight, y = np.ones(n, dtype=np.float32), data[1].astype(np.int64)
    samples, nobody = (Samples(data[0], y, weight, np.arange(rows)) for rows in (n, 0))
    run = CompiledRun(initial, samples, nobody, seeds, config)
    rng, ticks = np.random.default_rng(config.seed), np.zeros((config.epochs, 2))
    for epoch in range(config.epochs):
        timed_epoch(*run.parts, rng.permutation(n), ticks[epoch])
    return [float(value) for value in ticks[1:].mean(axis=0) / 1_000_000]


def time_tensorflow(case: Case) -> dict[str, float]:
    """The reference engine reports after every epoch."""
    from gradtree.training.train import train

    ends: list[Any] = []

    def note(progress: Any) -> None:
        if progress.epoch > len(ends):
            ends.append(stamp())

    data, config = make_data(case), config_of(case, case["epochs"], "tensorflow")
    began = stamp()
    train(*data, case["classes"], config, progress=note)
    return of_epochs(began, ends)


def time_authors(case: Case) -> dict[str, float]:
    """A fit as the package's README shows it; its own callback notes when epochs end."""
    import tensorflow as tf
    from GradTree import GradTree

    ends: list[Any] = []
    stopping = tf.keras.callbacks.EarlyStopping

    class Watched(stopping):  # type: ignore[misc, valid-type]
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            super().on_epoch_end(epoch, logs)
            ends.append(stamp())

    tf.keras.callbacks.EarlyStopping = Watched
    rates = {"learning_rate_index": 0.05, "learning_rate_values": 0.01, "learning_rate_leaf": 0.005}
    params = {"depth": case["depth"], **rates, "optimizer": "SWA", "cosine_decay_steps": 0}
    params |= {"initializer": "RandomNormal", "loss": "crossentropy", "focal_loss": False}
    args = {"epochs": case["epochs"], "early_stopping_epochs": case["epochs"] + 1, "cat_idx": []}
    args |= {"objective": "binary" if case["classes"] == 2 else "classification", "verbose": 0}
    args |= {"batch_size": case["batch_size"], "metrics": ["F1"], "random_seed": 42}
    X, y, X_valid, y_valid = make_data(case)
    began = stamp()
    model = GradTree(params={**params, "temperature": 0.0}, args=args)
    model.fit(X_train=X, y_train=y.astype(float), X_val=X_valid, y_val=y_valid.astype(float))
    return of_epochs(began, ends)


def time_first_use(learner: str) -> list[float]:
    """Processor seconds when the data is there, after a first fit, and after a second."""
    from experiments.runner import registry
    from experiments.runner.run_job import for_learners, load_split

    split, chosen = load_split("iris", "paper", 0), registry.learner(learner)
    spent = [time.process_time()]
    if chosen.why_not(split.n_features, split.n_classes) is None:
        for _ in range(2):
            chosen.fit(for_learners(split), chosen.defaults(split.task), 42)
            spent.append(time.process_time())
    return spent


if __name__ == "__main__":
    what, of = sys.argv[1:]
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with contextlib.redirect_stdout(sys.stderr):  # what libraries print
        if what == "first-use":
            answer: Any = time_first_use(of)
        else:
            answer = globals()[f"time_{what}"](json.loads(of))
    print(json.dumps(answer))
