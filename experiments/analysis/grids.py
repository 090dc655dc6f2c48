"""Dataset x learner tables: cells over trials, ranks and summary lines over datasets.

In the paper's tables each learner is summarised over the datasets it has; in others over those
that all have, and the caption names the rest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis.answer import Grid
from experiments.analysis.declared import (
    Declared,
    TableError,
    dataset_order,
    declarations,
    declared,
    learner_order,
)
from experiments.analysis.printed import TASKS, TRIALS, Printed, printed
from experiments.analysis.ranks import (
    bracket_ranks,
    contributions,
    mean_of,
    over_datasets,
    population_std,
)
from experiments.analysis.runs import Runs
from experiments.errors import did_you_mean
from experiments.runs.schema import METRICS

LONGEST_REASON = 12
"""Characters that fit into a cell; a longer reason is told elsewhere."""
REPEATS_ITSELF = ("skipped", "timeout", "memory")
"""How a run ends for reasons that lie in the learner and the dataset, not in the trial."""
NOT_A_TREE = "n/a"
"""Shown where a learner has a result but not this metric, e.g. the size of an ensemble."""
SEPARATE = ("seeds", "runtime", "quirks", "stability", "new-defaults")
"""Experiments whose runs are no trials of one cell, or which have tables of their own."""
AS_PRINTED = "paper, as printed"
"""The protocol of a table of the paper's own numbers."""


