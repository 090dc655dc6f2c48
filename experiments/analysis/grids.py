"""Dataset x learner tables, as ``grids.toml`` or a plug-in declares them: cells over trials, ranks
and summary lines over datasets. In the paper's tables each learner is summarised over the datasets
it has; in others over those that all have, and the caption names the rest.
"""

import math
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from statistics import mode
from typing import Any, Literal

import numpy as np
import pandas as pd

from experiments.analysis import stats
from experiments.analysis.answer import Declared, Grid
from experiments.analysis.printed import TASKS, TRIALS, Printed, printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import contributions, mean_of, over_datasets
from experiments.errors import UserError, check_fields, check_names, did_you_mean
from experiments.runs.schema import METRICS

KINDS = ("paper", "beyond", "table")
SUMMARIES = ("Mean", "MRR", "MRD", "Wins")
LONGEST_REASON = 12
"""Characters that fit into a cell; a longer reason is told elsewhere."""
REPEATS_ITSELF = ("skipped", "timeout", "memory")
"""How a run ends for reasons that lie in the learner and the dataset, not in the trial."""
NOT_A_TREE = "n/a"
"""Shown where a learner has a result but not this metric, e.g. the size of an ensemble."""
SEPARATE = ("seeds", "runtime", "quirks", "stability", "new-defaults", "same-story", "regression")
"""Experiments whose runs are no trials of one cell, or which have tables of their own."""
AS_PRINTED = "paper, as printed"
"""The protocol of a table of the paper's own numbers."""
CELL = {"mean": float, "std": float, "n": int, "expected": int, "missing": object, "trials": object}


@contextmanager
def told_at(place: str) -> Iterator[None]:
    """Say of every mistake in what was declared where that stands."""
    try:
        yield
    except (UserError, ValueError) as mistake:
        raise UserError(f"{place}: {mistake}") from None


def declare(entry: Mapping[str, Any]) -> Declared:
    """A table from a record of TOML or of a plug-in; what is not understood is refused."""
    with told_at(f"table {entry.get('name', 'without a name')}"):
        check_fields("table", Declared, entry)
        check_names("summary", entry.get("summaries", ()), SUMMARIES)
    lists = {k: tuple(v) for k, v in entry.items() if isinstance(v, list | tuple)}
    return Declared(**{**entry, **lists})


@cache
def _content() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


@cache
def declarations() -> dict[str, dict[str, Declared]]:
    """``paper``, ``beyond`` and ``table``: tables by name."""
    every = {kind: [{"shared": kind != "paper", **e} for e in _content()[kind]] for kind in KINDS}
    return {kind: {e["name"]: declare(e) for e in entries} for kind, entries in every.items()}


def declared(name: str) -> Declared:
    """A table of ``grids.toml``."""
    return next(tables[name] for tables in declarations().values() if name in tables)


@cache
def _places(kind: str) -> dict[str, int]:
    first = printed().datasets.index if kind == "datasets" else ()
    return {slug: at for at, slug in enumerate([*first, *_content()[kind]])}


def in_order(slugs: Iterable[str], kind: str = "learners") -> list[str]:
    """Learners by column, or ``datasets`` by row; those that the suite does not name come last."""
    place = _places(kind)
    return sorted(set(slugs), key=lambda slug: (place.get(slug, len(place)), slug))


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
        check_names(what, given, sorted(names), f"table {table.name}: ")


