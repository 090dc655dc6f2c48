"""``bench``: speed of the GradTree engines and of the authors' package; GradTree on raw tables.

Every fit is timed in a process of its own, ``experiments.runner.bench_worker``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

ROOT = Path(__file__).resolve().parents[2]
AUTHORS_PYTHON = "GRADTREE_AUTHORS_PYTHON"
CASE = ["name", "depth", "features", "samples", "classes", "valid_samples", "epochs", "batch_size"]
NAMED = {
    "banknote": ["Banknote size", 10, 4, 823, 2, 274],
    "spambase": ["Spambase size", 10, 57, 2761, 2, 920],
}
"""Training and validation rows as in the paper's splits of the two datasets, at depth 10."""
BASE = {"depth": 6, "features": 20, "samples": 2000, "classes": 2}
AXES = {
    "depth": (2, 4, 6, 8, 10, 12),
    "features": (4, 10, 30, 100, 300, 1_000),
    "samples": (1_000, 10_000, 100_000, 1_000_000),
    "classes": (2, 4, 8, 16, 26),
}
ENGINES = ("compiled", "tensorflow", "authors")
TIMES = ["epoch_cpu", "epoch_wall", "fit_cpu", "fit_wall", "gradients_cpu", "update_cpu"]
INSTALLED = ("iris", "wine", "breast_cancer", "digits")
REGISTERED = ("titanic", "german", "car", "horse-colic", "thyroid", "adult")
Case = dict[str, Any]


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from experiments.commands.arguments import RESULTS, positive, whole
    from experiments.runs.store import LOCAL

    about = (
        "Time the engines in processor seconds per epoch and per fit, on synthetic data with one "
        "thread; they take turns. Axes that are not measured keep their earlier fits."
    )
    parser = verbs.add_parser("bench", help="time the GradTree engines", description=about)
    options: dict[str, dict[str, Any]] = {
        "--first-use": {"action": "store_true", "help": "instead, time imports and compiling"},
        "--raw-tables": {"nargs": "*", "help": "instead, compare GradTree with CART on tables"},
        "--axis": {"nargs": "+", "choices": (*AXES, *NAMED), "help": "what to vary (all)"},
        "--engines": {"nargs": "+", "choices": ENGINES, "help": "what to time"},
        "--authors-python": {"help": "interpreter that has the authors' package"},
        "--repeats": {"type": whole(1), "default": 3, "help": "fits per size (3)"},
        "--epochs": {"type": whole(2), "default": 4, "help": "epochs per fit (4)"},
        "--longest-epoch": {"type": positive, "default": 20.0, "help": "skip larger sizes (20 s)"},
        "--output": {"type": Path, "default": LOCAL / "bench", "help": "where to write"},
    }
    for name, how in options.items():
        parser.add_argument(name, **how)
    committed = {"action": "store_const", "dest": "output", "const": RESULTS / "bench"}
    parser.add_argument("--results", **committed, help="write to results/bench")  # type: ignore[arg-type]
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    args.output.mkdir(parents=True, exist_ok=True)
    if args.first_use:
        first_use(args.output)
    elif args.raw_tables is not None:
        raw_tables(args.output, args.raw_tables or [*INSTALLED, *REGISTERED])
    else:
        time_engines(args)
    return 0


