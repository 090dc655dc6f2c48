"""Dataset x learner tables: cells over trials, ranks and summary lines over datasets.

The statistics are the paper's: the rank in brackets breaks ties in column order; MRR is the mean
of 1/rank where ties share the better rank; MRD is the mean of (best - x) / x, from means rounded to
the printed digits; the deviations of MRR, MRD and Mean are sample deviations over datasets. In the
paper's tables each learner is summarised over the datasets it has; in others over those that all
have. What the tables are is declared in ``grids.toml``.
"""

from __future__ import annotations

import difflib
import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.analysis.answer import Grid
from experiments.analysis.printed import TASKS, TRIALS, Printed, printed
from experiments.analysis.runs import Runs
from experiments.runs.schema import BY_NAME

DECLARATIONS = Path(__file__).with_name("grids.toml")
SUMMARIES = ("Mean", "MRR", "MRD", "Wins")
MRD_DECIMALS = 3
LONGEST_REASON = 12
"""Characters that fit into a cell; a longer reason is told elsewhere."""
REPEATS_ITSELF = ("skipped", "timeout", "memory")
"""How a run ends for reasons that lie in the learner and the dataset, not in the trial."""
NOT_A_TREE = "n/a"
"""Shown where a learner has a result but not this metric, e.g. the size of an ensemble."""
SEPARATE = ("seeds", "runtime", "quirks", "stability", "new-defaults")
"""Experiments whose runs are no trials of one cell, or which have tables of their own."""
AS_PRINTED = "paper, as printed"


class TableError(ValueError):
    """A declared table that cannot be made; the message says what is wrong and what is known."""


@dataclass(frozen=True)
class Declared:
    """One table as declared; ``grids.toml`` explains the fields."""

    name: str
    title: str
    experiment: str
    metric: str
    caption: str = ""
    methods: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    summaries: tuple[str, ...] = ("Mean", "MRR")
    printed: tuple[str, ...] = ()
    mean_spread: str = "datasets"
    mean_omits: tuple[str, ...] = ()
    shared: bool = True
    decimals: int = 3
    std_decimals: int | None = None
    summary_decimals: int | None = None
    smaller_is_better: bool | None = None
    split_by_task: bool = False
    machine_dependent: bool = False

    @property
    def smaller(self) -> bool:
        """Whether smaller numbers are better; as the schema says where it is not declared."""
        if self.smaller_is_better is None:
            return self.metric in BY_NAME and BY_NAME[self.metric].better == "low"
        return self.smaller_is_better


def declare(entry: Mapping[str, Any], where: str) -> Declared:
    """A table from a record of TOML or of a plug-in; what is not understood is refused."""
    known = [each.name for each in fields(Declared)]
    name = entry.get("name", "without a name")
    for key in entry:
        if key not in known:
            raise TableError(f"{where}: table {name}: {_unknown('field', key, known)}")
    for key in ("name", "title", "experiment", "metric"):
        if not isinstance(entry.get(key), str) or not entry[key]:
            raise TableError(f"{where}: table {name} lacks its {key}")
    lists = {k: tuple(v) for k, v in entry.items() if isinstance(v, list | tuple)}
    made = Declared(**{**entry, **lists})
    for statistic in made.summaries:
        if statistic not in SUMMARIES:
            raise TableError(f"{where}: table {name}: {_unknown('summary', statistic, SUMMARIES)}")
    return made


def _unknown(what: str, given: str, known: Iterable[str]) -> str:
    names = sorted(set(known))
    close = difflib.get_close_matches(given, names, 1)
    meant = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names)}"
    return f"unknown {what} {given!r}; {meant}"


@cache
def declarations() -> dict[str, dict[str, Any]]:
    """``paper``, ``beyond`` and ``table``: tables by name; ``learners``, ``datasets``: orders."""
    content = tomllib.loads(DECLARATIONS.read_text(encoding="utf-8"))
    found: dict[str, dict[str, Any]] = {}
    for key in ("learners", "datasets"):
        found[key] = {slug: at for at, slug in enumerate(content.pop(key))}
    for kind in ("paper", "beyond", "table"):
        tables = [declare(entry, DECLARATIONS.name) for entry in content.pop(kind)]
        if kind == "paper":
            tables = [replace(each, shared=False) for each in tables]
        found[kind] = {each.name: each for each in tables}
    if content:
        raise TableError(f"{DECLARATIONS.name}: unknown section {sorted(content)[0]!r}")
    return found


