"""``bench``: speed of the GradTree engines and of the authors' package, every fit in a process of
its own by ``scripts/time_fit.py``.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.commands.arguments import flag, option, verb, whole
from experiments.errors import DONE, UserError
from experiments.runner import registry
from experiments.runner.executors.supervisor import ROOT, worker_environment
from experiments.runner.machine import describe
from experiments.runs.store import LOCAL

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


@verb(
    "bench",
    flag("--first-use", "instead, time what a learner's first fit imports and compiles"),
    option("--axis", "what to vary (all)", str, None, EVERY, nargs="+", choices=EVERY),
    option("--engines", "what to time", metavar=None, nargs="+", choices=ENGINES),
    option("--authors-python", "interpreter with the authors' package", metavar="PYTHON"),
    option("--repeats", "fits per size (3)", whole(1), "N", 3),
    option("--output", "where to write", Path, "FOLDER", LOCAL / "bench"),
)
def run(args: argparse.Namespace) -> int:
    """Time the GradTree engines.

    Time the engines in processor seconds per epoch and per fit, on synthetic data with one thread;
    they take turns. Axes that are not measured keep their earlier fits.
    """
    args.output.mkdir(parents=True, exist_ok=True)
    first_use(args.output) if args.first_use else time_engines(args)
    return DONE


def time_engines(args: argparse.Namespace) -> None:
    """Rounds of fits in which the engines take turns, so that a busy moment hits them all."""
    path = args.output / "fits.csv"
    before = pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=["group"])
    rows = before[~before["group"].isin(args.axis)].to_dict("records")
    for group in args.axis:
        cases = {f"{group} {size:,}": {group: size} for size in AXES.get(group, ())}
        usual = ENGINES if args.authors_python and group in NAMED else ENGINES[:2]
        expected = dict.fromkeys(args.engines or usual, 0.0)
        for name, size in (cases or {f"{group.capitalize()} size": NAMED[group]}).items():
            case: dict[str, Any] = {**BASE, **size}
            case.setdefault("valid_samples", case["samples"] // 4)
            cost = case["samples"] * case["features"] * 2.0 ** case["depth"] * case["depth"]
            engines = [one for one in expected if expected[one] * cost < LONGEST_EPOCH]
            for repeat in range(args.repeats):
                for engine in engines:
                    found = in_a_process(engine, case, args.authors_python)
                    expected[engine] = found["epoch_cpu"] / cost
                    row = {"group": group, "name": name, **case, "engine": engine}
                    rows.append({**row, "repeat": repeat, **found})
                    write(pd.DataFrame(rows), path)
                    print(name, engine, f"{found['epoch_cpu']:.4g} s per epoch", flush=True)
    summarise(pd.DataFrame(rows), args.output)
    machine = {**describe()["machine"], "load_average_at_the_end": f"{os.getloadavg()[0]:.4g}"}
    write(pd.DataFrame(machine.items(), columns=["what", "value"]), args.output / "machine.csv")


def summarise(fits: pd.DataFrame, output: Path) -> None:
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


def write(frame: pd.DataFrame, path: Path) -> None:
    frame.to_csv(path, index=False, float_format="%.4g", lineterminator="\n")


def first_use(output: Path) -> None:
    """What a process spends before a learner's first result: with a cold and a warm cache."""
    rows, starts = {}, []
    for learner in registry.learners():
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


def in_a_process(what: str, of: Any, python: str | None = None, **variables: str) -> Any:
    """What one function of the script measures, on one core with one thread."""
    environment = {**worker_environment(1), **variables}
    interpreter = python if what == "authors" else sys.executable
    if interpreter is None:
        raise UserError(
            "timing the authors' package needs an interpreter that has it: pip install GradTree "
            "into a Python 3.11 of its own and name it with --authors-python"
        )
    if what == "authors":
        environment["PYTHONPATH"] = ""
    command = [interpreter, str(ROOT / "scripts" / "time_fit.py"), what, json.dumps(of)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise UserError(f"bench: {what} of {of}: {last}")
    return json.loads(done.stdout.splitlines()[-1])
