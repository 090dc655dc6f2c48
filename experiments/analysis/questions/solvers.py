"""Do other solvers find DL8.5's optimal tree too, and how long do they take?"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis.answer import Answer, Table, table
from experiments.analysis.grids import cells
from experiments.analysis.pairwise import PROTOCOLS
from experiments.analysis.printed import TASK_NAMES, Printed
from experiments.analysis.runs import Runs

EXPERIMENT, ALONE = "solvers", "solvers-alone"
OURS, LIBRARY = "dl85", "dl85-original"
SOLVERS = (OURS, LIBRARY, "dl85-pytrees", "dl85-streed")
OUTCOME = ["train_f1", "valid_f1", "test_f1", "test_log_loss", "tree_size", "depth", "leaves"]
"""What must be equal to the last digit for two fits to count as alike."""


def finished(runs: Runs, protocol: str, experiment: str) -> dict[tuple[str, str], pd.DataFrame]:
    """Runs that ended well by (dataset, method), indexed by trial."""
    rows = runs.of(protocol, experiment)
    rows = rows[rows["status"] == "ok"].set_index("trial")
    return {(str(d), str(m)): own for (d, m), own in rows.groupby(["dataset", "method"])}


def against_library(runs: Runs, printed: Printed, protocol: str) -> pd.DataFrame:
    """Where pydl8.5 has run: trials that ended alike, and processor seconds of both.

    Seconds are divided only where both ran on machines of one kind.
    """
    fits, found = finished(runs, protocol, EXPERIMENT), cells(runs, protocol, EXPERIMENT, "test_f1")
    rows = []
    blank = dict.fromkeys(("same", "Seconds: ours", "Seconds: pydl8.5", "ratio"))
    for dataset in printed.datasets.itertuples():
        mine, theirs = (dataset.slug, OURS), (dataset.slug, LIBRARY)
        row: dict[str, Any] = {"Dataset": dataset.name, "Task": TASK_NAMES[dataset.task]}
        row |= {"test F1": found["mean"].get(mine), "trials": 0, **blank}
        both = [fits[place] for place in (mine, theirs) if place in fits]
        trials = both[0].index.intersection(both[1].index) if len(both) == 2 else ()
        if len(trials):
            ours, library = (own.loc[trials] for own in both)
            took = [float(sum(own["cpu_seconds"].fillna(0.0))) for own in (ours, library)]
            row |= {"trials": len(trials), "same": _alike(ours, library)}
            row |= {"Seconds: ours": took[0], "Seconds: pydl8.5": took[1]}
            if took[0] and (ours["environment"] == library["environment"]).all():
                row["ratio"] = took[1] / took[0]
            rows.append(row)
        elif theirs in found.index and found.at[theirs, "missing"]:
            rows.append({**row, "Seconds: pydl8.5": found.at[theirs, "missing"]})
    frame = pd.DataFrame(rows)
    if len(frame) and frame["ratio"].isna().all():
        return frame.drop(columns="ratio")
    return frame


def _alike(one: pd.DataFrame, other: pd.DataFrame) -> int:
    """Rows that are equal in every outcome, gaps included."""
    left, right = one[OUTCOME], other[OUTCOME]
    return int(((left == right) | (left.isna() & right.isna())).all(axis=1).sum())


def alone(runs: Runs, printed: Printed, protocol: str) -> pd.DataFrame:
    """Solvers that ran one at a time, over the trials that all of them finished."""
    fits, found = finished(runs, protocol, ALONE), cells(runs, protocol, ALONE, "test_f1")
    rows = []
    for dataset in printed.datasets.itertuples():
        own = {m: fits[dataset.slug, m] for m in SOLVERS if (dataset.slug, m) in fits}
        if OURS not in own:
            continue
        shared = sorted(set.intersection(*(set(part.index) for part in own.values())))
        errors = {
            method: sum(json.loads(text)["errors"] for text in part.loc[shared, "extra"])
            for method, part in own.items()
        }
        seconds = {m: float(sum(part.loc[shared, "cpu_seconds"])) for m, part in own.items()}
        row: dict[str, Any] = {"Dataset": dataset.name, "Task": TASK_NAMES[dataset.task]}
        alike = "yes" if len(set(errors.values())) == 1 else "no"
        row |= {"errors": errors[OURS], "alike": alike}
        for method in SOLVERS:
            place = (dataset.slug, method)
            reason = found.at[place, "missing"] if place in found.index else ""
            row[f"CPU seconds: {runs.name(method)}"] = seconds.get(method, reason or None)
        for method in SOLVERS[1:]:
            ratio = seconds[method] / seconds[OURS] if method in seconds else None
            row[f"Ratio: {runs.name(method)}"] = ratio
        rows.append(row)
    return pd.DataFrame(rows)


def answer(runs: Runs, printed: Printed) -> Answer | None:
    tables = []
    for protocol in PROTOCOLS:
        for name, of in ((EXPERIMENT, against_library), (ALONE, alone)):
            frame = of(runs, printed, protocol)
            if len(frame):
                tables.append(table(name, frame, protocol=protocol))
    if not tables:
        return None
    return Answer(
        "solvers",
        "Do other solvers find the same optimal trees?",
        tuple(_sentences(runs, tables)),
        tuple(tables),
        shown=(ALONE,),
    )


def _sentences(runs: Runs, tables: list[Table]) -> list[str]:
    sentences = []
    both = [each.frame for each in tables if each.name == EXPERIMENT]
    trials, same = (int(sum(frame[name].sum() for frame in both)) for name in ("trials", "same"))
    if trials:
        word = "Yes" if same == trials else "Mostly"
        sentences.append(
            f"{word}: our kernels and pydl8.5 ended in the same scores and tree size in {same} of "
            f"{trials} fits that both finished."
        )
    for frame in (each.frame for each in tables if each.name == ALONE):
        ratios = {method: frame[f"Ratio: {runs.name(method)}"].dropna() for method in SOLVERS[1:]}
        others = pd.DataFrame(ratios).dropna(how="all").index
        told = [
            f"{runs.name(method)} {np.median(own):.1f} [{own.min():.1f}, {own.max():.1f}] on "
            f"{len(own)}"
            for method, own in ratios.items()
            if len(own)
        ]
        if told:
            sentences.append(
                "One solver at a time on one machine, all who finished agree on the errors of the "
                f"optimal tree of depth 4 on {(frame.loc[others, 'alike'] == 'yes').sum()} of "
                f"{len(others)} datasets; CPU seconds divided by ours, median [least, most] over "
                f"the datasets a solver finished: {', '.join(told)}."
            )
    return sentences


QUESTIONS = {120: answer}
