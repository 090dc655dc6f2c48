"""What the paper's sentences mean: one function per kind of sentence of ``claims.toml``.

A check computes its numbers from the tables of one ``Evidence`` (our runs, or the paper's printed
cells) and says whether its sentence is true of them and how large the effect is. A check that lacks
cells which the paper has raises ``UndecidedError``: nothing follows from an incomplete table.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from experiments.analysis import pairwise, stats
from experiments.analysis.grids import cells, grid, printed_grid, wide
from experiments.analysis.printed import SCOPES, TASKS, Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import contributions, mean_of

GRADTREE, CART, TUNED, SIZES = "gradtree", "cart", "test-f1-tuned", "tree-size-tuned"
NOISE_FREE = "gradtree-gumbel-noise-free"
SELECTORS = {
    GRADTREE: "ST Entmax",
    "gradtree-gumbel": "ST Gumbel Softmax",
    "gradtree-annealed": "Temperature Annealing",
}
SETTLED = (">60 min", "memory", "n>12")
"""Texts of cells that have no number and, by the paper's rules, need none."""
LIMIT_SECONDS = 3600.0
LARGE_SHARE = 4
"""A quarter of the datasets, those with the most rows x features, count as large."""
FAR_LARGER = 10
Values = Mapping[str, float]


class UndecidedError(Exception):
    """The runs do not suffice; the message says what is missing."""


class Finding(NamedTuple):
    """Is a sentence true, by which numbers, and how large is the effect in its direction?"""

    holds: bool | str
    numbers: str
    effect: float = math.nan


@dataclass
class Evidence:
    """The tables that checks look at; ``runs`` is ``None`` for the paper's own numbers.

    ``trials`` are those behind the cells that a check looked at, ``used`` its tables.
    """

    paper: Printed
    runs: Runs | None = None
    protocol: str = "paper"
    names: Callable[[str], str] = str
    trials: list[int] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def table(self, name: str, column: str = "mean") -> pd.DataFrame:
        """A column of the cells of a table, datasets x methods."""
        self.used.add(name)
        ours = None if self.runs is None else grid(self.runs, name, self.protocol)
        return wide(ours or printed_grid(name, self.paper), column)

    def matrix(self, name: str, task: str, methods: Sequence[str] = ()) -> pd.DataFrame:
        """Means, datasets x methods, complete for these methods (all unless given)."""
        printed = printed_grid(name, self.paper)
        rows = self.paper.datasets.index[self.paper.datasets["task"] == task]
        asked = [method for method in methods or printed.methods if method in printed.methods]
        mean, why, n = (self.table(name, each).loc[rows] for each in ("mean", "missing", "n"))
        own, told, paper = mean[asked], why[asked], wide(printed).loc[rows, asked]
        lacks = own.isna() & ~(told.ne("") & paper.isna() | told.isin(SETTLED))
        whole = (~lacks.any(axis=1)).sum()
        if whole < len(rows):
            told = f"{whole} of {len(rows)} {task} datasets have every cell the paper has"
            raise UndecidedError(f"{printed.title}: {told}")
        self.trials += [int(trials) for trials in n[asked].to_numpy()[own.notna()] if trials]
        return mean

    def summary(self, name: str, task: str, statistic: str) -> dict[str, float]:
        """A summary line as method -> value."""
        printed = printed_grid(name, self.paper)
        own = self.matrix(name, task)[list(printed.methods)]
        ties = self.table(name, "rank").loc[own.index] if self.runs is None else None
        each = contributions(own, statistic, printed.smaller_is_better, ties)
        return each.sum().to_dict() if statistic == "Wins" else averages(each)

    def means(self, name: str, task: str, methods: Sequence[str] = ()) -> dict[str, float]:
        """Mean over datasets as method -> value, of all methods unless given."""
        found = self.matrix(name, task, methods)
        return averages(found[list(methods)] if methods else found)

    def seconds(self, *methods: str) -> pd.DataFrame:
        """Means of the table of runtimes, datasets x methods."""
        return pd.concat([self.matrix("runtime", t, methods) for t in TASKS])[list(methods)]

    def rows(self, experiment: str, why_not: str) -> pd.DataFrame:
        """The runs of GradTree and CART that ended well, of which the paper prints nothing."""
        if self.runs is None:
            raise UndecidedError(f"the paper prints no {why_not}")
        rows = self.runs.of(self.protocol, experiment)
        return rows[(rows["status"] == "ok") & rows["method"].isin([GRADTREE, CART])]

    def cell(self, experiment: str, dataset: str, method: str, metric: str) -> dict[str, Any]:
        """One cell of an experiment that the paper has no table of."""
        assert self.runs is not None
        found = cells(self.runs, self.protocol, experiment, metric)
        if (dataset, method) not in found.index:
            raise UndecidedError(f"{self.names(method)} on {self.names(dataset)}: not run")
        own = found.loc[(dataset, method)].to_dict()
        self.trials += [] if math.isnan(own["mean"]) else [own["n"]]
        return own

    def solved(self, dataset: str, metric: str, table: str) -> dict[str, Any]:
        """What pydl8.5 gives on a dataset, or what the paper prints of DL8.5."""
        if self.runs is not None:
            return self.cell("solvers", dataset, "dl85-original", metric)
        return {name: self.table(table, name).at[dataset, "dl85"] for name in ("mean", "missing")}

    def listed(self, values: Values, decimals: int) -> str:
        return ", ".join(f"{self.names(m)} {value:.{decimals}f}" for m, value in values.items())