def cells_of(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """By dataset and method: mean and population deviation of the runs that ended well. ``n``
    trials have a number, ``expected`` are planned; ``missing`` says why there is and will be none.
    """
    if metric not in rows:
        raise UserError(f"unknown metric {metric!r}; {did_you_mean(metric, METRICS)}")
    values, good = rows[metric].to_numpy(float), rows["status"].to_numpy() == "ok"
    good &= np.isfinite(values)
    trials = rows["trial"].to_numpy()
    ends = [rows[name].to_numpy() for name in ("status", "reason", "limit_value")]
    places, found = rows.groupby(["dataset", "method"], sort=False).indices, []
    for at in places.values():
        mean, std, reason, numbers = math.nan, math.nan, "", values[at[good[at]]].tolist()
        if numbers:
            mean, std = mean_of(numbers), stats.population_std(numbers)
        else:
            reason = _reason(list(zip(*(column[at] for column in ends), strict=True)))
        found.append((mean, std, len(numbers), len(at), reason, tuple(trials[at].tolist())))
    index = pd.MultiIndex.from_tuples(list(places), names=["dataset", "method"])
    return pd.DataFrame(found, index, list(CELL)).astype(CELL)


def _reason(planned: Sequence[tuple[str, str, float]]) -> str:
    """What to show when no run gave a number. What refuses a dataset or exceeds its limits will do
    so in the open trials as well; after a crash or an error the others are waited for.
    """
    made = [end for end in planned if end[0]]
    if len(made) < len(planned) and not all(status in REPEATS_ITSELF for status, *_ in made):
        return ""
    return mode(sorted(reason_text(*end) for end in made)) if made else ""


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


@lru_cache(maxsize=256)
def grid(runs: Runs, name: str, protocol: str = "paper") -> Grid:
    """A table of ``grids.toml`` from the runs of one protocol."""
    table, paper = declared(name), printed()
    found = cells(runs, protocol, table.experiment, table.metric)
    if name in declarations()["paper"] and protocol == "paper":
        found = _as_far_as_printed(found, paper.of(name), table.decimals)
    have = {method for (_, method), mean in found["mean"].items() if not math.isnan(mean)}
    table = replace(table, beside=tuple(each for each in table.beside if each in have))
    return _fill(table, protocol, found, paper.datasets["task"].to_dict(), TRIALS, runs.name)


@lru_cache(maxsize=16)
def printed_grid(name: str, paper: Printed | None = None) -> Grid:
    """The same table from the paper's printed cells, its summary lines recomputed from them."""
    paper, table = paper or printed(), replace(declared(name), beside=())
    found = paper.of(name).set_index(["dataset", "method"]).assign(expected=TRIALS)
    return _fill(table, AS_PRINTED, found, paper.datasets["task"].to_dict(), TRIALS)


def _as_far_as_printed(found: pd.DataFrame, theirs: pd.DataFrame, decimals: int) -> pd.DataFrame:
    """In brackets, and in no rank or mean, where the paper has no number: a faster solver would
    else bring a dataset into a column's ranks that the paper's lack.
    """
    theirs = theirs[theirs["mean"].isna()].set_index(["dataset", "method"])
    more = found.index.isin(theirs.index) & found["mean"].notna()
    brackets = found["mean"].map(lambda mean: f"({mean:.{decimals}f})")
    blank = {name: found[name].mask(more) for name in ("mean", "std")}
    missing = found["missing"].mask(more, brackets)
    return found.assign(**blank, n=found["n"].mask(more, 0), missing=missing)


def own_grid(
    runs: Runs, table: Declared, protocol: str, datasets: Iterable[str] | None = None
) -> Grid:
    """A table without a printed counterpart, of the datasets given or all that were planned."""
    found = cells(runs, protocol, table.experiment, table.metric)
    methods = table.methods or tuple(in_order(found.index.get_level_values("method")))
    planned = found[found.index.isin(methods, level="method")]
    order = in_order(datasets or planned.index.get_level_values("dataset"), "datasets")
    if unknown := [slug for slug in order if slug not in runs.datasets]:
        raise UserError(f"the store does not say what dataset {unknown[0]!r} is: plan it again")
    tasks = {slug: str(runs.datasets[slug]["task"]) for slug in order}
    trials = max(planned.loc[planned.index.isin(order, level="dataset"), "expected"], default=0)
    table = replace(table, methods=tuple(methods), beside=())
    return _fill(table, protocol, found, tasks, trials, runs.name)


def other_grids(runs: Runs, protocol: str) -> list[Grid]:
    """Test F1 and size of every experiment with a dataset or learner that our tables lack."""
    paper, named, grids = set(printed().datasets.index), _places("learners"), []
    for experiment in sorted(e for p, e in runs.places if p == protocol):
        if experiment.startswith(SEPARATE):
            continue
        places = runs.of(protocol, experiment)[["dataset", "method"]].drop_duplicates()
        new = ~places["dataset"].isin(paper) | ~places["method"].isin(named)
        rows = in_order(places.loc[new, "dataset"], "datasets")
        columns = in_order(places.loc[places["dataset"].isin(rows), "method"])
        for metric, title, decimals in (("test_f1", "Test F1", 3), ("tree_size", "Tree size", 2)):
            table = Declared(
                name=f"others-{experiment}-{metric.replace('_', '-')}",
                title=f"{title}, {experiment.replace('-', ' ')}, beyond the paper",
                caption=f"{title}, experiment {experiment}: datasets and learners beyond the paper",
                experiment=experiment,
                metric=metric,
                methods=tuple(columns),
                decimals=decimals,
            )
            grids += [own_grid(runs, table, protocol, rows)] if rows else []
    return [grid for grid in grids if has_results(grid)]


def has_results(table: Grid) -> bool:
    return bool(table.frame["mean"].notna().any())


def wide(table: Grid, column: str = "mean", task: str = "") -> pd.DataFrame:
    """A column of cells as datasets x methods, in the order of the table."""
    frame = table.frame
    return _wide(frame[frame["task"] == task] if task else frame, column, table.methods)


def _wide(frame: pd.DataFrame, column: str, methods: Sequence[str]) -> pd.DataFrame:
    """The same of a frame with a line for each pair, in order."""
    rows, values = frame["dataset"].unique(), frame[column]
    numbers = values if values.dtype == object else values.to_numpy(float, na_value=math.nan)
    return pd.DataFrame(np.reshape(numbers, (len(rows), len(methods))), rows, list(methods))


def matrix(table: Grid, task: str = "") -> pd.DataFrame:
    """Means, datasets x methods; NaN where there is none, or one that the paper lacks."""
    return wide(table, "mean", task).where(wide(table, "missing", task) == "")


def added(table: Grid, task: str, statistic: str) -> pd.DataFrame:
    """What each dataset of a task adds to a summary line of a table; see ``contributions``."""
    scores, ranks = matrix(table, task), wide(table, "rank", task)
    ranked = scores if statistic == "Mean" else scores.where(ranks.notna())
    ties = ranks if table.protocol == AS_PRINTED else None
    return contributions(ranked, statistic, table.smaller_is_better, ties)


def _fill(
    table: Declared,
    protocol: str,
    found: pd.DataFrame,
    tasks: Mapping[str, str],
    trials: int,
    name_of: Callable[[str], str] = str,
) -> Grid:
    """A table from its cells: ranks of its methods, and summary lines."""
    order = (*TASKS, "regression")
    rows = sorted(tasks, key=lambda slug: order.index(tasks[slug]))
    columns, ranked = [*table.methods, *table.beside], list(table.methods)
    places = pd.MultiIndex.from_product([rows, columns], names=["dataset", "method"])
    frame = found.reindex(places).fillna({"n": 0, "expected": 0, "missing": ""}).reset_index()
    means, stds = (_wide(frame, name, columns) for name in ("mean", "std"))
    ties = _wide(frame, "rank", columns)[ranked] if "rank" in frame else None
    alike: Literal["first", "min"] = "first" if ties is None else "min"  # printed ties are shared
    ranks = stats.ranks_of(means[ranked], table.smaller_is_better, ties, alike)
    ranks = ranks.reindex(columns=columns).to_numpy().ravel()
    frame = frame.assign(rank=ranks, task=frame["dataset"].map(tasks))
    summary = []
    caption = table.caption
    for task in dict.fromkeys(tasks[slug] for slug in rows):
        block = [slug for slug in rows if tasks[slug] == task]
        if table.shared:
            whole = means.loc[block].dropna(axis=1, how="all").dropna().index
            if left_out := ", ".join(name_of(slug) for slug in block if slug not in whole):
                caption += f"; summaries without {left_out}, which not all learners have"
            block = list(whole)
        part, broken = means.loc[block], None if ties is None else ties.loc[block]
        for name in table.summaries:
            lines = _summary(table, name, part, stds.loc[block], broken)
            summary += [{"task": task, "statistic": name, **line} for line in lines]
    first = ["task", "dataset", "method", "mean", "std", "n", "expected", "rank", "missing"]
    names = ["task", "statistic", "method", "value", "spread", "n", "rank"]
    given = {**vars(table), "caption": caption, "methods": tuple(columns)}
    return Grid(
        **given,
        protocol=protocol,
        frame=frame[first].astype({"n": int, "expected": int, "rank": "Int64"}),
        summary=pd.DataFrame(summary, columns=names).astype({"rank": "Int64"}),
        trials=trials,
    )


def _summary(
    table: Declared, name: str, means: pd.DataFrame, stds: pd.DataFrame, ties: pd.DataFrame | None
) -> Iterator[dict[str, Any]]:
    """One summary line, a statistic with its rank per column; those beside have a Mean alone."""
    ranked, is_mean = list(table.methods), name == "Mean"
    scores = means if is_mean else means[ranked]
    values = contributions(scores, name, table.smaller_is_better, ties)
    if is_mean:
        values = values.drop(columns=list(table.mean_omits), errors="ignore")
    found = {m: over_datasets(values[m].tolist() if m in values else ()) for m in means}
    for method, line in found.items():
        if name == "Wins" and line["n"]:
            line |= {"value": float(values[method].sum()), "spread": math.nan}
        if is_mean and table.mean_spread == "trials":
            known = stds[method].dropna().tolist()
            line["spread"] = mean_of(known) if known else math.nan
    smaller = table.smaller_is_better if is_mean else name == "MRD"
    order = pd.Series({method: found[method]["value"] for method in ranked}, dtype=float)
    places = order.rank(method="first", ascending=smaller)
    yield from ({"method": m, **line, "rank": places.get(m)} for m, line in found.items())
