"""The paper's tables, filled from the runs of each protocol, and tables of our own beside them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from experiments.analysis.answer import Answer, Format, Grid, Table
from experiments.analysis.comparisons import compared
from experiments.analysis.declared import declarations, declared
from experiments.analysis.grids import (
    added,
    cells,
    grid,
    has_results,
    matrix,
    other_grids,
    own_grid,
)
from experiments.analysis.printed import TASK_NAMES, TASKS, TUNED_METHODS, Printed
from experiments.analysis.questions import stability
from experiments.analysis.ranks import over_datasets
from experiments.analysis.runs import Runs
from experiments.analysis.verdicts import verdicts, with_verdicts

ORDER = 15
TESTED = ("test-f1-tuned", "test-f1-default")
"""The tables that are compared over datasets."""
REFITTED = ("test-f1-tuned", "ablation-tuned")
"""Tables whose cells are test F1 of tuned GradTree, of which refits tell how stable they are."""


def answer(runs: Runs, printed: Printed) -> Answer | None:
    if not len(runs.frame):
        return None
    tables = [table for protocol in protocols(runs) for table in _tables(runs, printed, protocol)]
    whole = [table for table in tables if isinstance(table, Grid) and table.protocol == "paper"]
    cell = whole[0].frame
    finished = (cell["expected"] > 0) & (cell["n"] == cell["expected"])
    done = int((finished | (cell["missing"] != "")).sum())
    sentences = (
        f"Every table of the paper, made from the runs here; {done} of the {len(cell)} cells of "
        "the main one have all their trials or cannot have any.",
        "Under protocol `paper` ranks and means follow the paper's rules, and a number that the "
        "paper lacks stands in brackets and in no rank.",
        "In tables with other learners, means and ranks are over the datasets that all of them "
        "have; the captions name those left out.",
    )
    shown = ("test-f1-tuned", "test-f1-default", "summary", "ablation-summary", "datasets")
    return Answer("tables", "What is in the tables?", sentences, tuple(tables), shown=shown)


def protocols(runs: Runs) -> list[str]:
    """The paper's protocol, and others with runs of an experiment that has tables."""
    kinds = (declarations()[kind].values() for kind in ("paper", "beyond"))
    experiments = {each.experiment for tables in kinds for each in tables}
    made = {p for (p, e), part in runs.places.items() if e in experiments and any(part["status"])}
    return ["paper", *sorted(made - {"paper"}, key=lambda name: (name != "clean", name))]


def _tables(runs: Runs, printed: Printed, protocol: str) -> Iterator[Table | Grid]:
    ours = protocol == "paper"
    for name in declarations()["paper"]:
        made = grid(runs, name, protocol)
        if ours:
            yield _beside_paper(runs, printed, made)
        elif has_results(made):
            yield made
    for name, table in declarations()["beyond"].items():
        made = grid(runs, name, protocol)
        new = [m for m in table.methods if not runs.learners.get(m, {}).get("in_paper", True)]
        if matrix(made)[new or list(table.methods)].notna().any(axis=None):
            yield made
    own = [own_grid(runs, each, protocol) for each in declarations()["table"].values()]
    yield from (each for each in (*own, *other_grids(runs, protocol)) if has_results(each))
    for name in TESTED:
        yield from compared(runs, grid(runs, name, protocol))
    small = [
        summary(runs, protocol),
        ablation_summary(runs, protocol),
        penalty(runs, printed, protocol),
        *(hyperparameters(runs, printed, protocol, method) for method in TUNED_METHODS),
    ]
    if ours:
        small += [datasets(runs, printed), inconsistencies(runs, printed)]
    yield from (table for table in small if table is not None and len(table.frame))