def averages(columns: pd.DataFrame) -> dict[str, float]:
    """Method -> the mean of what it has, if anything."""
    known = {str(method): columns[method].dropna() for method in columns}
    return {method: mean_of(own) for method, own in known.items() if len(own)}


def lead(values: Values, method: str = GRADTREE, smaller: bool = False) -> float:
    """How far a method is ahead of the best other; at most zero where it does not lead alone."""
    if method not in values:
        return -math.inf
    others = [value for key, value in values.items() if key != method]
    return min(others) - values[method] if smaller else values[method] - max(others)


def leads(
    evidence: Evidence, table: str, task: str, statistic: str, order: Sequence[str] = (GRADTREE,)
) -> Finding:
    """The best methods by a summary line, in order; the effect is GradTree's lead over the rest."""
    values = rest = evidence.summary(table, task, statistic)
    ahead = {}
    for method in order:
        ahead[method] = lead(rest, method, smaller=statistic == "MRD")
        rest = {key: value for key, value in rest.items() if key != method}
    told = evidence.listed(values, 0 if statistic == "Wins" else 3)
    word = "wins" if statistic == "Wins" else statistic
    return Finding(min(ahead.values()) > 0, f"{word}: {told}", ahead[GRADTREE])


def wins(evidence: Evidence, task: str, at_least: int) -> Finding:
    won = evidence.summary(TUNED, task, "Wins")[GRADTREE]
    return Finding(won >= at_least, f"{won:.0f} datasets", won)


def higher_mean(evidence: Evidence, task: str, mine: str, others: Sequence[str]) -> Finding:
    """Is GradTree's mean F1 above that of each other method, over the datasets both have?"""
    asked = (GRADTREE,) if mine != TUNED else ()
    own = evidence.matrix(mine, task, asked)[GRADTREE]
    theirs = evidence.matrix(TUNED, task, others if asked else ())
    parts, ahead = [], math.inf
    for method in others:
        both = pd.DataFrame({"mine": own, "other": theirs[method]}).dropna()
        if both.empty:
            raise UndecidedError(f"{evidence.names(method)} has no result")
        one, two = averages(both).values()
        ahead = min(ahead, one - two)
        parts.append(f"{one:.3f} / {evidence.names(method)} {two:.3f} ({len(both)} datasets)")
    return Finding(ahead > 0, "mean F1 of GradTree / other: " + ", ".join(parts), ahead)


def significant(evidence: Evidence, others: Sequence[str]) -> Finding:
    means = pd.concat([evidence.matrix(TUNED, task) for task in TASKS])
    gaps = {method: (means[GRADTREE] - means[method]).dropna() for method in others}
    p_values = stats.holm([stats.wilcoxon(gap) for gap in gaps.values()])
    told, sure = [], 0
    for (method, gap), p in zip(gaps.items(), p_values, strict=True):
        sure += p < stats.LEVEL and gap.mean() > 0
        shown = "< 0.0001" if p < 1e-4 else f"= {p:.4f}"
        told.append(f"{evidence.names(method)} {gap.mean():+.3f} (p {shown})")
    return Finding(sure == len(others), f"GradTree minus {', '.join(told)}", sure)


