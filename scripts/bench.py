#!/usr/bin/env python
"""Time the GradTree engines and the authors' package on synthetic data, every fit in a process of
its own on one core with one thread.

    .venv/bin/python scripts/bench.py --axis banknote spambase
    .venv/bin/python scripts/bench.py --first-use

Writes fits.csv, medians.csv and machine.csv; axes that are not measured keep their earlier fits.
The authors' package needs an interpreter of its own, so that at the top there is only NumPy.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
BASE = {"depth": 6, "features": 20, "samples": 2000, "classes": 2, "epochs": 4, "batch_size": 128}
NAMED = {
    "banknote": {"depth": 10, "features": 4, "samples": 823, "valid_samples": 274},
    "spambase": {"depth": 10, "features": 57, "samples": 2761, "valid_samples": 920},
}
"""Training and validation rows as in the paper's splits of the two datasets."""
AXES = {
    "depth": (2, 4, 6, 8, 10, 12),
    "features": (4, 10, 30, 100, 300, 1_000),
    "samples": (1_000, 10_000, 100_000, 1_000_000),
    "classes": (2, 4, 8, 16, 26),
}
EVERY = (*NAMED, *AXES)
ENGINES = ("compiled", "tensorflow", "authors")
LONGEST_EPOCH = 20.0
"""Seconds; sizes at which an engine is expected to take longer are left out."""
TIMES = ("epoch_cpu", "epoch_wall", "fit_cpu", "fit_wall")
Case = dict[str, Any]


# One fit, in a process of its own.


def make_data(case: Case) -> tuple[Any, Any, Any, Any]:
    """Two clusters per class, ten informative features."""
    from sklearn.datasets import make_classification

    n, features = case["samples"], case["features"]
    shape = {"n_informative": min(features, 10), "n_redundant": 0, "n_classes": case["classes"]}
    X, y = make_classification(n + case["valid_samples"], features, **shape, random_state=0)
    X = X.astype(np.float32)
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
    train(*data, case["classes"], config, progress=progress)
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

    split, chosen = load_split("iris", "paper", 0), registry.find("learner", learner)
    spent = [time.process_time()]
    if chosen.why_not(split.n_features, split.n_classes) is None:
        for _ in range(2):
            chosen.fit(for_learners(split), chosen.defaults(split.task), 42)
            spent.append(time.process_time())
    return spent


def in_this_process(what: str, of: str) -> None:
    """Print as JSON what one of the functions above measures."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with contextlib.redirect_stdout(sys.stderr):  # what libraries print
        answer = globals()[f"time_{what}"](json.loads(of))
    if isinstance(answer, tuple):
        answer = dict(zip(TIMES, map(float, np.concatenate(answer)), strict=True))
    print(json.dumps(answer))


# All fits.


def in_a_process(what: str, of: Any, python: str = sys.executable, **variables: str) -> Any:
    from experiments.runner.executors.supervisor import worker_environment

    environment = {**worker_environment(), **variables}
    command = [python, __file__, "--fit", what, json.dumps(of)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def time_engines(args: argparse.Namespace) -> None:
    """Rounds of fits in which the engines take turns, so that a busy moment hits them all."""
    import pandas as pd

    from experiments.runner.machine import describe

    path = args.output / "fits.csv"
    before = pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=["group"])
    rows = before[~before["group"].isin(args.axis)].to_dict("records")
    for group in args.axis:
        cases = {f"{group} {size:,}": {group: size} for size in AXES.get(group, ())}
        expected = dict.fromkeys(args.engines, 0.0)
        for name, size in (cases or {f"{group.capitalize()} size": NAMED[group]}).items():
            case: Case = {**BASE, **size}
            case.setdefault("valid_samples", case["samples"] // 4)
            cost = case["samples"] * case["features"] * 2.0 ** case["depth"] * case["depth"]
            engines = [one for one in expected if expected[one] * cost < LONGEST_EPOCH]
            for repeat in range(args.repeats):
                for engine in engines:
                    own = {"python": args.authors_python, "PYTHONPATH": ""}
                    found = in_a_process(engine, case, **(own if engine == "authors" else {}))
                    expected[engine] = found["epoch_cpu"] / cost
                    row = {"group": group, "name": name, **case, "engine": engine}
                    rows.append({**row, "repeat": repeat, **found})
                    write(pd.DataFrame(rows), path)
                    print(name, engine, f"{found['epoch_cpu']:.4g} s per epoch", flush=True)
    summarise(pd.DataFrame(rows), args.output)
    machine = {**describe()["machine"], "load_average_at_the_end": f"{os.getloadavg()[0]:.4g}"}
    write(pd.DataFrame(machine.items(), columns=["what", "value"]), args.output / "machine.csv")


def summarise(fits: Any, output: Path) -> None:
    """Medians of seconds, and of their ratios to the compiled engine in the same round."""
    place, spent = ["group", "name", "repeat"], ["epoch_cpu", "fit_cpu"]
    ours = fits.loc[fits["engine"] == "compiled", [*place, *spent]]
    both = fits.merge(ours, "left", place, suffixes=("", "_ours"))
    for name in spent:
        both[name.replace("cpu", "ratio")] = both[name] / both[f"{name}_ours"]
    key = ["group", "name", *BASE, "valid_samples", "engine"]
    columns = [*spent, "epoch_ratio", "fit_ratio"]
    medians = both.groupby(key, sort=False)[columns].median().reset_index()
    write(medians, output / "medians.csv")
    print(medians[["name", "engine", *columns]].to_string(index=False))


def first_use(output: Path) -> None:
    """What a process spends before a learner's first result: with a cold and a warm cache."""
    import pandas as pd

    from experiments.runner import registry

    rows, starts = {}, []
    for learner in registry.entries("learner"):
        with tempfile.TemporaryDirectory() as cache:
            spent = [in_a_process("first_use", learner, NUMBA_CACHE_DIR=cache) for _ in range(2)]
        if len(spent[0]) == 3:
            cold, warm = (max(0.0, (b - a) - (c - b)) for a, b, c in spent)
            starts.append(spent[1][0])
            rows[learner] = [warm, max(0.0, cold - warm)]
            print(learner, *rows[learner], flush=True)
    rows = {"start": [sum(starts) / len(starts), 0.0], **rows}
    frame = pd.DataFrame.from_dict(rows, "index", columns=["import_seconds", "compile_seconds"])
    write(frame.round(1).rename_axis("learner").reset_index(), output / "first_use.csv")


def write(frame: Any, path: Path) -> None:
    frame.to_csv(path, index=False, float_format="%.4g", lineterminator="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--axis", nargs="+", choices=EVERY, default=EVERY, help="what to vary")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES[:2])
    parser.add_argument("--authors-python", help="interpreter with the authors' package, for them")
    parser.add_argument("--repeats", type=int, default=3, help="fits per size (3)")
    parser.add_argument("--output", type=Path, default=Path(".runs/bench"), help="where to write")
    parser.add_argument("--first-use", action="store_true", help="what first fits import, compile")
    args = parser.parse_args()
    if "authors" in args.engines and not args.authors_python:
        told = "pip install GradTree into a Python 3.11 of its own"
        parser.error(f"{told} and name it with --authors-python")
    args.output.mkdir(parents=True, exist_ok=True)
    first_use(args.output) if args.first_use else time_engines(args)


if __name__ == "__main__":
    in_this_process(*sys.argv[2:]) if sys.argv[1:2] == ["--fit"] else main()
