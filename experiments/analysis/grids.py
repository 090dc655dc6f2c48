"""Dataset x learner tables: cells over trials, ranks and summary lines over datasets.

In the paper's tables each learner is summarised over the datasets it has; in others over those
that all have, and the caption names the rest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
    AS_PRINTED,
    EMPTY,
    SUMMARY_COLUMNS,
    bracket_ranks,
    has,
    mean_of,
    over_datasets,
    population_std,
    shared_ranks,
    summary_line,
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
    columns = ["mean", "std", "n", "expected", "missing"]
    index = pd.MultiIndex.from_tuples(list(found), names=["dataset", "method"])
    return pd.DataFrame(list(found.values()), index=index if found else None, columns=columns)


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
    return _fill(table, protocol, found, tasks, table.methods, beside, TRIALS)


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
    found = found.copy()
    for place in theirs.loc[theirs["mean"].isna(), ["dataset", "method"]].itertuples(index=False):
        at = tuple(place)
        if at in found.index and not math.isnan(found.at[at, "mean"]):
            text = f"({found.at[at, 'mean']:.{decimals}f})"
            found.loc[[at], ["mean", "std", "n", "missing"]] = [math.nan, math.nan, 0, text]
    return found


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
    tasks = {slug: str(runs.datasets[slug]["task"]) for slug in order}
    shown = found[found.index.isin([(d, m) for d in order for m in methods])]
    trials = int(shown["expected"].max()) if len(shown) else 0
    return _fill(table, protocol, found, tasks, methods, (), trials)


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
                title=f"{title}, {experiment}, beyond the paper",
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


def _fill(
    table: Declared,
    protocol: str,
    found: pd.DataFrame,
    tasks: Mapping[str, str],
    methods: Sequence[str],
    beside: Sequence[str],
    trials: int,
) -> Grid:
    columns = [*methods, *beside]
    lines: list[dict[str, Any]] = []
    summary: list[dict[str, Any]] = []
    left_out: list[str] = []
    known = found.to_dict("index")
    for task in TASKS:
        rows = [slug for slug in tasks if tasks[slug] == task]
        block = [[known.get((slug, method), EMPTY) for method in columns] for slug in rows]
        for slug, row in zip(rows, block, strict=True):
            ranks = bracket_ranks(row[: len(methods)], table.smaller)
            ranks += [None] * len(beside)
            lines += [
                {"task": task, "dataset": slug, "method": method, **cell, "rank": rank}
                for method, cell, rank in zip(columns, row, ranks, strict=True)
            ]
        used = block
        if table.shared:
            have = [any(has(row[at]) for row in block) for at in range(len(columns))]
            whole = [
                all(has(c) for c, any_ in zip(row, have, strict=True) if any_) for row in block
            ]
            used = [row for row, ok in zip(block, whole, strict=True) if ok]
            left_out += [slug for slug, ok in zip(rows, whole, strict=True) if not ok]
        for name in table.summaries if rows else ():
            summary += [
                {"task": task, "statistic": name, "method": method, **statistic}
                for method, statistic in zip(
                    columns, summary_line(table, name, used, methods, beside), strict=True
                )
            ]
    order = ["task", "dataset", "method", "mean", "std", "n", "expected", "rank", "missing"]
    caption = table.caption or table.title
    if left_out:
        caption += f"; summaries without {', '.join(left_out)}, which not all learners have"
    return Grid(
        name=table.name,
        title=table.title,
        caption=caption,
        experiment=table.experiment,
        metric=table.metric,
        protocol=protocol,
        methods=tuple(columns),
        frame=pd.DataFrame(lines, columns=order).astype({"rank": "Int64"}),
        summary=pd.DataFrame(summary, columns=SUMMARY_COLUMNS).astype({"rank": "Int64"}),
        names=dict(table.names),
        printed=table.printed or table.summaries,
        smaller_is_better=table.smaller,
        decimals=table.decimals,
        std_decimals=table.decimals if table.std_decimals is None else table.std_decimals,
        summary_decimals=table.decimals
        if table.summary_decimals is None
        else table.summary_decimals,
        split_by_task=table.split_by_task,
        trials=trials,
    )


def mean_reciprocal_ranks(scores: pd.DataFrame, smaller: bool = False) -> pd.Series:
    """MRR of each column of a matrix (datasets x methods)."""
    rows = [[{"mean": value} for value in row] for row in scores.to_numpy(float)]
    ranks = [shared_ranks(row, smaller) for row in rows]
    values = [
        over_datasets(None if r is None else 1 / r for r in column)["value"]
        for column in (zip(*ranks, strict=True) if ranks else [()] * scores.shape[1])
    ]
    return pd.Series(values, index=scores.columns, dtype=float)