def on_datasets(
    evidence: Evidence, datasets: Sequence[str], methods: Sequence[str], at_least: float = 0.0
) -> Finding:
    """GradTree is ahead of the other methods on each of these datasets, by some F1."""
    means = evidence.table(TUNED).loc[list(datasets), list(methods)]
    parts, ahead = [], math.inf
    for slug, own in means.iterrows():
        if own.isna().any():
            names = " and ".join(map(evidence.names, methods))
            raise UndecidedError(f"{names} have not all run on {evidence.names(str(slug))}")
        ahead = min(ahead, lead(own.to_dict()))
        where = f"{evidence.names(str(slug))}: " if len(datasets) > 1 else ""
        parts.append(where + evidence.listed(own.to_dict(), 3))
    evidence.trials += evidence.table(TUNED, "n").loc[means.index, means.columns].stack().to_list()
    return Finding(ahead > 0 and ahead >= at_least, "; ".join(parts), ahead)


def first_trial(evidence: Evidence, dataset: str) -> Finding:
    evidence.used.add(TUNED)
    rows = evidence.rows("tuned", "F1 of single trials")
    rows = rows[rows["dataset"] == dataset]
    evidence.trials += rows.groupby("method").size().to_list()
    own = rows[rows["trial"] == 0].set_index("method")["test_f1"]
    if len(own) < 2:
        raise UndecidedError("GradTree and CART have not both run on the first trial")
    ahead = float(own[GRADTREE] - own[CART])
    return Finding(ahead > 0, evidence.listed(own[[GRADTREE, CART]].to_dict(), 3), ahead)


def falls_with_features(evidence: Evidence, task: str) -> Finding:
    means = evidence.matrix(TUNED, task, (GRADTREE, CART))
    gaps = (means[GRADTREE] - means[CART]).dropna()
    features = evidence.paper.datasets["n_features"].reindex(gaps.index)
    rho = float(gaps.rank().corr(features.rank()))
    few = features <= features.median()
    told = f"correlation {rho:+.2f}; GradTree minus CART {gaps[few].mean():+.3f} on the "
    told += f"{few.sum()} with fewest features, {gaps[~few].mean():+.3f} on the others"
    return Finding(rho < 0 and gaps[few].mean() > gaps[~few].mean(), told, -rho)


def entmax(evidence: Evidence, setting: str, task: str) -> Finding:
    """ST entmax is ahead of both other selectors, and of ST Gumbel softmax without noise too."""
    means = averages(evidence.matrix(f"ablation-{setting}", task, tuple(SELECTORS)))
    scores = {method: means[method] for method in SELECTORS}
    told = "mean F1: " + ", ".join(f"{SELECTORS[m]} {v:.3f}" for m, v in scores.items())
    ahead, found = lead(scores), None
    if NOISE_FREE in means and evidence.runs is not None:
        place = (evidence.protocol, f"ablation-{setting}")
        gaps = pairwise.differences(evidence.runs, (*place, GRADTREE), (*place, NOISE_FREE))
        found = pairwise.contrast(pairwise.in_scope(gaps, evidence.paper, task))
    if found is None:
        return Finding(ahead > 0, told, ahead)
    told += f"; without noise at prediction ST Gumbel softmax has {means[NOISE_FREE]:.3f}, and"
    told += f" ST entmax differs from it by {pairwise.interval(found)}"
    holds = "holds as printed only" if ahead > 0 and found["low"] <= 0 else ahead > 0
    del scores["gradtree-gumbel"]
    return Finding(holds, told, min(lead(scores), found["difference"]))


def size(evidence: Evidence, task: str, below: float = 0.0) -> Finding:
    """GradTree's trees are smaller than CART's or, with ``below``, larger by a smaller factor."""
    sizes = evidence.means(SIZES, task, (GRADTREE, CART))
    factor = sizes[GRADTREE] / sizes[CART]
    holds = 1 < factor < below if below else factor < 1
    told = f"nodes: {evidence.listed(sizes, 1)}"
    return Finding(holds, told, factor - 1 if below else 1 - factor)