def declared(name: str) -> Declared:
    """A table of ``grids.toml``."""
    known = {n: each for kind in ("paper", "beyond", "table") for n, each in _of(kind).items()}
    if name not in known:
        raise TableError(_unknown("table", name, known))
    return known[name]


def _of(kind: str) -> dict[str, Declared]:
    return declarations()[kind]


def paper_tables() -> tuple[str, ...]:
    """Names of the tables that the paper prints, in its order."""
    return tuple(_of("paper"))


def learner_order(slugs: Iterable[str]) -> list[str]:
    """Learners in the order of their columns; those that the suite does not name come last."""
    place = declarations()["learners"]
    return sorted(set(slugs), key=lambda slug: (place.get(slug, len(place)), slug))


def dataset_order(slugs: Iterable[str]) -> list[str]:
    """Datasets in the order of their rows: the paper's, those of the suite, others by name."""
    names = (*printed().datasets.index, *declarations()["datasets"])
    place = {slug: at for at, slug in enumerate(names)}
    return sorted(set(slugs), key=lambda slug: (place.get(slug, len(place)), slug))


# From runs to cells


def mean_of(values: Sequence[float]) -> float:
    """The correctly rounded mean, whatever the order of the values (so that ties are ties)."""
    return math.fsum(values) / len(values)


def population_std(values: Sequence[float]) -> float:
    centre = mean_of(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / len(values))


def sample_std(values: Sequence[float]) -> float:
    """NaN for a single value."""
    if len(values) < 2:
        return math.nan
    return population_std(values) * math.sqrt(len(values) / (len(values) - 1))


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
        raise TableError(_unknown("metric", metric, [c for c in rows if c in BY_NAME]))
    values, good = rows[metric].to_numpy(float), rows["status"].to_numpy() == "ok"
    good &= np.isfinite(values)
    found = {}
    for place, at in rows.groupby(["dataset", "method"], sort=False).indices.items():
        numbers = values[at[good[at]]].tolist()
        if numbers:
            mean, std = mean_of(numbers), population_std(numbers)
            found[place] = (mean, std, len(numbers), len(at), "")
        else:
            found[place] = (math.nan, math.nan, 0, len(at), _reason(rows.iloc[at]))
    columns = ["mean", "std", "n", "expected", "missing"]
    index = pd.MultiIndex.from_tuples(list(found), names=["dataset", "method"])
    return pd.DataFrame(list(found.values()), index=index if found else None, columns=columns)


def _reason(planned: pd.DataFrame) -> str:
    """What to show when no run gave a number; empty while one still may.

    What refuses a dataset or exceeds its limits will do so in the open trials as well; after a
    crash or an error the others are waited for.
    """
    made = planned[planned["status"] != ""]
    if len(made) < len(planned) and not made["status"].isin(REPEATS_ITSELF).all():
        return ""
    columns = zip(made["status"], made["reason"], made["limit_value"], strict=True)
    texts = Counter(reason_text(*each) for each in columns)
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
    if name in _of("table"):
        return own_grid(runs, table, protocol)
    if name in _of("paper") and protocol == "paper":
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
    experiments = {each.experiment for kind in ("paper", "beyond") for each in _of(kind).values()}
    known = {
        "method": ((*table.methods, *table.beside), {*frame["method"], *runs.learners}),
        "experiment": ((table.experiment,), {*frame["experiment"], *experiments}),
        "protocol": (table.protocols, {*frame["protocol"], "paper", "clean"}),
        "metric": (
            (table.metric,),
            [name for name, dtype in frame.dtypes.items() if dtype == float],
        ),
    }
    for what, (given, names) in known.items():
        for name in given:
            if name not in names:
                raise TableError(f"table {table.name}: {_unknown(what, name, names)}")


def own_grid(
    runs: Runs, table: Declared, protocol: str, datasets: Iterable[str] | None = None
) -> Grid:
    """A table without a printed counterpart: rows and columns are what was planned.

    Parameters
    ----------
    datasets : rows; all that the table's methods were planned on if not given.
    """
    check(table, runs)
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
                    columns, _summary(table, name, used, methods, beside), strict=True
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


# Ranks and summary lines

