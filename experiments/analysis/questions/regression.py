"""Trees of numbers: GradTree against CART and boosting on regressions, each tuned in its trial.

Everything is over the datasets on which every learner of a table finished all its trials. Learners
are compared by the share of the other's error that they save: errors have the units of targets.
In means R² below zero counts as zero, what the mean of the target has: one dataset on which a tree
fails would outweigh all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from experiments.analysis import pairwise, stats
from experiments.analysis.answer import Answer, figure, tables
from experiments.analysis.pairwise import contrast, contrasts, interval, listed, signs, standing
from experiments.analysis.printed import Printed
from experiments.analysis.runs import Runs
from experiments.analysis.stats import FEWEST_DATASETS, mean_of

PROTOCOL, NUMBERS, QUANTILES = "clean", "regression", "regression-quantiles"
PRUNED, GRADTREE, CEILING = "cart-pruned-regression", "gradtree-regression", "boosting-regression"
TREES = ("cart-regression", PRUNED, GRADTREE)
QUANTILE_TREES = ("cart-quantile", "gradtree-quantile")
LEVELS = {"0.1": "test_pinball_10", "0.5": "test_pinball_50", "0.9": "test_pinball_90"}


def scores(runs: Runs, experiment: str, methods: tuple[str, ...], metric: str) -> pd.DataFrame:
    """Means over trials, datasets (by slug) x learners, of the datasets that all finished."""
    found = pairwise.scores(runs, PROTOCOL, experiment, metric)
    return found.reindex(columns=list(methods)).dropna()


def best_trees(r2: pd.DataFrame) -> pd.Series:
    """The tree with the highest R² of each dataset; empty where two are that close."""
    trees = r2[list(TREES)]
    apart = trees.apply(lambda row: row.nlargest(2).diff().abs().iloc[-1], axis=1)
    return trees.idxmax(axis=1).where(apart > stats.TIE, "")


def lines(runs: Runs) -> pd.DataFrame:
    """One learner: R², wins among trees, R² and error against pruned CART, nodes and seconds."""
    every = (*TREES, CEILING)
    r2, mae, cpu = (
        scores(runs, NUMBERS, every, metric) for metric in ("test_r2", "test_mae", "cpu_seconds")
    )
    if len(r2) < FEWEST_DATASETS:
        return pd.DataFrame()
    nodes, level = scores(runs, NUMBERS, TREES, "tree_size").loc[r2.index], r2.clip(lower=0)
    ranks, won = r2.rank(axis=1, ascending=False).mean(), best_trees(r2)
    found = []
    for method in every:
        line: dict[str, Any] = {"method": method, "n": len(r2), "r2": mean_of(level[method])}
        line |= {"rank": ranks[method], "cpu": mean_of(cpu[method])}
        if method != CEILING:
            line |= {"won": int((won == method).sum()), "nodes": mean_of(nodes[method])}
        if method != PRUNED:
            saved = 1 - mae[method] / mae[PRUNED]
            line |= {"saved": mean_of(saved), "mae signs": signs(saved)["signs"]}
        found.append((line, {} if method == PRUNED else contrast(level[method] - level[PRUNED])))
    return contrasts(found)


def quantiles(runs: Runs) -> pd.DataFrame:
    """One quantile: the share of CART's pinball loss that GradTree saves."""
    losses = {at: scores(runs, QUANTILES, QUANTILE_TREES, metric) for at, metric in LEVELS.items()}
    cart, gradtree = QUANTILE_TREES
    saved = {level: 1 - own[gradtree] / own[cart] for level, own in losses.items()}
    return contrasts(({"level": level}, contrast(own)) for level, own in saved.items())


def answer(runs: Runs, printed: Printed) -> Answer | None:
    found, levels = lines(runs), quantiles(runs)
    if found.empty:
        return None
    made = tables({NUMBERS: found, QUANTILES: levels}, runs.name)
    r2 = scores(runs, NUMBERS, (*TREES, CEILING), "test_r2")
    by_method = found.set_index("method")
    told = [*_who_wins(runs, by_method, r2), *_beyond_trees(runs, by_method, r2)]
    told += _quantile_words(runs, levels) if len(levels) else []
    drawn = figure(NUMBERS, lambda: _draw(runs, r2))
    return Answer(NUMBERS, "Which tree for numbers?", told, made, [drawn])