def sizes(evidence: Evidence, of: str) -> Finding:
    """Of both tasks: who has the ``extremes``, or DL8.5 below GradTree and CART."""
    told, ahead = [], list[float]()
    for task in TASKS:
        own = evidence.means(SIZES, task)
        told.append(f"{SCOPES[task]} nodes: {evidence.listed(own, 1)}")
        if of == "extremes":
            smallest = lead(own, "genetictree", smaller=True) / own["genetictree"]
            ahead += [smallest, lead(own, "dndt") / own["dndt"]]
        else:
            ahead += [1 - own["dl85"] / own[method] for method in (GRADTREE, CART)]
    return Finding(min(ahead) > 0, "; ".join(told), min(ahead))


def gap(evidence: Evidence, task: str, among: Sequence[str]) -> Finding:
    """GradTree has the smallest difference of train and test F1."""
    test, train = evidence.matrix(TUNED, task), evidence.matrix("train-f1-tuned", task)
    gaps = averages(train - test)
    ahead = lead({m: gaps[m] for m in gaps if m in among}, smaller=True)
    return Finding(ahead > 0, f"train - test: {evidence.listed(gaps, 3)}", ahead)


def runtime_large(evidence: Evidence) -> Finding:
    specs = evidence.paper.datasets
    order = (-specs["n_samples"] * specs["n_features"]).sort_values(kind="stable").index
    large = list(order[: len(order) // LARGE_SHARE])
    means = evidence.seconds(GRADTREE, "dl85").loc[large]
    for slug in means.index[means["dl85"].isna() & (evidence.runs is not None)]:
        # ours may have finished where the paper's did not
        means.loc[slug, "dl85"] = evidence.cell("runtime", slug, "dl85", "wall_seconds")["mean"]
    totals = {str(method): sum(means[method].fillna(LIMIT_SECONDS)) for method in means}
    names = ", ".join(sorted(specs.loc[large, "name"]))
    share = 1 - totals[GRADTREE] / totals["dl85"]
    return Finding(share > 0, f"seconds: {evidence.listed(totals, 0)} in total ({names})", share)


def dl85_splice(evidence: Evidence) -> Finding:
    cell = evidence.solved("splice", "test_f1", TUNED)
    stopped = math.isnan(cell["mean"])
    if stopped and cell["missing"] != ">60 min":
        raise UndecidedError(f"DL8.5 on Splice: {cell['missing'] or 'not run'}")
    told = cell["missing"] if stopped else f"finished, F1 {cell['mean']:.3f}"
    return Finding(stopped, f"Splice: {told}")


def dl85_long(evidence: Evidence, seconds: Values) -> Finding:
    found = {slug: evidence.solved(slug, "wall_seconds", "runtime")["mean"] for slug in seconds}
    if any(map(math.isnan, found.values())):
        raise UndecidedError("pydl8.5 has not finished these datasets")
    told = ", ".join(f"{evidence.names(slug)} {value:.0f} s" for slug, value in found.items())
    share = min(value / seconds[slug] for slug, value in found.items())
    return Finding(min(found.values()) > 60, told, share)


def most_below(evidence: Evidence, method: str, seconds: float) -> Finding:
    """A method needs less than some seconds on most datasets."""
    took = evidence.seconds(method)[method].dropna()
    share = float((took < seconds).mean())
    told = f"{(took < seconds).sum()} of {len(took)} datasets, longest {took.max():.1f} s"
    return Finding(share > 0.5, told, share)


def runtime_dndt(evidence: Evidence, factor: float) -> Finding:
    means = averages(both := evidence.seconds(GRADTREE, "dndt").dropna())
    told = f"seconds: {evidence.listed(means, 2)} ({len(both)} datasets)"
    return Finding(1 / factor <= means["dndt"] / means[GRADTREE] <= factor, told)


def runtime_cart(evidence: Evidence) -> Finding:
    slugs = pd.concat([evidence.matrix("runtime", task) for task in TASKS]).index
    own = evidence.table("runtime", "rank")[CART].loc[slugs]
    slower, fastest = evidence.paper.datasets.loc[own.index[own != 1], "name"], (own == 1).sum()
    rest = f", not on {', '.join(slower)}" if len(slower) else ""
    return Finding(not rest, f"fastest on {fastest} of {len(own)}{rest}", fastest / len(own))


def runtime_mean(evidence: Evidence, seconds: float) -> Finding:
    took = evidence.seconds(GRADTREE)[GRADTREE].dropna()
    told = f"mean {mean_of(took):.1f} s, longest {took.max():.1f} s"
    return Finding(mean_of(took) <= seconds, told)


def runtime_features(evidence: Evidence) -> Finding:
    rows = evidence.rows("runtime", "epochs")
    rows = rows[(rows["method"] == GRADTREE) & (rows["epochs"] > 0)]
    if rows["dataset"].nunique() < len(evidence.paper.datasets):
        raise UndecidedError("GradTree has not been timed on every dataset")
    specs = evidence.paper.datasets.loc[list(rows["dataset"])]
    depth = np.array([json.loads(params)["depth"] for params in rows["params"]])
    steps = rows["epochs"].to_numpy() * specs["n_samples"].to_numpy() * depth
    each = np.log(rows["wall_seconds"].to_numpy() / steps)
    power = float(np.polyfit(np.log(specs["n_features"].to_numpy()), each, 1)[0])
    evidence.trials += rows.groupby("dataset").size().to_list()
    return Finding(power <= 1, f"power {power:.2f}")


def penalty(evidence: Evidence, measure: str, decimals: int) -> Finding:
    """GeneticTree without its penalty: more F1 but less than GradTree, or far larger trees."""
    f1 = measure == "f1"
    parts, effects = [], []
    for task in TASKS:
        own = evidence.means(TUNED if f1 else SIZES, task, (GRADTREE, "genetictree"))
        mine, with_it = own[GRADTREE], own["genetictree"]
        if evidence.runs is None:
            with_it, without_it = evidence.paper.penalty.loc[(task, measure)].astype(float)
        else:
            without_it = mean_of(_unpenalised(evidence, task, "test_f1" if f1 else measure))
        effects.append(min(without_it - with_it, mine - without_it) if f1 else without_it / mine)
        numbers = (f"{value:.{decimals}f}" for value in (with_it, without_it, mine))
        parts.append("{}: with {}, without {}, GradTree {}".format(SCOPES[task], *numbers))
    return Finding(min(effects) > (0 if f1 else FAR_LARGER), "; ".join(parts), min(effects))


def _unpenalised(evidence: Evidence, task: str, metric: str) -> pd.Series:
    """Means by dataset of GeneticTree without its complexity penalty."""
    method, tasks = "genetictree-no-penalty", evidence.paper.datasets["task"]
    slugs = tasks.index[tasks == task]
    assert evidence.runs is not None
    own = cells(evidence.runs, evidence.protocol, "no-penalty", metric)
    own = own.reindex([(slug, method) for slug in slugs]).dropna(subset="mean")
    if len(own) < len(slugs):
        told = f"{len(own)} of {len(slugs)} {task} datasets have run"
        raise UndecidedError(f"{evidence.names(method)}: {told}")
    evidence.trials += own["n"].astype(int).to_list()
    return own["mean"].droplevel("method")


def penalty_wins(evidence: Evidence) -> Finding:
    if evidence.runs is None:
        raise UndecidedError("the paper prints no cells without the penalty")
    parts, same = [], True
    for task in TASKS:
        means = evidence.matrix(TUNED, task)
        sides = (means, means.assign(genetictree=_unpenalised(evidence, task, "test_f1")))
        ranks = [side.rank(axis=1, ascending=False, method="min") for side in sides]
        for name, decimals in (("wins", 0), ("MRR", 3)):
            lines = [(r == 1).sum() if name == "wins" else (1 / r).mean() for r in ranks]
            same &= lines[0].idxmax() == lines[1].idxmax()
            before, after = (evidence.listed(line.to_dict(), decimals) for line in lines)
            parts.append(f"{SCOPES[task]} {name}: with {before}; without {after}")
    return Finding(bool(same), "; ".join(parts))


def not_run(evidence: Evidence, missing: str) -> Finding:
    raise UndecidedError(missing)
