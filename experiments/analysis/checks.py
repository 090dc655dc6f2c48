"""What the paper's sentences mean: one function per kind of sentence of ``claims.toml``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from experiments.analysis import pairwise, stats
from experiments.analysis.claims import Evidence, Finding, Outcome, UndecidedError
from experiments.analysis.pairwise import SCOPES
from experiments.analysis.printed import TASKS
from experiments.analysis.ranks import mean_of

GRADTREE, CART, TUNED = "gradtree", "cart", "test-f1-tuned"
NOISE_FREE = "gradtree-gumbel-noise-free"
SELECTORS = {
    GRADTREE: "ST Entmax",
    "gradtree-gumbel": "ST Gumbel Softmax",
    "gradtree-annealed": "Temperature Annealing",
}
LIMIT_SECONDS = 3600.0
LARGE_SHARE = 4
"""A quarter of the datasets, those with the most rows x features, count as large."""
FAR_LARGER = 10
Values = Mapping[str, float]


def listed(evidence: Evidence, values: Values, decimals: int) -> str:
    return ", ".join(f"{evidence.names(m)} {value:.{decimals}f}" for m, value in values.items())


def lead(values: Values, method: str = GRADTREE, smaller: bool = False) -> float:
    """How far a method is ahead of the best other; at most zero where it does not lead alone."""
    if method not in values:
        return -math.inf
    others = [value for key, value in values.items() if key != method]
    return min(others) - values[method] if smaller else values[method] - max(others)


def without(values: Values, method: str) -> dict[str, float]:
    return {key: value for key, value in values.items() if key != method}


def _line(
    evidence: Evidence, table: str, task: str, statistic: str
) -> tuple[dict[str, float], str]:
    values = evidence.summary(table, task, statistic)
    if statistic == "Wins":
        return values, f"wins: {listed(evidence, values, 0)}"
    return values, f"{statistic}: {listed(evidence, values, 3)}"


def leads(
    evidence: Evidence, table: str, task: str, statistic: str, smaller: bool = False
) -> Finding:
    """GradTree is the best by a summary line."""
    values, numbers = _line(evidence, table, task, statistic)
    ahead = lead(values, smaller=smaller)
    return Finding(ahead > 0, numbers, ahead)


def second(
    evidence: Evidence, table: str, task: str, statistic: str, first: str, then: str
) -> Finding:
    """One method is the best by a summary line, another the best of the rest."""
    values, numbers = _line(evidence, table, task, statistic)
    best, runner_up = lead(values, first), lead(without(values, first), then)
    effect = best if first == GRADTREE else runner_up
    return Finding(best > 0 and runner_up > 0, numbers, effect)


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
        one, two = mean_of(both["mine"]), mean_of(both["other"])
        ahead = min(ahead, one - two)
        parts.append(f"{one:.3f} / {evidence.names(method)} {two:.3f} ({len(both)} datasets)")
    return Finding(ahead > 0, "mean F1 of GradTree / other: " + ", ".join(parts), ahead)


def significant(evidence: Evidence, others: Sequence[str]) -> Finding:
    wide = pd.concat([evidence.matrix(TUNED, task) for task in TASKS])
    gaps = [(wide[GRADTREE] - wide[method]).dropna() for method in others]
    p_values = stats.holm([stats.wilcoxon(gap) for gap in gaps])
    lines = list(zip(others, gaps, p_values, strict=True))
    sure = sum(p < stats.LEVEL and gap.mean() > 0 for _, gap, p in lines)
    told = [
        f"{evidence.names(m)} {gap.mean():+.3f} (p {'< 0.0001' if p < 1e-4 else f'= {p:.4f}'})"
        for m, gap, p in lines
    ]
    return Finding(sure == len(others), f"GradTree minus {', '.join(told)}", sure)


def on_datasets(
    evidence: Evidence, datasets: Sequence[str], methods: Sequence[str], at_least: float = 0.0
) -> Finding:
    """GradTree is ahead of the other methods on each of these datasets, by some F1."""
    frame = evidence.grid(TUNED).frame.set_index(["dataset", "method"])
    parts, ahead = [], math.inf
    for slug in datasets:
        own = frame.loc[[(slug, method) for method in methods]]
        if own["mean"].isna().any():
            names = " and ".join(map(evidence.names, methods))
            raise UndecidedError(f"{names} have not all run on {evidence.names(slug)}")
        evidence.trials += [int(n) for n in own["n"]]
        values = dict(zip(methods, own["mean"], strict=True))
        ahead = min(ahead, lead(values))
        where = f"{evidence.names(slug)}: " if len(datasets) > 1 else ""
        parts.append(where + listed(evidence, values, 3))
    return Finding(ahead > 0 and ahead >= at_least, "; ".join(parts), ahead)


def first_trial(evidence: Evidence, dataset: str) -> Finding:
    if evidence.runs is None:
        raise UndecidedError("the paper prints no F1 of single trials")
    evidence.used.add(TUNED)
    rows = evidence.runs.of(evidence.protocol, "tuned")
    rows = rows[(rows["dataset"] == dataset) & (rows["status"] == "ok")]
    rows = rows[rows["method"].isin([GRADTREE, CART])]
    evidence.trials += [int(n) for n in rows.groupby("method").size()]
    own = rows[rows["trial"] == 0].set_index("method")["test_f1"]
    if GRADTREE not in own or CART not in own:
        raise UndecidedError("GradTree and CART have not both run on the first trial")
    ahead = float(own[GRADTREE] - own[CART])
    return Finding(ahead > 0, listed(evidence, own[[GRADTREE, CART]].to_dict(), 3), ahead)


def falls_with_features(evidence: Evidence, task: str) -> Finding:
    wide = evidence.matrix(TUNED, task, (GRADTREE, CART))
    gaps = (wide[GRADTREE] - wide[CART]).dropna()
    features = evidence.paper.datasets["n_features"].reindex(gaps.index)
    rho = float(spearmanr(gaps, features).statistic)
    few = features <= features.median()
    told = f"correlation {rho:+.2f}; GradTree minus CART {gaps[few].mean():+.3f} on the "
    told += f"{few.sum()} with fewest features, {gaps[~few].mean():+.3f} on the others"
    return Finding(rho < 0 and gaps[few].mean() > gaps[~few].mean(), told, -rho)


def entmax(evidence: Evidence, setting: str, task: str) -> Finding:
    """ST entmax is ahead of both other selectors, and of ST Gumbel softmax without noise too."""
    wide = evidence.matrix(f"ablation-{setting}", task, tuple(SELECTORS))
    scores = {method: mean_of(wide[method].dropna()) for method in SELECTORS}
    told = "mean F1: " + ", ".join(f"{SELECTORS[m]} {v:.3f}" for m, v in scores.items())
    ahead, found = lead(scores), None
    if NOISE_FREE in wide and evidence.runs is not None:
        place = (evidence.protocol, f"ablation-{setting}")
        gaps = pairwise.differences(evidence.runs, (*place, GRADTREE), (*place, NOISE_FREE))
        found = pairwise.contrast(pairwise.in_scope(gaps, evidence.paper, task))
    if found is None:
        return Finding(ahead > 0, told, ahead)
    told += (
        "; without noise at prediction ST Gumbel softmax has "
        f"{mean_of(wide[NOISE_FREE].dropna()):.3f}, and ST entmax differs from it by "
        f"{pairwise.interval(found)}"
    )
    as_printed: Outcome = "holds as printed only"
    holds = as_printed if ahead > 0 and found["low"] <= 0 else ahead > 0
    effect = min(lead(without(scores, "gradtree-gumbel")), found["difference"])
    return Finding(holds, told, effect)


def size(evidence: Evidence, task: str, below: float = 0.0) -> Finding:
    """GradTree's trees are smaller than CART's or, with ``below``, larger by a smaller factor."""
    sizes = evidence.means("tree-size-tuned", task, (GRADTREE, CART))
    factor = sizes[GRADTREE] / sizes[CART]
    effect = factor - 1 if below else 1 - factor
    holds = effect > 0 and (not below or factor < below)
    return Finding(holds, f"nodes: {listed(evidence, sizes, 1)}", effect)


def _sizes(evidence: Evidence) -> tuple[list[dict[str, float]], str]:
    found = {task: evidence.means("tree-size-tuned", task) for task in TASKS}
    parts = [f"{SCOPES[t]} nodes: {listed(evidence, sizes, 1)}" for t, sizes in found.items()]
    return list(found.values()), "; ".join(parts)


def size_extremes(evidence: Evidence) -> Finding:
    found, told = _sizes(evidence)
    small = [lead(sizes, "genetictree", smaller=True) / sizes["genetictree"] for sizes in found]
    large = [lead(sizes, "dndt") / sizes["dndt"] for sizes in found]
    return Finding(min(small + large) > 0, told, min(small + large))


def dl85_size(evidence: Evidence) -> Finding:
    found, told = _sizes(evidence)
    ahead = min(1 - sizes["dl85"] / sizes[method] for sizes in found for method in (GRADTREE, CART))
    return Finding(ahead > 0, told, ahead)


def gap(evidence: Evidence, task: str, among: Sequence[str]) -> Finding:
    """GradTree has the smallest difference of train and test F1."""
    test, train = evidence.matrix(TUNED, task), evidence.matrix("train-f1-tuned", task)
    both = {str(method): (train[method] - test[method]).dropna() for method in test}
    gaps = {method: mean_of(own) for method, own in both.items() if len(own)}
    ahead = lead({m: gaps[m] for m in gaps if m in among}, smaller=True)
    return Finding(ahead > 0, f"train - test: {listed(evidence, gaps, 3)}", ahead)


def _seconds(evidence: Evidence, *methods: str) -> pd.DataFrame:
    parts = [evidence.matrix("runtime", task, methods) for task in TASKS]
    return pd.concat(parts)[list(methods)]


def runtime_large(evidence: Evidence) -> Finding:
    specs = evidence.paper.datasets
    order = (-specs["n_samples"] * specs["n_features"]).sort_values(kind="stable").index
    large = list(order[: len(order) // LARGE_SHARE])
    wide = _seconds(evidence, GRADTREE, "dl85").loc[large].fillna(LIMIT_SECONDS)
    totals = {str(method): sum(wide[method]) for method in wide}
    names = ", ".join(sorted(specs.loc[large, "name"]))
    share = 1 - totals[GRADTREE] / totals["dl85"]
    told = f"seconds: {listed(evidence, totals, 0)} in total ({names})"
    return Finding(share > 0, told, share)


def dl85_splice(evidence: Evidence) -> Finding:
    if evidence.runs is None:
        frame = evidence.grid(TUNED).frame.set_index(["dataset", "method"])
        cell = frame.loc[("splice", "dl85")].to_dict()
    else:
        cell = evidence.cell("solvers", "splice", "dl85-original", "test_f1")
    stopped = math.isnan(cell["mean"])
    if stopped and cell["missing"] != ">60 min":
        raise UndecidedError(f"DL8.5 on Splice: {cell['missing'] or 'not run'}")
    told = cell["missing"] if stopped else f"finished, F1 {cell['mean']:.3f}"
    return Finding(stopped, f"Splice: {told}")


def dl85_long(evidence: Evidence, seconds: Values) -> Finding:
    if evidence.runs is None:
        found = _seconds(evidence, "dl85")["dl85"].loc[list(seconds)].to_dict()
    else:
        place = ("solvers", "dl85-original", "wall_seconds")
        found = {s: evidence.cell(place[0], s, *place[1:])["mean"] for s in seconds}
    if any(map(math.isnan, found.values())):
        raise UndecidedError("pydl8.5 has not finished these datasets")
    told = ", ".join(f"{evidence.names(slug)} {value:.0f} s" for slug, value in found.items())
    share = min(value / seconds[slug] for slug, value in found.items())
    return Finding(min(found.values()) > 60, told, share)


def most_below(evidence: Evidence, method: str, seconds: float) -> Finding:
    """A method needs less than some seconds on most datasets."""
    took = _seconds(evidence, method)[method].dropna()
    share = float((took < seconds).mean())
    told = f"{(took < seconds).sum()} of {len(took)} datasets, longest {took.max():.1f} s"
    return Finding(share > 0.5, told, share)


def runtime_dndt(evidence: Evidence, factor: float) -> Finding:
    both = _seconds(evidence, GRADTREE, "dndt").dropna()
    means = {str(method): mean_of(both[method]) for method in both}
    told = f"seconds: {listed(evidence, means, 2)} ({len(both)} datasets)"
    return Finding(1 / factor <= means["dndt"] / means[GRADTREE] <= factor, told)


def runtime_cart(evidence: Evidence) -> Finding:
    frames = [evidence.table("runtime", task).frame for task in TASKS]
    own = frames[-1][frames[-1]["method"] == CART]
    slower = list(evidence.paper.datasets.loc[own.loc[own["rank"] != 1, "dataset"], "name"])
    fastest = len(own) - len(slower)
    told = f"fastest on {fastest} of {len(own)}"
    told += f", not on {', '.join(slower)}" if slower else ""
    return Finding(not slower, told, fastest / len(own))


def runtime_mean(evidence: Evidence, seconds: float) -> Finding:
    took = _seconds(evidence, GRADTREE)[GRADTREE].dropna()
    told = f"mean {mean_of(took):.1f} s, longest {took.max():.1f} s"
    return Finding(mean_of(took) <= seconds, told)


def runtime_features(evidence: Evidence) -> Finding:
    if evidence.runs is None:
        raise UndecidedError("the paper prints no epochs")
    rows = evidence.runs.of(evidence.protocol, "runtime")
    rows = rows[(rows["method"] == GRADTREE) & (rows["status"] == "ok") & (rows["epochs"] > 0)]
    if rows["dataset"].nunique() < len(evidence.paper.datasets):
        raise UndecidedError("GradTree has not been timed on every dataset")
    specs = evidence.paper.datasets.loc[list(rows["dataset"])]
    depth = np.array([json.loads(params)["depth"] for params in rows["params"]])
    steps = rows["epochs"].to_numpy() * specs["n_samples"].to_numpy() * depth
    each = np.log(rows["wall_seconds"].to_numpy() / steps)
    power = float(np.polyfit(np.log(specs["n_features"].to_numpy()), each, 1)[0])
    evidence.trials += [int(n) for n in rows.groupby("dataset").size()]
    return Finding(power <= 1, f"power {power:.2f}")


def penalty(evidence: Evidence, measure: str, decimals: int) -> Finding:
    """GeneticTree without its penalty: more F1 but less than GradTree, or far larger trees."""
    f1 = measure == "f1"
    parts, effects = [], []
    for task in TASKS:
        table = TUNED if f1 else "tree-size-tuned"
        mine = evidence.means(table, task, (GRADTREE, "genetictree"))[GRADTREE]
        with_it, without_it = evidence.penalty(task, measure)
        effects.append(min(without_it - with_it, mine - without_it) if f1 else without_it / mine)
        numbers = (f"{value:.{decimals}f}" for value in (with_it, without_it, mine))
        parts.append("{}: with {}, without {}, GradTree {}".format(SCOPES[task], *numbers))
    return Finding(min(effects) > (0 if f1 else FAR_LARGER), "; ".join(parts), min(effects))


def penalty_wins(evidence: Evidence) -> Finding:
    if evidence.runs is None:
        raise UndecidedError("the paper prints no cells without the penalty")
    parts, same = [], True
    for task in TASKS:
        wide = evidence.matrix(TUNED, task)
        place = ("no-penalty", "genetictree-no-penalty", "test_f1")
        own = [evidence.cell(place[0], slug, *place[1:])["mean"] for slug in wide.index]
        ranks = [
            each.rank(axis=1, ascending=False, method="min")
            for each in (wide, wide.assign(genetictree=own))
        ]
        for name, decimals in (("wins", 0), ("MRR", 3)):
            lines = [(r == 1).sum() if name == "wins" else (1 / r).mean() for r in ranks]
            same &= lines[0].idxmax() == lines[1].idxmax()
            before, after = (listed(evidence, line.to_dict(), decimals) for line in lines)
            parts.append(f"{SCOPES[task]} {name}: with {before}; without {after}")
    return Finding(bool(same), "; ".join(parts))


def not_run(evidence: Evidence, missing: str) -> Finding:
    raise UndecidedError(missing)
