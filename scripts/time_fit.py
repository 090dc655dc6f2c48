#!/usr/bin/env python
"""Time one fit in this process, for `python -m experiments bench`; prints JSON.

    python scripts/time_fit.py compiled '{"depth": 6, "features": 20, "samples": 2000, ...}'

The authors' package needs an interpreter of its own, so that at the top there is only NumPy.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
TIMES = ("epoch_cpu", "epoch_wall", "fit_cpu", "fit_wall")
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
    """This moment, by the processor time of this process and by the clock on the wall."""
    return np.array([time.process_time(), time.perf_counter()])


def fit_once(case: Case, data: Any, engine: Any, epochs: int, progress: Any = None) -> Any:
    """What one run takes that never stops early."""
    from gradtree.settings.config import TrainConfig
    from gradtree.training.train import train

    sizes = {"depth": case["depth"], "batch_size": case["batch_size"], "epochs": epochs}
    config = TrainConfig(**sizes, patience=epochs + 1, restarts=0, engine=engine)
    began = stamp()
    X, y, X_valid, y_valid = data
    train(X, y, X_valid, y_valid, case["classes"], config, progress=progress)
    return stamp() - began


def time_compiled(case: Case) -> tuple[Any, Any]:
    """An epoch is the difference between fits of many and of one, repeated for 0.3 s."""
    few = {**case, "depth": 2, "samples": 4 * case["classes"], "valid_samples": case["classes"]}
    fit_once(few, make_data(few), "compiled", 2)
    data, many = make_data(case), max(case["epochs"], 1 + 100_000 // case["samples"])
    spent: list[Any] = []
    while sum(cpu for fits in spent for cpu, _ in fits) < 0.3:
        spent.append([fit_once(case, data, "compiled", n) for n in (1, many, case["epochs"])])
    one, all_of_them, whole = np.median(spent, axis=0)
    return (all_of_them - one) / (many - 1), whole


def time_tensorflow(case: Case) -> tuple[Any, Any]:
    """The reference engine reports after every epoch; the first one pays for tracing."""
    ends: dict[int, Any] = {}

    def note(progress: Any) -> None:
        ends.setdefault(progress.epoch, stamp())

    whole = fit_once(case, make_data(case), "tensorflow", case["epochs"], note)
    first, *_, last = ends.values()
    return (last - first) / (len(ends) - 1), whole


def time_authors(case: Case) -> tuple[Any, Any]:
    """A fit as the package's README shows it; its own callback notes when epochs end."""
    import tensorflow as tf
    from GradTree import GradTree

    ends: list[Any] = []

    class Watched(tf.keras.callbacks.EarlyStopping):
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
    return (ends[-1] - ends[0]) / (len(ends) - 1), stamp() - began


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
        answer = globals()[f"time_{what}"](json.loads(of))
    if isinstance(answer, tuple):
        answer = dict(zip(TIMES, map(float, np.concatenate(answer)), strict=True))
    print(json.dumps(answer))