def cells_of(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Mean and population deviation over the runs that ended well, or why there are none.

    Parameters
    ----------
    rows : runs of one protocol and experiment (or others, of which each dataset and method is
        one cell).

    Returns
    -------
    DataFrame indexed by (dataset, method): mean, std, n (trials with a number), expected (trials
    planned), missing (what is shown instead of a number; empty while there may be one).
    """
    if metric not in rows:
        raise TableError(f"unknown metric {metric!r}; {did_you_mean(metric, METRICS)}")
    values, good = rows[metric].to_numpy(float), rows["status"].to_numpy() == "ok"
    good &= np.isfinite(values)
    ends = [rows[name].to_numpy() for name in ("status", "reason", "limit_value")]
    found = {}
    for place, at in rows.groupby(["dataset", "method"], sort=False).indices.items():
        numbers = values[at[good[at]]].tolist()
        if numbers:
            mean, std = mean_of(numbers), population_std(numbers)
            found[place] = (mean, std, len(numbers), len(at), "")
        else:
            reason = _reason(list(zip(*(column[at] for column in ends), strict=True)))
            found[place] = (math.nan, math.nan, 0, len(at), reason)
    index = pd.MultiIndex.from_tuples(list(found) or [("", "")], names=["dataset", "method"])
    rest = {"mean": float, "std": float, "n": int, "expected": int, "missing": object}
    made = pd.DataFrame(list(found.values()), index[: len(found)], list(rest))
    return made.astype(rest)


def _reason(planned: Sequence[tuple[str, str, float]]) -> str:
    """What to show when no run gave a number; empty while one still may.

    What refuses a dataset or exceeds its limits will do so in the open trials as well; after a
    crash or an error the others are waited for.
    """
    made = [end for end in planned if end[0]]
    if len(made) < len(planned) and not all(status in REPEATS_ITSELF for status, *_ in made):
        return ""
    texts = Counter(reason_text(*end) for end in made)
    return max(sorted(texts), key=texts.__getitem__, default="")


def reason_text(status: str, reason: str, limit: float) -> str:
    """The few characters that stand in a table for a run without a number."""
    if status == "ok":
        return NOT_A_TREE
    if status == "skipped" and len(reason) <= LONGEST_REASON:
        return reason
    if status == "timeout":
        seconds = 3600.0 if math.isnan(limit) else limit
        return f">{seconds / 60:g} min" if seconds >= 60 else f">{seconds:g} s"
    return status


@lru_cache(maxsize=512)
def cells(runs: Runs, protocol: str, experiment: str, metric: str) -> pd.DataFrame:
    """The cells of one experiment under one protocol; see ``cells_of``."""
    return cells_of(runs.of(protocol, experiment), metric)


# From cells to tables


@lru_cache(maxsize=256)
def grid(runs: Runs, name: str, protocol: str = "paper") -> Grid:
    """A table of ``grids.toml`` from the runs of one protocol."""
    table, paper = declared(name), printed()
    found = cells(runs, protocol, table.experiment, table.metric)
    if name in declarations()["table"]:
        return own_grid(runs, table, protocol)
    if name in declarations()["paper"] and protocol == "paper":
        found = _as_far_as_printed(found, paper.of(name), table.decimals)
    have = {method for (_, method), mean in found["mean"].items() if not math.isnan(mean)}
    beside = tuple(method for method in table.beside if method in have)
    tasks = paper.datasets["task"].to_dict()
    return _fill(table, protocol, found, tasks, table.methods, beside, TRIALS, runs.name)


@lru_cache(maxsize=16)
def printed_grid(name: str, paper: Printed | None = None) -> Grid:
    """The same table from the paper's printed cells, its summary lines recomputed from them."""
    paper, table = paper or printed(), declared(name)
    found = paper.of(name).set_index(["dataset", "method"]).assign(expected=TRIALS)
    tasks = paper.datasets["task"].to_dict()
    return _fill(table, AS_PRINTED, found, tasks, table.methods, (), TRIALS)


def _as_far_as_printed(found: pd.DataFrame, theirs: pd.DataFrame, decimals: int) -> pd.DataFrame:
    """In brackets, and in no rank or mean, where the paper has no number to compare with.

    A faster solver would else bring a dataset into a column's ranks that the paper's lack.
    """
    theirs = theirs[theirs["mean"].isna()].set_index(["dataset", "method"])
    more = found.index.isin(theirs.index) & found["mean"].notna()
    brackets = found["mean"].map(lambda mean: f"({mean:.{decimals}f})")
    return found.assign(
        mean=found["mean"].mask(more),
        std=found["std"].mask(more),
        n=found["n"].mask(more, 0),
        missing=found["missing"].mask(more, brackets),
    )


def check(table: Declared, runs: Runs) -> None:
    """Refuse a table of names that the store does not know, with what may be meant."""
    frame = runs.frame
    metrics = [name for name, kind in frame.dtypes.items() if kind.kind == "f"]
    experiments = {each.experiment for each in declarations()["paper"].values()}
    known = {
        "method": ((*table.methods, *table.beside), {*frame["method"], *runs.learners}),
        "experiment": ((table.experiment,), {*frame["experiment"], *experiments}),
        "protocol": (table.protocols, {*frame["protocol"], "paper", "clean"}),
        "metric": ((table.metric,), {*metrics} - {"limit_value"}),
    }
    for what, (given, names) in known.items():
        for name in given:
            if name not in names:
                meant = did_you_mean(name, sorted(names))
                raise TableError(f"table {table.name}: unknown {what} {name!r}; {meant}")


def own_grid(
    runs: Runs, table: Declared, protocol: str, datasets: Iterable[str] | None = None
) -> Grid:
    """A table without a printed counterpart: rows and columns are what was planned.

    Parameters
    ----------
    datasets : rows; all that the table's methods were planned on if not given.
    """
    found = cells(runs, protocol, table.experiment, table.metric)
    places = [(dataset, method) for dataset, method in found.index]
    methods = table.methods or tuple(learner_order(method for _, method in places))
    rows = datasets or (dataset for dataset, method in places if method in methods)
    order = dataset_order(rows)
    if unknown := [slug for slug in order if slug not in runs.datasets]:
        raise TableError(f"the store does not say what dataset {unknown[0]!r} is: plan it again")
    tasks = {slug: str(runs.datasets[slug]["task"]) for slug in order}
    shown = found[found.index.isin([(d, m) for d in order for m in methods])]
    trials = int(shown["expected"].max()) if len(shown) else 0
    return _fill(table, protocol, found, tasks, methods, (), trials, runs.name)


def other_grids(runs: Runs, protocol: str) -> list[Grid]:
    """Test F1 and size of every experiment with a dataset or learner that the suite's tables lack.

    A new dataset has all learners that were run on it beside one another; a new learner has the
    others on the datasets on which it was run.
    """
    paper, named, grids = set(printed().datasets.index), declarations()["learners"], []
    experiments = {e for p, e in runs.places if p == protocol and not e.startswith(SEPARATE)}
    for experiment in sorted(experiments):
        places = runs.of(protocol, experiment)[["dataset", "method"]].drop_duplicates()
        new = ~places["dataset"].isin(paper) | ~places["method"].isin(named)
        rows = dataset_order(places.loc[new, "dataset"])
        columns = learner_order(places.loc[places["dataset"].isin(rows), "method"])
        for metric, title, decimals in (("test_f1", "Test F1", 3), ("tree_size", "Tree size", 2)):
            table = Declared(
                name=f"others-{experiment}-{metric.replace('_', '-')}",
                title=f"{title}, {experiment.replace('-', ' ')}, beyond the paper",
                experiment=experiment,
                metric=metric,
                methods=tuple(columns),
                decimals=decimals,
                summary_decimals=3 if metric == "test_f1" else decimals,
            )
            made = own_grid(runs, table, protocol, rows) if rows else None
            if made is not None and has_results(made):
                grids.append(made)
    return grids


def has_results(table: Grid) -> bool:
    return bool(table.frame["mean"].notna().any())


def matrix(table: Grid, task: str | None = None) -> pd.DataFrame:
    """Means, datasets x methods, in the order of the table; NaN where there is none."""
    frame = table.frame if task is None else table.frame[table.frame["task"] == task]
    means = frame["mean"].where(frame["missing"] == "")
    wide = frame.assign(mean=means).pivot(index="dataset", columns="method", values="mean")
    return wide.reindex(index=list(dict.fromkeys(frame["dataset"])), columns=list(table.methods))


def added(table: Grid, task: str, statistic: str) -> pd.DataFrame:
    """What each dataset of a task adds to a summary line of a table; see ``contributions``."""
    scores = matrix(table, task)
    if statistic == "Mean":
        return scores
    frame = table.frame[table.frame["task"] == task].astype({"rank": float})
    ranks = frame.pivot(index="dataset", columns="method", values="rank").reindex_like(scores)
    ties = ranks if table.protocol == AS_PRINTED else None
    scores = scores.where(ranks.notna())
    return contributions(scores, statistic, table.smaller_is_better, ties)


def _fill(
    table: Declared,
    protocol: str,
    found: pd.DataFrame,
    tasks: Mapping[str, str],
    methods: Sequence[str],
    beside: Sequence[str],
    trials: int,
    name_of: Callable[[str], str] = str,
) -> Grid:
    """A table from its cells: ranks of ``methods``, and summary lines."""
    rows = [slug for task in TASKS for slug in tasks if tasks[slug] == task]
    columns = [*methods, *beside]
    places = pd.MultiIndex.from_product([rows, columns], names=["dataset", "method"])
    frame = found.reindex(places).fillna({"n": 0, "expected": 0, "missing": ""})
    wide = {
        name: pd.DataFrame(
            frame[name].to_numpy(float).reshape(len(rows), len(columns)), rows, columns
        )
        for name in ("mean", "std", "rank")
        if name in frame
    }
    ties = wide["rank"][list(methods)] if "rank" in wide else None
    ranks = bracket_ranks(wide["mean"][list(methods)], table.smaller_is_better, ties).reindex(
        columns=columns
    )
    frame = frame.reset_index()
    frame = frame.assign(rank=ranks.to_numpy().ravel(), task=frame["dataset"].map(tasks))
    summary: list[dict[str, Any]] = []
    caption = table.caption
    for task in TASKS:
        block = [slug for slug in rows if tasks[slug] == task]
        if table.shared and block:
            means = wide["mean"].loc[block].dropna(axis=1, how="all")
            whole = means.index[means.notna().all(axis=1)]
            if left_out := [name_of(slug) for slug in block if slug not in whole]:
                names = ", ".join(left_out)
                caption += f"; summaries without {names}, which not all learners have"
            block = list(whole)
        part = {name: values.loc[block] for name, values in wide.items()}
        for name in table.summaries if task in tasks.values() else ():
            line = _summary(table, name, part, methods)
            summary += [{"task": task, "statistic": name, **statistic} for statistic in line]
    order = ["task", "dataset", "method", "mean", "std", "n", "expected", "rank", "missing"]
    lines = ["task", "statistic", "method", "value", "spread", "n", "rank"]
    declared_too = {each.name for each in fields(Grid)} & {each.name for each in fields(Declared)}
    given = {name: getattr(table, name) for name in declared_too}
    given |= {"caption": caption, "protocol": protocol, "methods": tuple(columns)}
    return Grid(
        **given,
        frame=frame[order].astype({"n": int, "expected": int, "rank": "Int64"}),
        summary=pd.DataFrame(summary, columns=lines).astype({"rank": "Int64"}),
        trials=trials,
    )


def _summary(
    table: Declared, name: str, block: Mapping[str, pd.DataFrame], methods: Sequence[str]
) -> list[dict[str, Any]]:
    """One summary line, a statistic with its rank per column; those beside have a Mean alone."""
    ranked = list(methods)
    scores = block["mean"] if name == "Mean" else block["mean"][ranked]
    ties = block["rank"][ranked] if "rank" in block else None
    values = contributions(scores, name, table.smaller_is_better, ties)
    line = {}
    for method in block["mean"]:
        omitted = method not in values or (name == "Mean" and method in table.mean_omits)
        line[method] = over_datasets(() if omitted else values[method])
        if name == "Wins" and line[method]["n"]:
            line[method] |= {"value": float(values[method].sum()), "spread": math.nan}
        if name == "Mean" and table.mean_spread == "trials" and line[method]["n"]:
            line[method]["spread"] = mean_of(block["std"][method].dropna().tolist())
    standing = pd.DataFrame([[line[method]["value"] for method in ranked]], columns=ranked)
    smaller = {"Mean": table.smaller_is_better, "MRD": True}.get(name, False)
    ranks = bracket_ranks(standing, smaller).iloc[0]
    return [{"method": m, **line[m], "rank": ranks.get(m, math.nan)} for m in line]
