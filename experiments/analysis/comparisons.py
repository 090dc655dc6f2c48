"""Statistics over datasets of a table: average ranks, tests of pairs, intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from experiments.analysis import stats
from experiments.analysis.answer import Format, Grid, Table
from experiments.analysis.grids import added, matrix
from experiments.analysis.printed import TASK_NAMES, TASKS
from experiments.analysis.runs import Runs

PARTIAL = "dndt"
"""The learner that has results on some datasets only, by design."""


def compared(runs: Runs, table: Grid) -> Iterator[Table]:
    """Average ranks, tests of pairs and intervals of a table of test F1.

    A test over datasets needs every method on every dataset. DNDT has results on the datasets with
    at most 12 features only, so it is compared on these, and the others without it on all.
    """
    scores = matrix(table)
    others = [method for method in table.methods if method != PARTIAL]
    scopes = [(f"{TASK_NAMES[t]} datasets", matrix(table, t)[others]) for t in TASKS]
    scopes.append(("All datasets", scores[others]))
    if PARTIAL in scores:
        scopes.append(("Datasets of DNDT", scores[scores[PARTIAL].notna()]))
    ranks, tests = [], []
    for scope, part in scopes:
        whole = part.dropna()
        if len(whole) < stats.FEWEST_DATASETS or len(whole.columns) < 3:
            continue
        mean_ranks, p_value = stats.friedman(whole, table.smaller_is_better)
        average = dict(zip(whole.columns, mean_ranks, strict=True))
        pairs = stats.pairs(whole)
        order = sorted(whole.columns, key=lambda method: (average[method], method))
        groups = stats.groups(order, pairs)
        alike = "; ".join(", ".join(runs.name(m) for m in group) for group in groups)
        ranks.append(
            {"Scope": scope, "datasets": len(whole)}
            | {runs.name(m): average.get(m, math.nan) for m in table.methods}
            | {"not told apart": alike or "none", "p (Friedman)": p_value}
        )
        pairs.insert(0, "Scope", scope)
        pairs.insert(3, "datasets", len(whole))
        tests.append(pairs)
    if ranks:
        yield Table(
            f"{table.name}-ranks",
            f"{table.title}: average ranks",
            f"{table.caption}: average ranks (1 is best), the groups of methods in which no pair "
            "differs significantly (Wilcoxon's test with Holm's correction, level "
            f"{stats.LEVEL:g}), and the p-value of Friedman's test (Iman-Davenport)",
            pd.DataFrame(ranks),
            table.protocol,
            {"datasets": Format(kind="count"), "p (Friedman)": Format(kind="p")}
            | {runs.name(m): Format(2) for m in table.methods},
        )
        names = {"first": "Method", "second": "Other", "difference": "mean difference"}
        frame = pd.concat(tests, ignore_index=True).rename(columns={**names, "p_holm": "p (Holm)"})
        yield Table(
            f"{table.name}-pairs",
            f"{table.title}: pairs of methods",
            f"{table.caption}: Wilcoxon signed-rank tests over datasets, p-values with Holm's "
            "correction",
            frame.assign(
                Method=frame["Method"].map(runs.name), Other=frame["Other"].map(runs.name)
            ),
            table.protocol,
            {name: Format(kind="count") for name in ("datasets", "better", "worse")}
            | {name: Format(kind="p") for name in ("p", "p (Holm)")},
        )
    yield _intervals(runs, table)


def _intervals(runs: Runs, table: Grid) -> Table:
    rows = []
    for task in TASKS:
        lines = {name: added(table, task, name) for name in ("Mean", "MRR")}
        for method in table.methods:
            values = {name: line[method].dropna() for name, line in lines.items()}
            if len(values["Mean"]) >= stats.FEWEST_DATASETS:
                row: dict[str, Any] = {"Method": runs.name(method), "Task": TASK_NAMES[task]}
                row["datasets"] = len(values["Mean"])
                for name, value in values.items():
                    found = stats.bootstrap(value)
                    row |= {f"{name}: {part}": x for part, x in found._asdict().items()}
                rows.append(row)
    return Table(
        f"{table.name}-intervals",
        f"{table.title}: intervals",
        f"{table.caption}: mean and MRR with 95 % bootstrap intervals over datasets",
        pd.DataFrame(rows),
        table.protocol,
        {"datasets": Format(kind="count")},
    )
