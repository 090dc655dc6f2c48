"""Small tables of runs for the tests of the analysis."""

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from experiments.analysis.answer import Answer
from experiments.analysis.grids import declarations
from experiments.analysis.printed import Printed, printed
from experiments.analysis.runs import Runs
from experiments.runs import archive
from experiments.runs.schema import COLUMNS

TEXTS = [column.name for column in COLUMNS if column.type is str]
NUMBERS = [column.name for column in COLUMNS if column.type is not str]
Cell = tuple[str, str, str, str]
"""protocol, experiment, dataset, method"""


def make_runs(cells: Mapping[Cell, Iterable[Any]], metric: str = "test_f1") -> Runs:
    """Runs from the outcomes of trials: a number, ``None`` for one not run, or columns."""
    rows = []
    for (protocol, experiment, dataset, method), outcomes in cells.items():
        for trial, outcome in enumerate(outcomes):
            row = {"protocol": protocol, "experiment": experiment, "dataset": dataset}
            row |= {"method": method, "trial": trial, "seed": 42, "repeat": "", "params": "{}"}
            row["key"] = f"{protocol} {experiment} {dataset} {method} {trial}"
            if isinstance(outcome, Mapping):
                row |= outcome
            elif outcome is not None:
                row |= {"status": "ok", metric: outcome}
            rows.append(row)
    names = ["experiment", "repeat", *TEXTS, *NUMBERS]
    frame = pd.DataFrame(rows, columns=names).fillna(dict.fromkeys(TEXTS, ""))
    frame = frame.astype({name: float for name in NUMBERS if name not in ("trial", "seed")})
    facts = archive.read_facts()
    fresh = {"n_rows": 9, "n_features": 2, "class_counts": [5, 4], "categorical": []}
    datasets = facts["dataset"] | {
        "fresh": {"name": "Fresh", "task": "binary", **fresh},
        "new": {"name": "New", "task": "multi", **fresh},
    }
    return Runs(frame, datasets, facts["learner"], {}, Path("nowhere"))


def answered(question: Callable[[Runs, Printed], Answer | None], runs: Runs) -> Answer:
    """What a question answers, which these runs must let it."""
    found = question(runs, printed())
    assert found is not None
    return found


def trials(mean: float, std: float, n: int = 10) -> list[float]:
    """So many (an even number of) values with this mean and population deviation."""
    return [mean - std, mean + std] * (n // 2)


def paper_as_ours(shift: float = 0.0) -> Runs:
    """Runs that give the paper's printed cells: F1 moved by ``shift``, sizes and seconds not."""
    paper = printed()
    merged: dict[Cell, list[dict[str, Any]]] = {}
    for name, table in declarations()["paper"].items():
        for cell in paper.of(name).itertuples():
            place = ("paper", table.experiment, cell.dataset, cell.method)
            outcomes = merged.setdefault(place, [{} for _ in range(10)])
            if math.isnan(cell.mean):
                for outcome in outcomes:
                    if not outcome:  # the table of sizes misprints one reason
                        outcome.update({"status": "skipped", "reason": cell.missing})
                continue
            moved = shift if table.metric.endswith("f1") else 0.0
            for outcome, value in zip(outcomes, trials(cell.mean + moved, cell.std), strict=True):
                outcome.update({"status": "ok", table.metric: value})
    return make_runs(merged)