def time_engines(args: argparse.Namespace) -> None:
    """Rounds of fits in which the engines take turns, so that a busy moment hits them all."""
    import pandas as pd

    path, python = args.output / "fits.csv", args.authors_python or os.environ.get(AUTHORS_PYTHON)
    groups: dict[str, list[Case]] = {
        axis: [{"name": f"{axis} {n:,}", **BASE, axis: n} for n in AXES[axis]] for axis in AXES
    }
    groups |= {name: [dict(zip(CASE, case, strict=False))] for name, case in NAMED.items()}
    wanted = args.axis or [*NAMED, *AXES]
    before = pd.read_csv(path, dtype=str, keep_default_na=False) if path.is_file() else None
    rows = [] if before is None else before[~before["group"].isin(wanted)].to_dict("records")
    for group in wanted:
        engines = args.engines or (ENGINES if python and group in NAMED else ENGINES[:2])
        expected = dict.fromkeys(engines, 0.0)
        for case in groups[group]:
            case = {"valid_samples": case["samples"] // 4, **case, "epochs": args.epochs}
            case["batch_size"] = 128
            cost = case["samples"] * case["features"] * 2.0 ** case["depth"] * case["depth"]
            part = [e for e in engines if expected[e] * cost < args.longest_epoch]
            for repeat in range(args.repeats):
                for engine in part:
                    found = time_one(engine, case, python)
                    expected[engine] = found["epoch_cpu"] / cost
                    shown = {name: f"{found[name]:.4g}" if name in found else "" for name in TIMES}
                    ordered = {name: case[name] for name in CASE}
                    row = {"group": group, **ordered, "engine": engine, "repeat": repeat, **shown}
                    rows.append({name: str(value) for name, value in row.items()})
                    write(pd.DataFrame(rows), path)
                    print(case["name"], engine, shown["epoch_cpu"], "s per epoch", flush=True)
    summarise(pd.read_csv(path), args.output)
    write(machine(), args.output / "machine.csv")


def time_one(engine: str, case: Case, python: str | None) -> dict[str, float]:
    """What one fit takes in a process of its own, on one core with one thread."""
    from experiments.errors import UserError
    from experiments.runner.executors.supervisor import worker_environment

    if engine == "authors" and not python:
        raise UserError(
            "timing the authors' package needs an interpreter that has it: pip install GradTree "
            f"into a Python 3.11 of its own and name it with --authors-python or {AUTHORS_PYTHON}"
        )
    words = ["-m", "experiments.runner.bench_worker", engine, json.dumps(case)]
    own = engine != "authors"
    environment = worker_environment(1)
    if not own:
        environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        [sys.executable if own else str(python), *words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise UserError(f"bench: {engine}, {case['name']}: {last}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def summarise(fits: pd.DataFrame, output: Path) -> None:
    """Medians, ratios to the compiled engine in the same round, and growth exponents."""
    import pandas as pd

    key = ["group", *CASE, "engine"]
    grouped = fits.groupby(key, sort=False)
    medians = grouped[["epoch_cpu", "fit_cpu", "gradients_cpu", "update_cpu"]].median()
    names = ["epoch_seconds", "fit_seconds", "gradient_seconds", "update_seconds"]
    medians.insert(0, "repeats", grouped.size())
    medians = medians.set_axis(["repeats", *names], axis=1).reset_index()
    place = ["group", "name", "repeat"]
    ours = fits.loc[fits["engine"] == "compiled", [*place, "epoch_cpu", "fit_cpu"]]
    others = fits[fits["engine"] != "compiled"].merge(ours, on=place, suffixes=("", "_ours"))
    others["epoch_ratio"] = others["epoch_cpu"] / others["epoch_cpu_ours"]
    others["fit_ratio"] = others["fit_cpu"] / others["fit_cpu_ours"]
    compared = others.groupby(key, sort=False)
    ratios = compared[["epoch_ratio"]].median()
    ratios["lowest_epoch_ratio"] = compared["epoch_ratio"].min()
    ratios["fit_ratio"] = compared["fit_ratio"].median()
    growth = []
    for axis in AXES:
        for engine in medians["engine"].unique():
            for part, name in (("epoch", names[0]), ("gradients", names[2])):
                own = medians[(medians["group"] == axis) & (medians["engine"] == engine)]
                points = np.log(own.loc[own[name].notna(), [axis, name]].to_numpy(dtype=float))
                if len(points) > 1:
                    slope = np.polyfit(points[:, 0], points[:, 1], 1)[0]
                    steepest = max((b - a)[1] / (b - a)[0] for a, b in pairwise(points))
                    sizes = [int(size) for size in own[axis]]
                    ends = [min(sizes), max(sizes), len(points)]
                    growth.append([axis, engine, part, *ends, f"{slope:.3f}", f"{steepest:.3f}"])
    columns = ["axis", "engine", "part", "smallest", "largest", "sizes", "exponent", "steepest"]
    write(medians, output / "medians.csv")
    write(ratios.reset_index(), output / "ratios.csv")
    write(pd.DataFrame(growth, columns=columns), output / "growth.csv")
    print(ratios.reset_index()[["name", "engine", "epoch_ratio", "fit_ratio"]].to_string())


def write(frame: pd.DataFrame, path: Path) -> None:
    frame.to_csv(path, index=False, float_format="%.4g", lineterminator="\n")


def machine() -> pd.DataFrame:
    import pandas as pd

    from experiments.runner.machine import cores, cpu_model

    rows = [("processor", cpu_model()), ("cores", cores()), ("system", platform.system())]
    rows += [("python", platform.python_version())]
    rows += [("load_average_at_the_end", f"{os.getloadavg()[0]:.4g}")]
    return pd.DataFrame(rows, columns=["what", "value"])


def first_use(output: Path) -> None:
    """What a process spends before a learner's first result: with a cold and a warm cache."""
    import pandas as pd

    from experiments.runner import registry

    rows, starts = [], []
    for learner in registry.learners():
        spent = []
        with tempfile.TemporaryDirectory() as cache:
            for _ in range(2):
                done = subprocess.run(
                    [sys.executable, "-m", "experiments.runner.bench_worker", "first-use", learner],
                    env={**os.environ, "NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"},
                    capture_output=True,
                    text=True,
                    check=True,
                )
                spent.append(json.loads(done.stdout.splitlines()[-1]))
        if len(spent[0]) == 3:
            cold, warm = (max(0.0, (b - a) - (c - b)) for a, b, c in spent)
            starts.append(spent[1][0])
            rows.append((learner, f"{warm:.1f}", f"{max(0.0, cold - warm):.1f}"))
            print(*rows[-1], flush=True)
    rows.insert(0, ("start", f"{sum(starts) / len(starts):.1f}", "0.0"))
    columns = ["learner", "import_seconds", "compile_seconds"]
    write(pd.DataFrame(rows, columns=columns), output / "first_use.csv")


def raw_tables(output: Path, names: list[str]) -> None:
    """GradTree beside CART on tables as they come: text, gaps, any units; five folds each."""
    import pandas as pd
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.metrics import accuracy_score, f1_score
    from sklearn.model_selection import StratifiedKFold
    from sklearn.preprocessing import OrdinalEncoder
    from sklearn.tree import DecisionTreeClassifier

    from baselines.cart_pruned import search_all_rows
    from experiments.errors import check_names
    from gradtree import PAPER, GradTreeClassifier

    def codes(X: Any) -> Any:
        """Categories as numbers in the order of their names."""
        encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        words = make_column_selector(dtype_exclude="number")
        return make_column_transformer((encoder, words), remainder="passthrough").fit(X).transform

    def filled(X: Any) -> Any:
        coded = codes(X)
        fill = SimpleImputer(strategy="median").fit(coded(X)).transform
        return lambda table: fill(coded(table))

    def scaled(X: Any) -> Any:
        """Numbers standardised by hand, all else and the order of columns as they are."""
        numbers = X.select_dtypes("number")
        mean, spread = numbers.mean(), numbers.std().replace(0.0, 1.0)
        return lambda table: table.assign(**((table[mean.index] - mean) / spread))

    cart, tree = DecisionTreeClassifier, GradTreeClassifier
    pruning = {"folds": 5, "n_alphas": 20}
    paper = {**PAPER, "depth": 7}
    learners: dict[str, tuple[Any, Any]] = {
        "CART": (codes, lambda X, y: cart(max_depth=7, random_state=0).fit(X, y)),
        "CART, pruned": (
            codes,
            lambda X, y: search_all_rows(cart(random_state=0), X, y, pruning, 0),
        ),
        "GradTree, before": (filled, lambda X, y: tree(**paper, random_state=42).fit(X, y)),
        "GradTree": (lambda X: lambda table: table, lambda X, y: tree(random_state=0).fit(X, y)),
        "GradTree, scaled by hand": (scaled, lambda X, y: tree(random_state=0).fit(X, y)),
        "GradTree, scaled by hand alone": (
            scaled,
            lambda X, y: tree(scale=None, random_state=0).fit(X, y),
        ),
    }
    check_names("raw table", names, (*INSTALLED, *REGISTERED))
    path = output / "raw_tables.csv"
    known = pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=["table"])
    rows = known[~known["table"].isin(names)].to_dict("records")
    warm = np.random.default_rng(0)
    for n_classes in (2, 3):  # compile all that will be timed
        X, y = (
            pd.DataFrame(warm.normal(size=(60, 3)), columns=list("abc")),
            warm.integers(n_classes, size=60),
        )
        for prepare, fit in learners.values():
            fit(prepare(X)(X), y)
    for name in names:
        X, y = raw_table(name)
        for learner, (prepare, fit) in learners.items():
            folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
            for fold, (train, test) in enumerate(folds):
                began = time.process_time()
                prepared = prepare(X.iloc[train])
                model = fit(prepared(X.iloc[train]), y[train])
                spent = time.process_time() - began
                predicted = model.predict(prepared(X.iloc[test]))
                scores = (
                    accuracy_score(y[test], predicted),
                    f1_score(y[test], predicted, average="macro"),
                )
                rows.append(
                    {
                        "table": name,
                        "learner": learner,
                        "fold": fold,
                        "accuracy": scores[0],
                        "f1": scores[1],
                        "nodes": model.tree_.node_count,
                        "cpu_seconds": spent,
                    }
                )
        rows.sort(key=lambda row: (*INSTALLED, *REGISTERED).index(row["table"]))
        write(pd.DataFrame(rows), path)
    write(machine(), output / "raw_tables_machine.csv")


def raw_table(name: str) -> tuple[pd.DataFrame, Any]:
    if name in INSTALLED:
        from sklearn import datasets as installed

        X, y = getattr(installed, f"load_{name}")(return_X_y=True, as_frame=True)
        return X, np.asarray(y)
    from datasets import load_dataset

    found = load_dataset(name)
    return found.X[found.y >= 0].reset_index(drop=True), found.y[found.y >= 0]