Cell = Mapping[str, Any]
EMPTY: Cell = {"mean": math.nan, "std": math.nan, "n": 0, "expected": 0, "missing": ""}
SUMMARY_COLUMNS = ("task", "statistic", "method", "value", "spread", "n", "rank")


def has(cell: Cell) -> bool:
    return not math.isnan(cell["mean"])


def _standing(cell: Cell, smaller: bool) -> tuple[float, float]:
    """Sort key, best first. The paper ranked unrounded means: where two only print alike, its
    rank decides."""
    return (cell["mean"] if smaller else -cell["mean"], cell.get("rank", 0))


def bracket_ranks(row: Sequence[Cell], smaller: bool = False) -> list[int | None]:
    """1 for the best; equal cells are ranked in column order."""
    order = sorted((_standing(cell, smaller), at) for at, cell in enumerate(row) if has(cell))
    rank = {at: place for place, (_, at) in enumerate(order, start=1)}
    return [rank.get(at) for at in range(len(row))]


def shared_ranks(row: Sequence[Cell], smaller: bool = False) -> list[int | None]:
    """1 for the best; equal cells share the better rank (1, 1, 3)."""
    standings = [_standing(cell, smaller) if has(cell) else None for cell in row]
    known = [each for each in standings if each is not None]
    return [None if s is None else 1 + sum(other < s for other in known) for s in standings]


def relative_differences(row: Sequence[Cell], smaller: bool = False) -> list[float | None]:
    """How far each cell is behind the best, relative to itself, as printed."""
    rounded = [round(cell["mean"], MRD_DECIMALS) if has(cell) else None for cell in row]
    known = [value for value in rounded if value is not None]
    best = (min if smaller else max)(known, default=0.0)
    return [
        None if x is None else 0.0 if x == best else abs(best - x) / x if x else math.inf
        for x in rounded
    ]


def over_datasets(values: Iterable[float | None]) -> dict[str, Any]:
    """Mean, sample deviation and number of the known values."""
    known = [value for value in values if value is not None and not math.isnan(value)]
    if not known:
        return {"value": math.nan, "spread": math.nan, "n": 0}
    if math.inf in known:
        return {"value": math.inf, "spread": math.nan, "n": len(known)}
    return {"value": mean_of(known), "spread": sample_std(known), "n": len(known)}


def _summary(
    table: Declared,
    name: str,
    block: Sequence[Sequence[Cell]],
    methods: Sequence[str],
    beside: Sequence[str],
) -> list[dict[str, Any]]:
    """One summary line: a statistic with its rank per column. Columns beside have a Mean alone."""
    ranked = [row[: len(methods)] for row in block]
    smaller = table.smaller
    if name == "Mean":
        columns = list(zip(*block, strict=True)) or [()] * (len(methods) + len(beside))
        omitted = [method in table.mean_omits for method in (*methods, *beside)]
        line = [
            over_datasets(() if omit else [cell["mean"] for cell in column])
            for column, omit in zip(columns, omitted, strict=True)
        ]
        if table.mean_spread == "trials":
            for statistic, column in zip(line, columns, strict=True):
                stds = [cell["std"] for cell in column if not math.isnan(cell["std"])]
                statistic["spread"] = mean_of(stds) if stds and statistic["n"] else math.nan
    else:
        per_row = {"MRR": shared_ranks, "Wins": shared_ranks, "MRD": relative_differences}[name]
        values = [per_row(row, smaller) for row in ranked]
        columns = list(zip(*values, strict=True)) or [()] * len(methods)
        if name == "Wins":
            line = [wins(column) for column in columns]
        elif name == "MRR":
            line = [over_datasets(None if r is None else 1 / r for r in c) for c in columns]
        else:
            line = [over_datasets(column) for column in columns]
        line += [over_datasets(()) for _ in beside]
    direction = {"Mean": smaller, "MRD": True}.get(name, False)
    standing = [{"mean": statistic["value"]} for statistic in line[: len(methods)]]
    ranks = bracket_ranks(standing, direction) + [None] * len(beside)
    return [{**statistic, "rank": rank} for statistic, rank in zip(line, ranks, strict=True)]


def wins(ranks: Sequence[float | None]) -> dict[str, Any]:
    """Datasets on which no other learner is better, and those it has a result on."""
    known = [rank for rank in ranks if rank is not None]
    won = float(sum(rank == 1 for rank in known)) if known else math.nan
    return {"value": won, "spread": math.nan, "n": len(known)}