def _who_wins(runs: Runs, lines: pd.DataFrame, r2: pd.DataFrame) -> Iterator[str]:
    won = best_trees(r2)
    order = sorted(TREES, key=lambda method: -lines.at[method, "won"])
    told = listed([f"{runs.name(method)} on {lines.at[method, 'won']:.0f}" for method in order])
    level = int((won == "").sum())
    rest = f", and on {level} two trees are level" if level else ""
    planned = runs.of(PROTOCOL, NUMBERS)["dataset"].nunique()
    done = f"{len(r2)} of {planned}" if len(r2) < planned else planned
    yield (
        f"Highest R² of three single trees, each tuned inside its trial (protocol clean, {done} "
        f"datasets{' so far' if len(r2) < planned else ''}): {told}{rest}."
    )
    for method in (TREES[0], GRADTREE):
        line = lines.loc[method]
        share = f"{100 * abs(line['saved']):.1f} % {'less' if line['saved'] > 0 else 'more'}"
        yield (
            f"In R² {runs.name(method)} is {standing(line)} {runs.name(PRUNED)}: {interval(line)} "
            f"(wins-ties-losses {line['signs']}, p = {line['holm']:.2g} after Holm’s correction); "
            f"its mean absolute error is {share} on average (wins-ties-losses {line['mae signs']})."
        )
    for method in order:
        if where := [runs.name(slug) for slug in won.index[won == method]]:
            yield f"{runs.name(method)} has the highest R² of the trees on {listed(where)}."


def _beyond_trees(runs: Runs, lines: pd.DataFrame, r2: pd.DataFrame) -> Iterator[str]:
    """What one tree costs in accuracy, nodes and seconds."""
    trees = list(TREES)
    above = int((r2[CEILING] > r2[trees].max(axis=1)).sum())
    yield (
        f"One tree costs accuracy: {runs.name(CEILING)} has a higher R² than every tree on {above} "
        f"of {len(r2)} datasets (mean R², of each dataset at least 0: "
        f"{runs.told(lines['r2'].items(), '.3f')})."
    )
    for slug, row in r2.loc[(r2[trees] < 0).any(axis=1), trees].iterrows():
        told = f"a tree does worse than the mean of the target: R² {runs.told(row.items(), '.2f')}."
        yield f"On {runs.name(str(slug))} {told}"
    nodes = runs.told(lines["nodes"].dropna().items(), ".0f")
    cpu = runs.told(lines["cpu"].items(), ".1f")
    yield f"Mean nodes: {nodes}. CPU seconds of a fit with its tuning: {cpu}."


def _quantile_words(runs: Runs, levels: pd.DataFrame) -> Iterator[str]:
    cart, gradtree = map(runs.name, QUANTILE_TREES)
    told = [
        f"at {line['level']}: {interval(line)} ({line['signs']}, p = {line['holm']:.2g})"
        for line in levels.to_dict("records")
    ]
    yield (
        f"Quantile trees: share of the pinball loss of {cart} that {gradtree} saves, mean over "
        f"{levels['n'].max()} datasets (wins-ties-losses): {'; '.join(told)}."
    )
    sides = (scores(runs, QUANTILES, QUANTILE_TREES, m) for m in ("tree_size", "cpu_seconds"))
    nodes, cpu = (side.mean() for side in sides)
    words = "{} {:.0f} nodes and {:.1f} CPU seconds".format
    costs = listed([words(runs.name(m), nodes[m], cpu[m]) for m in QUANTILE_TREES])
    yield f"For all three quantiles together, {costs} on average."


def _draw(runs: Runs, r2: pd.DataFrame) -> Any:
    from experiments.analysis import drawing

    ordered = r2.sort_values(PRUNED)
    figure = drawing.canvas(5.6, 0.9 + 0.22 * len(ordered))
    axes = figure.subplots()
    places = range(len(ordered))
    for method in (*TREES, CEILING):
        how = {"label": runs.name(method), "markersize": 5}
        drawing.points(axes, ordered[method], places, method, method != CEILING, **how)
    drawing.rows(axes, [runs.name(slug) for slug in ordered.index], "Mean test R²")
    figure.legend(loc="outside lower center", ncols=2)
    return figure


QUESTIONS = {35: answer}