def _beside_paper(runs: Runs, printed: Printed, made: Grid) -> Grid:
    """A table with the printed cells, verdicts and stable trials beside ours.

    Where the paper has no number, ours stands in the CSV too, without a rank.
    """
    made = with_verdicts(made, verdicts(runs, printed), printed)
    frame, caption = made.frame, made.caption
    if made.name in REFITTED:
        refits = stability.refits(runs, "stability")
        found = stability.stability(refits, printed)
        if len(found):
            slugs = {name: slug for slug, name in printed.datasets["name"].items()}
            found = found.assign(dataset=found["Dataset"].map(slugs), method=stability.METHOD)
            found = found.rename(columns={"stable": "stable_trials", "trials": "refitted_trials"})
            columns = ["dataset", "method", "stable_trials", "refitted_trials"]
            frame = frame.merge(found[columns], on=["dataset", "method"], how="left")
    every = cells(runs, made.protocol, made.experiment, made.metric)
    seconds = cells(runs, made.protocol, "runtime", "wall_seconds")["mean"]
    for at in frame.index[frame["missing"].str.startswith("(")]:
        place = (frame.at[at, "dataset"], frame.at[at, "method"])
        for column in ("mean", "std", "n"):
            frame.loc[at, column] = every.at[place, column]
        here = f", here {seconds[place]:.0f} s" if place in seconds else ""
        told = f"{frame.at[at, 'paper_missing']} in the paper{here}"
        caption += f"; {runs.name(place[1])} on {runs.name(place[0])}: {told}"
    return replace(made, frame=frame, caption=caption)


# The paper's small tables


def summary(runs: Runs, protocol: str) -> Table:
    """Table 3: tree size, train-test difference and MRR with default hyperparameters."""
    size, train, test, default = (
        grid(runs, name, protocol)
        for name in ("tree-size-tuned", "train-f1-tuned", "test-f1-tuned", "test-f1-default")
    )
    lines: dict[str, Any] = {}
    for task in TASKS:
        lines[f"Tree size: {TASK_NAMES[task]}"] = added(size, task, "Mean")
    for task in TASKS:
        gap = added(train, task, "Mean") - added(test, task, "Mean")
        lines[f"Train-test difference: {TASK_NAMES[task]}"] = gap
    for task in TASKS:
        lines[f"Default MRR: {TASK_NAMES[task]}"] = added(default, task, "MRR")
    rows = [
        {"Method": runs.name(method)}
        | {name: over_datasets(values[method])["value"] for name, values in lines.items()}
        for method in size.methods
    ]
    return Table(
        "summary",
        "Summary",
        "Mean tree size and mean difference between train and test F1 with tuned "
        "hyperparameters, and MRR with default hyperparameters",
        pd.DataFrame(rows),
        protocol,
        {name: Format(0) for name in lines if name.startswith("Tree")}
        | {name: Format(best="max") for name in lines if name.startswith("Default")},
    )


def ablation_summary(runs: Runs, protocol: str) -> Table | None:
    """Table 4: mean test F1 of the ways to select the feature of a split."""
    made = {name: grid(runs, f"ablation-{name}", protocol) for name in ("default", "tuned")}
    if not any(has_results(each) for each in made.values()):
        return None
    methods = dict.fromkeys(method for each in made.values() for method in each.methods)
    names = {m: declared("ablation-tuned").names.get(m, runs.name(m)) for m in methods}
    rows = []
    for setting, each in made.items():
        for task in TASKS:
            line = each.summary[
                (each.summary["statistic"] == "Mean") & (each.summary["task"] == task)
            ].set_index("method")["value"]
            label = f"{setting.capitalize()}, {TASK_NAMES[task].lower()}"
            rows.append({"Setting": label} | {names[m]: line.get(m, math.nan) for m in methods})
    return Table(
        "ablation-summary",
        "Ablation summary",
        "Mean test F1 of three ways to select the feature of a split"
        + ("; the last column is not in the paper" if len(methods) > 3 else ""),
        pd.DataFrame(rows),
        protocol,
        {names[m]: Format(best="max") for m in declared("ablation-tuned").methods},
        best_in_row="max",
    )


def penalty(runs: Runs, printed: Printed, protocol: str) -> Table | None:
    """GeneticTree with and without its complexity penalty, means over datasets."""
    variants = {
        "with penalty": ("tuned", "genetictree"),
        "without": ("no-penalty", "genetictree-no-penalty"),
    }
    rows = []
    for task in TASKS:
        row: dict[str, Any] = {"Task": TASK_NAMES[task]}
        for title, metric in (("Test F1", "test_f1"), ("Tree size", "tree_size")):
            for variant, (experiment, method) in variants.items():
                means = cells(runs, protocol, experiment, metric)["mean"]
                slugs = printed.datasets.index[printed.datasets["task"] == task]
                values = [means.get((slug, method), math.nan) for slug in slugs]
                row[f"{title}: {variant}"] = over_datasets(values)["value"]
        rows.append(row)
    frame = pd.DataFrame(rows)
    if frame["Test F1: without"].isna().all():
        return None
    name = runs.name("genetictree")
    return Table(
        "genetictree-penalty",
        f"{name} without complexity penalty",
        f"{name} with and without its complexity penalty, means over datasets",
        frame,
        protocol,
        {column: Format(0) for column in frame if column.startswith("Tree size")},
    )


def hyperparameters(runs: Runs, printed: Printed, protocol: str, method: str) -> Table | None:
    """Published values of every dataset; further columns for ours where a search was run.

    The learners' own names of parameters differ from the printed ones, so ours stand under theirs.
    """
    published = printed.hyperparameters[method]
    found = runs.winners[runs.winners["protocol"] == protocol]
    if protocol != "paper" and found.empty:
        return None
    ours = {
        row.dataset: {
            **json.loads(row.params),
            "cross-validated F1": row.score,
            "candidates": row.trials,
        }
        for row in found[found["method"] == method].itertuples()
    }
    names = sorted({name for values in ours.values() for name in values})
    rows = []
    for slug, name in printed.datasets["name"].items():
        if slug in published.index:
            prefix = "Published: " if ours else ""
            row = {"Dataset": name}
            row |= {f"{prefix}{key}": text for key, text in published.loc[slug].items()}
            own = ours.get(str(slug))
            row |= {f"Ours: {key}": None if own is None else _text(own.get(key)) for key in names}
            rows.append(row)
    title = runs.name(method)
    return Table(
        f"hyperparameters-{method}",
        f"Hyperparameters of {title}",
        f"Tuned hyperparameters of {title}"
        + (", published and found by our search" if ours else ", as published"),
        pd.DataFrame(rows),
        protocol,
        {name: Format(kind="text") for name in rows[0]},
    )


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def datasets(runs: Runs, printed: Printed) -> Table:
    """One row per dataset; those that differ from their printed line are named in a note."""
    rows, differing = [], []
    for theirs in printed.datasets.itertuples():
        ours = runs.datasets.get(theirs.slug, {})
        counts = ours.get("class_counts", [])
        rows.append(
            {
                "Dataset": theirs.name,
                "Task": TASK_NAMES[theirs.task],
                "Printed: features": theirs.n_features,
                "Printed: rows": theirs.n_samples,
                "Printed: rows by class": theirs.class_counts,
                "Loaded: features": ours.get("n_features"),
                "Loaded: rows": ours.get("n_rows"),
                "Loaded: rows by class": "/".join(map(str, counts)),
                "classes": theirs.n_classes,
                "Source": theirs.source,
            }
        )
        # the order of classes is no part of it: the paper mixes conventions
        printed_facts = (
            theirs.n_features,
            theirs.n_samples,
            sorted(theirs.class_counts.split("/")),
        )
        loaded = (ours.get("n_features"), ours.get("n_rows"), sorted(map(str, counts)))
        if ours and printed_facts != loaded:
            differing.append(theirs.name)
    counted = [f"{side}: {what}" for side in ("Printed", "Loaded") for what in ("features", "rows")]
    return Table(
        "datasets",
        "Datasets",
        "The datasets as printed in the paper and as loaded; classes in label order",
        pd.DataFrame(rows),
        "paper",
        {name: Format(kind="count") for name in (*counted, "classes")},
        (f"Not loaded as printed: {', '.join(differing)}.",) if differing else (),
    )


def inconsistencies(runs: Runs, printed: Printed) -> Table:
    known = printed.inconsistencies
    lines = known["statistic"].where(known["statistic"] != "", known["dataset"].map(runs.name))
    frame = pd.DataFrame(
        {
            "Table": known["table"].map(lambda name: declared(name).title),
            "Task": known["task"].map(TASK_NAMES),
            "Line": lines,
            "Method": known["method"].map(runs.name),
            "Figure": known["field"],
            "printed": known["printed"],
            "from the cells": known["recomputed"],
            "why": known["reason"],
        }
    )
    return Table(
        "paper-inconsistencies",
        "Inconsistencies of the paper",
        "Printed numbers that contradict the paper's own printed cells",
        frame,
        "paper",
        {name: Format(kind="text") for name in frame},
    )
